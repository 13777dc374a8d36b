-- Whoever started a run of a release before does not agree to it, also where another run submitted it.
CREATE FUNCTION operations.approval_by_others() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM operations.dag_run d
        WHERE d.release_id = NEW.release_id AND d.triggered_by = NEW.approver AND d.dag_id LIKE 'eu\_release\_%'
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'approval refused: the approver started a run of this release';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER approval_by_others BEFORE INSERT ON operations.approval
FOR EACH ROW EXECUTE FUNCTION operations.approval_by_others();
