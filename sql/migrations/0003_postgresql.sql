-- The gate asks more: the terms under which the run was submitted, and what they ask for. It sees all tables, whoever calls it.
CREATE OR REPLACE FUNCTION dissemination.release_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    asked record;
BEGIN
    PERFORM 1 FROM dissemination.publication p
        WHERE p.domain = NEW.domain AND p.period = NEW.period AND p.digest = NEW.publication_digest FOR UPDATE;
    IF (
        SELECT count(*) FROM dissemination.eu_cell c
        WHERE c.domain = NEW.domain AND c.period = NEW.period AND c.publication_digest = NEW.publication_digest
    ) IS DISTINCT FROM (
        SELECT p.cells FROM dissemination.publication p
        WHERE p.domain = NEW.domain AND p.period = NEW.period AND p.digest = NEW.publication_digest
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: the publication is not complete';
    END IF;
    IF NEW.version <> (
        SELECT coalesce(max(r.version), 0) + 1 FROM dissemination.release r WHERE r.domain = NEW.domain AND r.period = NEW.period
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: not the next version';
    END IF;
    IF EXISTS (
        SELECT 1 FROM dissemination.release r
        WHERE r.domain = NEW.domain AND r.period = NEW.period AND r.version = NEW.version - 1
            AND r.publication_digest = NEW.publication_digest
            AND NOT EXISTS (SELECT 1 FROM dissemination.retraction t WHERE t.release_id = r.release_id)
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: this publication is the current version already';
    END IF;
    SELECT t.profiles, t.approvals, s.embargo INTO asked
        FROM operations.submission s JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        WHERE s.release_id = NEW.release_id;
    IF NOT FOUND THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: the run was not submitted under any terms';
    END IF;
    IF NOT EXISTS (
        SELECT 1 FROM operations.audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest AND a.publication_digest = NEW.publication_digest AND a.passed
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: no passed audit of this publication';
    END IF;
    IF NOT EXISTS (
        SELECT 1 FROM operations.audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
            AND string_to_array(asked.profiles, ',') <@ string_to_array(a.profiles, ',')
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: a profile that the terms ask for was not audited';
    END IF;
    IF asked.approvals > (
        SELECT count(*) FROM operations.approval a
        WHERE a.release_id = NEW.release_id AND a.audit_digest = NEW.audit_digest AND a.publication_digest = NEW.publication_digest
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: approvals are missing';
    END IF;
    IF NEW.embargo IS DISTINCT FROM asked.embargo THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: not the embargo under which it was submitted';
    END IF;
    RETURN NEW;
END $$;

ALTER FUNCTION dissemination.eu_cell_gate() SECURITY DEFINER SET search_path = pg_catalog, pg_temp;

-- An audit is known by its certificate, and by nothing else.
CREATE FUNCTION operations.audit_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.digest <> encode(sha256(convert_to(NEW.certificate, 'UTF8')), 'hex') THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'audit refused: the digest is not that of its certificate';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER audit_gate BEFORE INSERT ON operations.audit
FOR EACH ROW EXECUTE FUNCTION operations.audit_gate();

-- What is confidential goes only by way of a purge that is on record.
CREATE FUNCTION confidential.payload_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM operations.artefact a WHERE a.digest = OLD.digest AND a.purged_at IS NOT NULL) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'payload refused: it is not marked as purged';
    END IF;
    RETURN OLD;
END $$;

CREATE TRIGGER payload_gate BEFORE DELETE ON confidential.payload
FOR EACH ROW EXECUTE FUNCTION confidential.payload_gate();

CREATE TRIGGER payload_truncate BEFORE TRUNCATE ON confidential.payload
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

-- The log: one entry after the other, by whom the database knows, with the digest that entry has.
CREATE FUNCTION operations.log_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
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

CREATE TRIGGER log_gate BEFORE INSERT ON operations.log
FOR EACH ROW EXECUTE FUNCTION operations.log_gate();

CREATE TRIGGER log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operations.log
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER terms_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operations.terms
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER submission_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operations.submission
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER approval_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operations.approval
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER retraction_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON dissemination.retraction
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

-- What the world sees: nothing before its embargo has passed by the clock of this server, no cell of what was retracted.
CREATE VIEW dissemination.public_release WITH (security_barrier) AS
SELECT r.release_id, r.domain, r.period, r.version, r.publication_digest, r.released_at, r.embargo, t.reason AS retracted
FROM dissemination.release r
LEFT JOIN dissemination.retraction t ON t.release_id = r.release_id
WHERE r.embargo IS NULL OR r.embargo <= CURRENT_TIMESTAMP;

CREATE VIEW dissemination.public_cell WITH (security_barrier) AS
SELECT r.domain, r.period, r.version, c.position, c.cell, c.area, c.indicator, c.value, c.obs_status, c.conf_status, c.rounding_base,
    c.visible_share
FROM dissemination.public_release r
JOIN dissemination.eu_cell c
    ON c.domain = r.domain AND c.period = r.period AND c.publication_digest = r.publication_digest
WHERE r.retracted IS NULL;
