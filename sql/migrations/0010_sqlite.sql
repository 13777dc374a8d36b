-- The functions printed_digest, entry_digest and sha256_hex are those of sdc_tasks/warehouse/forms/canonical.py; at a prompt that does not know
-- them the statement fails.
CREATE TRIGGER release_printed BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: submitted for another domain or period')
    FROM submission s
    WHERE s.release_id = NEW.release_id AND (s.domain IS NOT NEW.domain OR s.period IS NOT NEW.period);
    SELECT raise(ABORT, 'release refused: its cells are not those that were audited')
    WHERE (SELECT a.printed_digest FROM audit a WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest)
        IS NOT printed_digest(NEW.domain, NEW.period, NEW.publication_digest);
    SELECT raise(ABORT, 'release refused: it holds a cell of a country')
    WHERE EXISTS (
        SELECT 1 FROM (SELECT DISTINCT country FROM delivery WHERE domain = NEW.domain) d
        CROSS JOIN eu_cell c
        WHERE c.domain = NEW.domain AND c.period = NEW.period AND c.publication_digest = NEW.publication_digest
            AND c.cell >= d.country || '.' AND c.cell < d.country || '/'
    );
END;

-- What foreign keys and CHECKs say, also where a prompt has switched them off.
CREATE TRIGGER audit_gate BEFORE INSERT ON audit BEGIN
    SELECT raise(ABORT, 'audit refused: the digest is not that of its certificate') WHERE NEW.digest IS NOT sha256_hex(NEW.certificate);
    SELECT raise(ABORT, 'audit refused: passed, and something broken') WHERE NEW.passed AND NEW.broken IS NOT 0;
END;

CREATE TRIGGER approval_gate BEFORE INSERT ON approval BEGIN
    SELECT raise(ABORT, 'approval refused: its submitter is not who submitted, or agrees himself')
    WHERE NEW.approver = NEW.submitter
        OR NOT EXISTS (SELECT 1 FROM submission s WHERE s.release_id = NEW.release_id AND s.submitter = NEW.submitter);
    SELECT raise(ABORT, 'approval refused: no passed audit of this publication')
    WHERE NOT EXISTS (
        SELECT 1 FROM audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest AND a.publication_digest = NEW.publication_digest AND a.passed
    );
END;

CREATE TRIGGER retraction_gate BEFORE INSERT ON retraction
WHEN NOT EXISTS (SELECT 1 FROM release r WHERE r.release_id = NEW.release_id) BEGIN
    SELECT raise(ABORT, 'retraction refused: no such release');
END;

CREATE TRIGGER log_digest BEFORE INSERT ON log
WHEN NEW.digest IS NOT entry_digest(
    NEW.number, NEW.recorded_at, NEW.actor, NEW.account, NEW.action, NEW.subject, NEW.details, NEW.previous
) BEGIN
    SELECT raise(ABORT, 'log refused: not the digest of this entry');
END;

DROP TRIGGER eu_cell_gate;

-- One trigger, for it is asked a million times. By its key a cell replaces only what is not released; by its rowid it could any.
CREATE TRIGGER eu_cell_gate BEFORE INSERT ON eu_cell
WHEN EXISTS (SELECT 1 FROM eu_cell WHERE rowid = NEW.rowid) OR EXISTS (
    SELECT 1 FROM release
    WHERE domain = NEW.domain AND period = NEW.period AND publication_digest = NEW.publication_digest
) BEGIN
    SELECT raise(ABORT, 'eu_cell refused: it is append-only, and the publication may be released');
END;

-- INSERT OR REPLACE takes the row away that has the same key, or the same rowid, and asks no trigger of deletion unless told to.
CREATE TRIGGER release_key BEFORE INSERT ON release
WHEN EXISTS (
    SELECT 1 FROM release
    WHERE release_id = NEW.release_id OR (domain = NEW.domain AND period = NEW.period AND version = NEW.version) OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'release is append-only: the key is there'); END;

CREATE TRIGGER publication_key BEFORE INSERT ON publication
WHEN EXISTS (
    SELECT 1 FROM publication WHERE (domain = NEW.domain AND period = NEW.period AND digest = NEW.digest) OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'publication is append-only: the key is there'); END;

CREATE TRIGGER audit_key BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit WHERE (release_id = NEW.release_id AND digest = NEW.digest) OR rowid = NEW.rowid) BEGIN
    SELECT raise(ABORT, 'audit is append-only: the key is there');
END;

CREATE TRIGGER terms_key BEFORE INSERT ON terms
WHEN EXISTS (SELECT 1 FROM terms WHERE (domain = NEW.domain AND digest = NEW.digest) OR rowid = NEW.rowid) BEGIN
    SELECT raise(ABORT, 'terms is append-only: the key is there');
END;

CREATE TRIGGER submission_key BEFORE INSERT ON submission
WHEN EXISTS (SELECT 1 FROM submission WHERE release_id = NEW.release_id OR rowid = NEW.rowid) BEGIN
    SELECT raise(ABORT, 'submission is append-only: the key is there');
END;

CREATE TRIGGER approval_key BEFORE INSERT ON approval
WHEN EXISTS (
    SELECT 1 FROM approval
    WHERE (release_id = NEW.release_id AND audit_digest = NEW.audit_digest AND approver = NEW.approver) OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'approval is append-only: the key is there'); END;

CREATE TRIGGER log_key BEFORE INSERT ON log
WHEN EXISTS (SELECT 1 FROM log WHERE number = NEW.number OR rowid = NEW.rowid) BEGIN
    SELECT raise(ABORT, 'log is append-only: the key is there');
END;

CREATE TRIGGER retraction_key BEFORE INSERT ON retraction
WHEN EXISTS (SELECT 1 FROM retraction WHERE release_id = NEW.release_id OR rowid = NEW.rowid) BEGIN
    SELECT raise(ABORT, 'retraction is append-only: the key is there');
END;

CREATE TRIGGER alert_key BEFORE INSERT ON alert
WHEN EXISTS (
    SELECT 1 FROM alert
    WHERE (domain = NEW.domain AND period = NEW.period AND kind = NEW.kind AND subject = NEW.subject) OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'alert is append-only: the key is there'); END;
