-- Once for a statement, not once for a row: a cell is of a publication that is there, and not released. The lock is that of a foreign key:
-- the gate of a release, which locks the publication, waits for whoever adds a cell, and the other way round.
CREATE OR REPLACE FUNCTION dissemination.eu_cell_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'eu_cell refused: the transaction must be READ COMMITTED';
    END IF;
    PERFORM 1 FROM dissemination.publication p
        WHERE (p.domain, p.period, p.digest) IN (SELECT a.domain, a.period, a.publication_digest FROM added a)
        ORDER BY p.domain, p.period, p.digest FOR KEY SHARE;
    IF EXISTS (
        SELECT a.domain, a.period, a.publication_digest FROM added a
        EXCEPT SELECT p.domain, p.period, p.digest FROM dissemination.publication p
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'eu_cell refused: there is no such publication';
    END IF;
    IF EXISTS (SELECT 1 FROM dissemination.release JOIN added USING (domain, period, publication_digest)) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'eu_cell refused: the publication is released';
    END IF;
    RETURN NULL;
END $$;

ALTER TABLE dissemination.eu_cell DROP CONSTRAINT fk_eu_cell_publication;
