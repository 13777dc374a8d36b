DROP VIEW dissemination.public_cell;

DROP VIEW dissemination.public_release;

-- What the world sees comes out of two functions of the owner: nothing before its embargo has passed by the clock of this server, no cell
-- of what was retracted. Behind a view of these, the world's conditions meet only rows that it may know; a view of the tables would let
-- conditions on values, and the planner's statistics, reach the others too (EXPLAIN tells).
CREATE FUNCTION dissemination.visible_releases() RETURNS TABLE (
    release_id text, domain text, period text, version integer, publication_digest text, released_at timestamptz, embargo timestamptz,
    retracted text
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT r.release_id, r.domain, r.period, r.version, r.publication_digest, r.released_at, r.embargo, t.reason
        FROM dissemination.release r
        LEFT JOIN dissemination.retraction t ON t.release_id = r.release_id
        WHERE r.embargo IS NULL OR r.embargo <= CURRENT_TIMESTAMP;
END $$;

CREATE FUNCTION dissemination.visible_cells(of_domain text, of_period text, of_version integer) RETURNS TABLE (
    "position" integer, cell text, area text, indicator text, value float8, obs_status text, conf_status text, rounding_base float8,
    visible_share float8
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    digest text;
BEGIN
    SELECT v.publication_digest INTO digest
        FROM dissemination.visible_releases() v
        WHERE v.domain = of_domain AND v.period = of_period AND v.version = of_version AND v.retracted IS NULL;
    IF FOUND THEN
        RETURN QUERY
            SELECT c.position, c.cell, c.area, c.indicator, c.value, c.obs_status, c.conf_status, c.rounding_base, c.visible_share
            FROM dissemination.eu_cell c
            WHERE c.domain = of_domain AND c.period = of_period AND c.publication_digest = digest;
    END IF;
END $$;

CREATE VIEW dissemination.public_release AS SELECT * FROM dissemination.visible_releases();

CREATE VIEW dissemination.public_cell AS
SELECT r.domain, r.period, r.version, c.position, c.cell, c.area, c.indicator, c.value, c.obs_status, c.conf_status, c.rounding_base,
    c.visible_share
FROM dissemination.public_release r
CROSS JOIN LATERAL dissemination.visible_cells(r.domain, r.period, r.version) c;
