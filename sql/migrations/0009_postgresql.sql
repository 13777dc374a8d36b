-- What deliveries and releases are called by must not change: it is replaced by nobody, only encrypted anew.
CREATE TRIGGER secret_stays BEFORE DELETE OR TRUNCATE ON confidential.secret
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();
