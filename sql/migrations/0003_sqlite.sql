DROP TRIGGER release_gate;

-- The gate asks more: the terms under which the run was submitted, and what they ask for.
CREATE TRIGGER release_gate BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: no passed audit of this publication')
    WHERE NOT EXISTS (
        SELECT 1 FROM audit
        WHERE release_id = NEW.release_id AND digest = NEW.audit_digest AND publication_digest = NEW.publication_digest AND passed
    );
    SELECT raise(ABORT, 'release refused: the publication is not complete')
    WHERE (
        SELECT count(*) FROM eu_cell
        WHERE domain = NEW.domain AND period = NEW.period AND publication_digest = NEW.publication_digest
    ) IS NOT (
        SELECT cells FROM publication WHERE domain = NEW.domain AND period = NEW.period AND digest = NEW.publication_digest
    );
    SELECT raise(ABORT, 'release refused: not the next version')
    WHERE NEW.version <> (SELECT coalesce(max(version), 0) + 1 FROM release WHERE domain = NEW.domain AND period = NEW.period);
    SELECT raise(ABORT, 'release refused: this publication is the current version already')
    FROM release r
    WHERE r.domain = NEW.domain AND r.period = NEW.period AND r.version = NEW.version - 1
        AND r.publication_digest = NEW.publication_digest
        AND NOT EXISTS (SELECT 1 FROM retraction t WHERE t.release_id = r.release_id);
    SELECT raise(ABORT, 'release refused: the run was not submitted under any terms')
    WHERE NOT EXISTS (
        SELECT 1 FROM submission s JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        WHERE s.release_id = NEW.release_id
    );
    SELECT raise(ABORT, 'release refused: a profile that the terms ask for was not audited')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    JOIN json_each('["' || replace(t.profiles, ',', '","') || '"]') AS asked
    WHERE s.release_id = NEW.release_id AND NOT EXISTS (
        SELECT 1 FROM audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
            AND instr(',' || a.profiles || ',', ',' || asked.value || ',') > 0
    );
    SELECT raise(ABORT, 'release refused: approvals are missing')
    FROM submission s JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    WHERE s.release_id = NEW.release_id AND t.approvals > (
        SELECT count(*) FROM approval a
        WHERE a.release_id = NEW.release_id AND a.audit_digest = NEW.audit_digest AND a.publication_digest = NEW.publication_digest
            AND a.approver <> s.submitter
    );
    SELECT raise(ABORT, 'release refused: not the embargo under which it was submitted')
    FROM submission s
    WHERE s.release_id = NEW.release_id AND s.embargo IS NOT NEW.embargo;
END;

-- What is confidential goes only by way of a purge that is on record.
CREATE TRIGGER payload_gate BEFORE DELETE ON payload
WHEN NOT EXISTS (SELECT 1 FROM artefact WHERE digest = OLD.digest AND purged_at IS NOT NULL) BEGIN
    SELECT raise(ABORT, 'payload refused: it is not marked as purged');
END;

CREATE TRIGGER log_gate BEFORE INSERT ON log
WHEN NEW.number <> coalesce((SELECT max(number) FROM log), 0) + 1
    OR NEW.previous <> coalesce((SELECT digest FROM log ORDER BY number DESC LIMIT 1), '') BEGIN
    SELECT raise(ABORT, 'log refused: not the next entry');
END;

CREATE TRIGGER log_update BEFORE UPDATE ON log BEGIN SELECT raise(ABORT, 'log is append-only'); END;

CREATE TRIGGER log_delete BEFORE DELETE ON log BEGIN SELECT raise(ABORT, 'log is append-only'); END;

CREATE TRIGGER terms_update BEFORE UPDATE ON terms BEGIN SELECT raise(ABORT, 'terms is append-only'); END;

CREATE TRIGGER terms_delete BEFORE DELETE ON terms BEGIN SELECT raise(ABORT, 'terms is append-only'); END;

CREATE TRIGGER submission_update BEFORE UPDATE ON submission BEGIN SELECT raise(ABORT, 'submission is append-only'); END;

CREATE TRIGGER submission_delete BEFORE DELETE ON submission BEGIN SELECT raise(ABORT, 'submission is append-only'); END;

CREATE TRIGGER approval_update BEFORE UPDATE ON approval BEGIN SELECT raise(ABORT, 'approval is append-only'); END;

CREATE TRIGGER approval_delete BEFORE DELETE ON approval BEGIN SELECT raise(ABORT, 'approval is append-only'); END;

CREATE TRIGGER retraction_update BEFORE UPDATE ON retraction BEGIN SELECT raise(ABORT, 'retraction is append-only'); END;

CREATE TRIGGER retraction_delete BEFORE DELETE ON retraction BEGIN SELECT raise(ABORT, 'retraction is append-only'); END;

-- What the world sees: nothing before its embargo has passed, no cell of what was retracted.
CREATE VIEW public_release AS
SELECT r.release_id, r.domain, r.period, r.version, r.publication_digest, r.released_at, r.embargo, t.reason AS retracted
FROM release r
LEFT JOIN retraction t ON t.release_id = r.release_id
WHERE r.embargo IS NULL OR r.embargo <= CURRENT_TIMESTAMP;

CREATE VIEW public_cell AS
SELECT r.domain, r.period, r.version, c.position, c.cell, c.area, c.indicator, c.value, c.obs_status, c.conf_status, c.rounding_base,
    c.visible_share
FROM public_release r
JOIN eu_cell c ON c.domain = r.domain AND c.period = r.period AND c.publication_digest = r.publication_digest
WHERE r.retracted IS NULL;
