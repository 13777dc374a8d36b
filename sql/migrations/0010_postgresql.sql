-- sha256 over everything that is printed of a publication (sdc_tasks/warehouse/forms/canonical.py has the form).
CREATE FUNCTION dissemination.printed_digest(of_domain text, of_period text, of_publication text) RETURNS text LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT encode(sha256(convert_to(coalesce(string_agg(p.digest, chr(10) ORDER BY p.number), ''), 'UTF8')), 'hex')
        FROM (
            SELECT c.position / 10000 AS number, encode(sha256(convert_to(concat_ws(chr(10), count(*)::text,
                encode(sha256(convert_to(string_agg(c.position::text, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(c.cell, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(c.area, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(c.indicator, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(coalesce(encode(float8send(c.value + 0), 'hex'), repeat('x', 16)), '' ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(c.obs_status, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(c.conf_status, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(coalesce(encode(float8send(c.rounding_base + 0), 'hex'), repeat('x', 16)), '' ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(coalesce(encode(float8send(c.visible_share + 0), 'hex'), repeat('x', 16)), '' ORDER BY c.position, c.cell), 'UTF8')), 'hex')
            ), 'UTF8')), 'hex') AS digest
            FROM dissemination.eu_cell c
            WHERE c.domain = of_domain AND c.period = of_period AND c.publication_digest = of_publication
            GROUP BY c.position / 10000
        ) p
    );
END $$;

-- What goes out is, row by row, what was audited; and no cell of a country.
CREATE FUNCTION dissemination.release_printed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: the transaction must be READ COMMITTED';
    END IF;
    IF (
        SELECT a.printed_digest FROM operations.audit a WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
    ) IS DISTINCT FROM dissemination.printed_digest(NEW.domain, NEW.period, NEW.publication_digest) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: its cells are not those that were audited';
    END IF;
    IF EXISTS (
        SELECT 1 FROM dissemination.eu_cell c
        WHERE c.domain = NEW.domain AND c.period = NEW.period AND c.publication_digest = NEW.publication_digest
            AND c.area IN (SELECT d.country FROM operations.delivery d WHERE d.domain = NEW.domain)
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: it holds a cell of a country';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_printed BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.release_printed();
