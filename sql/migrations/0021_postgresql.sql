ALTER TABLE operations.withdrawal ADD CONSTRAINT ck_withdrawal_agreed_at_bounds
CHECK (agreed_at >= '1970-01-01 00:00+00' AND agreed_at < '3000-01-01 00:00+00');

CREATE TRIGGER withdrawal_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operations.withdrawal
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

-- As an approval: an account agrees in its own name, the desk vouches for people, and the server says who and when. Whoever asked to take
-- the release back for this reason does not agree to it.
CREATE FUNCTION operations.withdrawal_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.account := session_user;
    NEW.agreed_at := clock_timestamp();
    IF NEW.agreed_by <> lower(session_user) AND NOT pg_has_role(session_user, 'sdc_desk', 'MEMBER') THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'withdrawal refused: an account agrees in its own name only';
    END IF;
    IF operations.is_person(NEW.agreed_by) IS NOT TRUE THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'withdrawal refused: the name could pass for that of somebody else';
    END IF;
    IF EXISTS (
        SELECT 1 FROM operations.dag_run d
        WHERE d.dag_id = 'retract_release' AND d.release_id = NEW.release_id AND d.reason = NEW.reason AND d.triggered_by = NEW.agreed_by
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'withdrawal refused: who asked to take the release back does not agree to it';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER withdrawal_gate BEFORE INSERT ON operations.withdrawal
FOR EACH ROW EXECUTE FUNCTION operations.withdrawal_gate();

-- A release that two people let out is taken back by two.
CREATE FUNCTION dissemination.retraction_people() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF operations.is_person(NEW.retracted_by) IS NOT TRUE THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'retraction refused: the name could pass for that of somebody else';
    END IF;
    IF EXISTS (
        SELECT 1 FROM operations.submission s JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        WHERE s.release_id = NEW.release_id AND t.approvals >= 1
    ) AND NOT EXISTS (
        SELECT 1 FROM operations.withdrawal w
        WHERE w.release_id = NEW.release_id AND w.reason = NEW.reason AND w.agreed_by <> NEW.retracted_by
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'retraction refused: nobody else agreed to it for this reason';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER retraction_people BEFORE INSERT ON dissemination.retraction
FOR EACH ROW EXECUTE FUNCTION dissemination.retraction_people();

CREATE FUNCTION operations.log_agreed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.action = 'agree' AND operations.tells(NEW.details, 'reason') IS NOT TRUE THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'log refused: details are no JSON that tells what such an entry must tell';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER log_agreed BEFORE INSERT ON operations.log
FOR EACH ROW EXECUTE FUNCTION operations.log_agreed();

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA operations, dissemination FROM PUBLIC;
