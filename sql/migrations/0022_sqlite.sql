-- What goes out under terms with rule_aware was shown to withstand somebody who has the program: the certificate has the options of the
-- terms, leaves no primary too little, and counts each primary.
CREATE TRIGGER release_program BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: not shown to withstand somebody who has the program')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    LEFT JOIN audit a ON a.release_id = s.release_id AND a.digest = NEW.audit_digest
        AND a.publication_digest = NEW.publication_digest AND a.passed
    WHERE s.release_id = NEW.release_id AND (
        (told(t.settings, 'bases', 'rule_aware') IS 'true' OR coalesce(told(t.settings, 'indicators'), '') LIKE '%"rule_aware": true%')
        AND told(a.certificate, 'program', 'verdict') IS NOT 'passed'
        OR told(t.settings, 'bases', 'rule_aware') IS 'true' AND (
            told(a.certificate, 'program', 'bases', 'removed') IS NOT told(t.settings, 'bases', 'removed')
            OR told(a.certificate, 'program', 'bases', 'epoch') IS NOT told(t.settings, 'bases', 'epoch')
            OR told(a.certificate, 'program', 'bases', 'narrow') IS NOT '[]'
            OR CAST(told(a.certificate, 'program', 'bases', 'wide') AS INTEGER)
                + json_array_length(told(a.certificate, 'program', 'bases', 'without_claim'))
                IS NOT CAST(told(a.certificate, 'counts', 'primaries') AS INTEGER)
                - coalesce(CAST(told(a.certificate, 'counts', 'judged_as_whole_numbers') AS INTEGER), 0)
        )
    );
END;
