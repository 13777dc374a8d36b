-- Where a version of the period is out, the next was attacked by somebody who kept it, whatever its terms ask for.
CREATE FUNCTION dissemination.vintage_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM dissemination.release r WHERE r.domain = NEW.domain AND r.period = NEW.period) AND NOT EXISTS (
        SELECT 1 FROM operations.audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest AND 'vintage' = ANY (string_to_array(a.profiles, ','))
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: not audited beside the version that is out';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_vintage BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.vintage_gate();

REVOKE ALL ON FUNCTION dissemination.vintage_gate() FROM PUBLIC;
