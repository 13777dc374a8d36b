CREATE TRIGGER withdrawal_update BEFORE UPDATE ON withdrawal BEGIN SELECT raise(ABORT, 'withdrawal is append-only'); END;

CREATE TRIGGER withdrawal_delete BEFORE DELETE ON withdrawal BEGIN SELECT raise(ABORT, 'withdrawal is append-only'); END;

CREATE TRIGGER withdrawal_key BEFORE INSERT ON withdrawal
WHEN EXISTS (
    SELECT 1 FROM withdrawal
    WHERE (release_id = NEW.release_id AND reason = NEW.reason AND agreed_by = NEW.agreed_by) OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'withdrawal is append-only: the key is there'); END;

CREATE TRIGGER withdrawal_instants_insert BEFORE INSERT ON withdrawal
WHEN NEW.agreed_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*'
    OR julianday(NEW.agreed_at) IS NULL OR NEW.agreed_at < '1970' OR NEW.agreed_at >= '3000' BEGIN
    SELECT raise(ABORT, 'withdrawal refused: an instant out of bounds');
END;

CREATE TRIGGER withdrawal_instants_update BEFORE UPDATE ON withdrawal
WHEN NEW.agreed_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*'
    OR julianday(NEW.agreed_at) IS NULL OR NEW.agreed_at < '1970' OR NEW.agreed_at >= '3000' BEGIN
    SELECT raise(ABORT, 'withdrawal refused: an instant out of bounds');
END;

-- is_person is that of sdc_tasks/warehouse/forms/people.py. There are no accounts: whoever may write the file vouches for all names in it.
CREATE TRIGGER withdrawal_gate BEFORE INSERT ON withdrawal BEGIN
    SELECT raise(ABORT, 'withdrawal refused: no such release')
    WHERE NOT EXISTS (SELECT 1 FROM release r WHERE r.release_id = NEW.release_id);
    SELECT raise(ABORT, 'withdrawal refused: the name could pass for that of somebody else') WHERE NOT is_person(NEW.agreed_by);
    SELECT raise(ABORT, 'withdrawal refused: who asked to take the release back does not agree to it')
    WHERE EXISTS (
        SELECT 1 FROM dag_run d
        WHERE d.dag_id = 'retract_release' AND d.release_id = NEW.release_id AND d.reason = NEW.reason AND d.triggered_by = NEW.agreed_by
    );
END;

-- A release that two people let out is taken back by two.
CREATE TRIGGER retraction_people BEFORE INSERT ON retraction BEGIN
    SELECT raise(ABORT, 'retraction refused: the name could pass for that of somebody else') WHERE NOT is_person(NEW.retracted_by);
    SELECT raise(ABORT, 'retraction refused: nobody else agreed to it for this reason')
    FROM submission s JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    WHERE s.release_id = NEW.release_id AND t.approvals >= 1 AND NOT EXISTS (
        SELECT 1 FROM withdrawal w
        WHERE w.release_id = NEW.release_id AND w.reason = NEW.reason AND w.agreed_by <> NEW.retracted_by
    );
END;

CREATE TRIGGER log_agreed BEFORE INSERT ON log WHEN NEW.action = 'agree' AND tells(NEW.details, 'reason') IS NOT 1 BEGIN
    SELECT raise(ABORT, 'log refused: details are no JSON that tells what such an entry must tell');
END;
