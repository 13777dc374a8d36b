-- Releases of figures that another domain published of the same structure and period: no audit attacked both
-- together.
WITH told AS (
    SELECT DISTINCT r.release_id, r.domain, r.period, c.indicator,
        substr(
            json_extract(t.settings, '$.structure_id'), 1,
            instr(json_extract(t.settings, '$.structure_id') || '(', '(') - 1
        ) AS structure
    FROM dissemination.release r
    JOIN operations.submission s ON s.release_id = r.release_id
    JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    JOIN dissemination.eu_cell c
        ON c.domain = r.domain AND c.period = r.period AND c.publication_digest = r.publication_digest
)
SELECT a.release_id, b.release_id AS beside, a.period, a.indicator
FROM told a
JOIN told b
    ON b.domain <> a.domain AND b.period = a.period AND b.indicator = a.indicator
        AND b.structure IS a.structure
