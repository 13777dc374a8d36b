-- Released publications that do not have all their cells.
SELECT r.release_id, p.cells AS expected, count(c.cell) AS stored
FROM dissemination.release r
LEFT JOIN dissemination.publication p
    ON (p.domain, p.period, p.digest) = (r.domain, r.period, r.publication_digest)
LEFT JOIN dissemination.eu_cell c
    ON (c.domain, c.period, c.publication_digest) = (r.domain, r.period, r.publication_digest)
GROUP BY r.release_id, p.cells
HAVING p.cells IS NULL OR count(c.cell) <> p.cells
