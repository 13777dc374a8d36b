DROP VIEW public_cell;

DROP VIEW public_release;

DROP TRIGGER payload_gate;

DROP TRIGGER release_gate;

-- The gate as it was.
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
    FROM release
    WHERE domain = NEW.domain AND period = NEW.period AND version = NEW.version - 1 AND publication_digest = NEW.publication_digest;
END;
