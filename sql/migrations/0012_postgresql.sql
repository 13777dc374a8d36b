-- Letters of one script, in the form in which names are compared (sdc_tasks/warehouse/forms/people.py).
CREATE FUNCTION operations.is_person(name text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN name = lower(name) AND name = normalize(name, NFKC) AND (
        name ~ '^[!-~ß-öø-ɏ]+( [!-~ß-öø-ɏ]+)*$'
        OR name ~ '^[!-@{-~ͰͲ-Ͽἀ-῿]+( [!-@{-~ͰͲ-Ͽἀ-῿]+)*$'
        OR name ~ '^[!-@{-~Ѐ-ԯ]+( [!-@{-~Ѐ-ԯ]+)*$'
    );
END $$;

-- A typed name proves nothing. An account agrees in its own name; the desk, an account of sdc_desk, vouches for the people at it.
CREATE FUNCTION operations.approval_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.account := session_user;
    IF NEW.approver <> lower(session_user) AND NOT pg_has_role(session_user, 'sdc_desk', 'MEMBER') THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'approval refused: an account agrees in its own name only';
    END IF;
    IF operations.is_person(NEW.approver) IS NOT TRUE THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'approval refused: the name could pass for that of somebody else';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER approval_gate BEFORE INSERT ON operations.approval
FOR EACH ROW EXECUTE FUNCTION operations.approval_gate();

CREATE FUNCTION operations.submission_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF operations.is_person(NEW.submitter) IS NOT TRUE THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'submission refused: the name could pass for that of somebody else';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER submission_gate BEFORE INSERT ON operations.submission
FOR EACH ROW EXECUTE FUNCTION operations.submission_gate();

-- Approvals from before the account was known count no more.
CREATE FUNCTION dissemination.release_people() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (
        SELECT t.approvals FROM operations.submission s JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        WHERE s.release_id = NEW.release_id
    ) > (
        SELECT count(DISTINCT a.approver) FROM operations.approval a
        WHERE a.release_id = NEW.release_id AND a.audit_digest = NEW.audit_digest AND a.publication_digest = NEW.publication_digest
            AND a.account IS NOT NULL
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: approvals are missing, of people that somebody vouches for';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_people BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.release_people();
