-- The gate. That a passed audit of the publication exists is the foreign key's business; completeness and order are checked here.
-- The lock on the publication keeps a cell from slipping in between the count and the commit.
CREATE FUNCTION dissemination.release_gate() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER release_gate BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.release_gate();

CREATE FUNCTION dissemination.eu_cell_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM dissemination.release JOIN added USING (domain, period, publication_digest)) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'eu_cell refused: the publication is released';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER eu_cell_gate AFTER INSERT ON dissemination.eu_cell REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.eu_cell_gate();

CREATE FUNCTION dissemination.append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE integrity_constraint_violation USING MESSAGE = TG_TABLE_NAME || ' is append-only';
END $$;

CREATE TRIGGER release_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON dissemination.release
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER publication_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON dissemination.publication
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER eu_cell_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON dissemination.eu_cell
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operations.audit
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();
