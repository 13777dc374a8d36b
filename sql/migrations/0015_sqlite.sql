-- The functions told, tells and is_list are those of sdc_tasks/warehouse/forms/canonical.py; at a prompt that does not know them the statement
-- fails.
CREATE TRIGGER log_told BEFORE INSERT ON log
WHEN tells(NEW.details, CASE NEW.action
    WHEN 'submit' THEN 'terms,asks,inputs,environment,embargo'
    WHEN 'audit' THEN 'audit,publication,passed,printed,lps'
    WHEN 'approve' THEN 'audit,publication,note'
    WHEN 'reject' THEN 'audit,publication,note'
    WHEN 'release' THEN 'audit,publication,version'
    WHEN 'retract' THEN 'reason'
    WHEN 'receive' THEN 'domain,period,file,times'
    WHEN 'accept' THEN 'domain,period,country,instead_of'
    WHEN 'supersede' THEN 'domain,period,country,by'
    WHEN 'refuse' THEN 'domain,period,country'
    ELSE ''
END) IS NOT 1 BEGIN
    SELECT raise(ABORT, 'log refused: details are no JSON that tells what such an entry must tell');
END;

-- An audit is stored as its certificate has it, and the certificate is of its run.
CREATE TRIGGER audit_told BEFORE INSERT ON audit BEGIN
    SELECT raise(ABORT, 'audit refused: its certificate says otherwise')
    WHERE told(NEW.certificate, 'digests', 'problem') IS NOT NEW.problem_digest
        OR told(NEW.certificate, 'digests', 'publication') IS NOT NEW.publication_digest
        OR told(NEW.certificate, 'profiles') IS NOT '["' || replace(NEW.profiles, ',', '", "') || '"]'
        OR told(NEW.certificate, 'verdict') IS NOT CASE WHEN NEW.passed THEN 'passed' ELSE 'failed' END
        OR told(NEW.certificate, 'counts', 'primaries') IS NOT CAST(NEW.primaries AS TEXT)
        OR told(NEW.certificate, 'counts', 'broken_requirements') IS NOT CAST(NEW.broken AS TEXT);
    SELECT raise(ABORT, 'audit refused: its certificate says otherwise')
    WHERE NOT EXISTS (
        SELECT 1 FROM run r LEFT JOIN submission s ON s.release_id = r.release_id
        WHERE r.release_id = NEW.release_id AND told(NEW.certificate, 'domain') = r.domain AND told(NEW.certificate, 'period') = r.period
            AND told(NEW.certificate, 'digests', 'domain') = coalesce(s.terms_digest, told(NEW.certificate, 'digests', 'domain'))
    );
END;

-- JSON that pages and reports read is JSON; terms ask for what their settings say.
CREATE TRIGGER terms_json BEFORE INSERT ON terms
WHEN tells(NEW.settings, '') IS NOT 1
    OR coalesce(told(NEW.settings, 'audit', 'profiles'), '["' || replace(NEW.profiles, ',', '", "') || '"]')
        IS NOT '["' || replace(NEW.profiles, ',', '", "') || '"]'
    OR coalesce(told(NEW.settings, 'governance', 'approvals'), CAST(NEW.approvals AS TEXT)) IS NOT CAST(NEW.approvals AS TEXT)
    OR (
        told(NEW.settings, 'governance') IS NOT NULL
        AND told(NEW.settings, 'governance', 'retention_days') IS NOT CAST(NEW.retention_days AS TEXT)
    ) BEGIN
    SELECT raise(ABORT, 'terms refused: its JSON is none, or says otherwise');
END;

CREATE TRIGGER submission_json BEFORE INSERT ON submission WHEN tells(NEW.environment, '') IS NOT 1 BEGIN
    SELECT raise(ABORT, 'submission refused: its JSON is none, or says otherwise');
END;

CREATE TRIGGER cycle_json_insert BEFORE INSERT ON cycle WHEN is_list(NEW.areas) IS NOT 1 BEGIN
    SELECT raise(ABORT, 'cycle refused: its JSON is none, or says otherwise');
END;

CREATE TRIGGER cycle_json_update BEFORE UPDATE ON cycle WHEN is_list(NEW.areas) IS NOT 1 BEGIN
    SELECT raise(ABORT, 'cycle refused: its JSON is none, or says otherwise');
END;

CREATE TRIGGER check_result_json_insert BEFORE INSERT ON check_result WHEN is_list(NEW.cells) IS NOT 1 BEGIN
    SELECT raise(ABORT, 'check_result refused: its JSON is none, or says otherwise');
END;

CREATE TRIGGER check_result_json_update BEFORE UPDATE ON check_result WHEN is_list(NEW.cells) IS NOT 1 BEGIN
    SELECT raise(ABORT, 'check_result refused: its JSON is none, or says otherwise');
END;
