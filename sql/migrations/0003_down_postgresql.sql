DROP VIEW dissemination.public_cell;

DROP VIEW dissemination.public_release;

-- The gate as it was.
CREATE OR REPLACE FUNCTION dissemination.release_gate() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER AS $$
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
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: this publication is the current version already';
    END IF;
    RETURN NEW;
END $$;

ALTER FUNCTION dissemination.eu_cell_gate() SECURITY INVOKER RESET search_path;

DROP TRIGGER payload_gate ON confidential.payload;

DROP TRIGGER payload_truncate ON confidential.payload;

DROP FUNCTION confidential.payload_gate();

DROP TRIGGER audit_gate ON operations.audit;

DROP FUNCTION operations.audit_gate();

DROP TRIGGER log_gate ON operations.log;

DROP FUNCTION operations.log_gate();

-- The roles stay: other databases of the server may use them. What they may do here goes.
REVOKE ALL ON ALL TABLES IN SCHEMA confidential, operations, dissemination FROM sdc_pipeline, sdc_publisher, sdc_approver, sdc_ui, sdc_public;

REVOKE ALL ON SCHEMA confidential, operations, dissemination FROM sdc_pipeline, sdc_publisher, sdc_approver, sdc_ui, sdc_public;
