-- What goes out under terms with rule_aware was shown to withstand somebody who has the program: the certificate has the options of the
-- terms, leaves no primary too little, and counts each primary.
CREATE FUNCTION dissemination.program_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked text;
    shown text;
BEGIN
    SELECT t.settings, a.certificate INTO asked, shown
        FROM operations.submission s
        JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        LEFT JOIN operations.audit a ON a.release_id = s.release_id AND a.digest = NEW.audit_digest
            AND a.publication_digest = NEW.publication_digest AND a.passed
        WHERE s.release_id = NEW.release_id;
    IF (
        operations.told(asked, 'bases', 'rule_aware') IS NOT DISTINCT FROM 'true'
        OR coalesce(operations.told(asked, 'indicators'), '') LIKE '%"rule_aware": true%'
    ) AND operations.told(shown, 'program', 'verdict') IS DISTINCT FROM 'passed'
        OR operations.told(asked, 'bases', 'rule_aware') IS NOT DISTINCT FROM 'true' AND (
            operations.told(shown, 'program', 'bases', 'removed') IS DISTINCT FROM operations.told(asked, 'bases', 'removed')
            OR operations.told(shown, 'program', 'bases', 'epoch') IS DISTINCT FROM operations.told(asked, 'bases', 'epoch')
            OR operations.told(shown, 'program', 'bases', 'narrow') IS DISTINCT FROM '[]'
            OR CAST(operations.told(shown, 'program', 'bases', 'wide') AS integer)
                + jsonb_array_length(CAST(operations.told(shown, 'program', 'bases', 'without_claim') AS jsonb))
                IS DISTINCT FROM CAST(operations.told(shown, 'counts', 'primaries') AS integer)
                - coalesce(CAST(operations.told(shown, 'counts', 'judged_as_whole_numbers') AS integer), 0)
        ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: not shown to withstand somebody who has the program';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_program BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.program_gate();

REVOKE ALL ON FUNCTION dissemination.program_gate() FROM PUBLIC;
