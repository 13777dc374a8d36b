-- The figures of a structure and period belong to the domain that published them first: no audit attacks two domains together.
CREATE FUNCTION dissemination.one_domain_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM operations.take_turn('figures ' || NEW.period);
    IF EXISTS (
        SELECT 1
        FROM operations.submission s
        JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        JOIN dissemination.release r ON r.period = NEW.period AND r.domain <> NEW.domain
        JOIN operations.submission rs ON rs.release_id = r.release_id
        JOIN operations.terms rt ON rt.domain = rs.domain AND rt.digest = rs.terms_digest
        WHERE s.release_id = NEW.release_id
            AND split_part(t.settings::jsonb ->> 'structure_id', '(', 1)
                IS NOT DISTINCT FROM split_part(rt.settings::jsonb ->> 'structure_id', '(', 1)
            AND EXISTS (
                SELECT 1
                FROM dissemination.eu_cell c
                JOIN dissemination.eu_cell rc ON rc.indicator = c.indicator
                WHERE c.domain = NEW.domain AND c.period = NEW.period AND c.publication_digest = NEW.publication_digest
                    AND rc.domain = r.domain AND rc.period = r.period AND rc.publication_digest = r.publication_digest
            )
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: another domain has published these figures of the period';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_one_domain BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.one_domain_gate();

REVOKE ALL ON FUNCTION dissemination.one_domain_gate() FROM PUBLIC;
