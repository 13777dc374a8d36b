-- The foreign key as it was; the gate as it was, its search_path still guarded.
ALTER TABLE dissemination.eu_cell ADD CONSTRAINT fk_eu_cell_publication
FOREIGN KEY (domain, period, publication_digest) REFERENCES dissemination.publication (domain, period, digest);

CREATE OR REPLACE FUNCTION dissemination.eu_cell_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'eu_cell refused: the transaction must be READ COMMITTED';
    END IF;
    IF EXISTS (SELECT 1 FROM dissemination.release JOIN added USING (domain, period, publication_digest)) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'eu_cell refused: the publication is released';
    END IF;
    RETURN NULL;
END $$;
