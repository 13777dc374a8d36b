CREATE TRIGGER alert_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operations.alert
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();
