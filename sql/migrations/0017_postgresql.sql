-- The next version was attacked beside every version that is out, which its certificate names by their publications. Releases of a period
-- take turns before anything is asked: nobody waits somewhere later while another version comes out.
CREATE FUNCTION dissemination.beside_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM operations.take_turn('release ' || NEW.domain || ' ' || NEW.period);
    IF (
        SELECT '["' || string_agg(r.publication_digest, '", "' ORDER BY r.version) || '"]'
        FROM dissemination.release r WHERE r.domain = NEW.domain AND r.period = NEW.period
    ) IS DISTINCT FROM (
        SELECT operations.told(a.certificate, 'beside') FROM operations.audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: other versions are out than its audit knew';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_beside BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.beside_gate();

REVOKE ALL ON FUNCTION dissemination.beside_gate() FROM PUBLIC;
