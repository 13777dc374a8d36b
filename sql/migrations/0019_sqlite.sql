-- Whoever started a run of a release before does not agree to it, also where another run submitted it.
CREATE TRIGGER approval_by_others BEFORE INSERT ON approval
WHEN EXISTS (
    SELECT 1 FROM dag_run d
    WHERE d.release_id = NEW.release_id AND d.triggered_by = NEW.approver AND d.dag_id LIKE 'eu\_release\_%' ESCAPE '\'
) BEGIN
    SELECT raise(ABORT, 'approval refused: the approver started a run of this release');
END;
