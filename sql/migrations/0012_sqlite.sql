-- is_person is that of sdc_tasks/warehouse/forms/people.py. There are no accounts: whoever may write the file vouches for all names in it.
CREATE TRIGGER approval_person BEFORE INSERT ON approval WHEN NOT is_person(NEW.approver) BEGIN
    SELECT raise(ABORT, 'approval refused: the name could pass for that of somebody else');
END;

CREATE TRIGGER submission_person BEFORE INSERT ON submission WHEN NOT is_person(NEW.submitter) BEGIN
    SELECT raise(ABORT, 'submission refused: the name could pass for that of somebody else');
END;

CREATE TRIGGER release_people BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: approvals are missing, of people that somebody vouches for')
    FROM submission s JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    WHERE s.release_id = NEW.release_id AND t.approvals > (
        SELECT count(DISTINCT a.approver) FROM approval a
        WHERE a.release_id = NEW.release_id AND a.audit_digest = NEW.audit_digest AND a.publication_digest = NEW.publication_digest
            AND a.account IS NOT NULL
    );
END;
