DROP FUNCTION operations.dated() CASCADE;

-- The log as it was; its search_path stays guarded.
CREATE OR REPLACE FUNCTION operations.log_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    last record;
BEGIN
    SELECT l.number, l.digest INTO last FROM operations.log l ORDER BY l.number DESC LIMIT 1;
    IF NEW.number <> coalesce(last.number, 0) + 1 OR NEW.previous <> coalesce(last.digest, '') THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'log refused: not the next entry';
    END IF;
    IF NEW.account <> session_user THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'log refused: another account wrote it';
    END IF;
    IF NEW.digest <> encode(sha256(convert_to(json_build_array(
        NEW.number, to_char(NEW.recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        NEW.actor, NEW.account, NEW.action, NEW.subject, NEW.details, NEW.previous
    )::text, 'UTF8')), 'hex') THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'log refused: not the digest of this entry';
    END IF;
    RETURN NEW;
END $$;

DROP FUNCTION operations.take_turn(text);
