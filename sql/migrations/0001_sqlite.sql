-- The gate for those who come with plain SQL. The foreign keys of release say the same to whoever has switched them on.
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

CREATE TRIGGER eu_cell_gate BEFORE INSERT ON eu_cell
WHEN EXISTS (
    SELECT 1 FROM release
    WHERE domain = NEW.domain AND period = NEW.period AND publication_digest = NEW.publication_digest
) BEGIN
    SELECT raise(ABORT, 'eu_cell refused: the publication is released');
END;

CREATE TRIGGER release_update BEFORE UPDATE ON release BEGIN SELECT raise(ABORT, 'release is append-only'); END;

CREATE TRIGGER release_delete BEFORE DELETE ON release BEGIN SELECT raise(ABORT, 'release is append-only'); END;

CREATE TRIGGER publication_update BEFORE UPDATE ON publication BEGIN SELECT raise(ABORT, 'publication is append-only'); END;

CREATE TRIGGER publication_delete BEFORE DELETE ON publication BEGIN SELECT raise(ABORT, 'publication is append-only'); END;

CREATE TRIGGER eu_cell_update BEFORE UPDATE ON eu_cell BEGIN SELECT raise(ABORT, 'eu_cell is append-only'); END;

CREATE TRIGGER eu_cell_delete BEFORE DELETE ON eu_cell BEGIN SELECT raise(ABORT, 'eu_cell is append-only'); END;

CREATE TRIGGER audit_update BEFORE UPDATE ON audit BEGIN SELECT raise(ABORT, 'audit is append-only'); END;

CREATE TRIGGER audit_delete BEFORE DELETE ON audit BEGIN SELECT raise(ABORT, 'audit is append-only'); END;
