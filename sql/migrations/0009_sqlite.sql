-- What deliveries and releases are called by must not change: it is replaced by nobody, only encrypted anew.
CREATE TRIGGER secret_stays BEFORE DELETE ON secret
BEGIN
    SELECT raise(ABORT, 'secret is append-only');
END;
