-- What became of each cell of a release: never its value. The size is the class of base / value: below 0.1 %,
-- 1 %, 5 %, 20 %, or more.
SELECT c.cell, c.area, c.indicator,
    CASE
        WHEN c.value IS NULL THEN 'withheld'
        WHEN c.visible_share IS NOT NULL THEN 'visible'
        WHEN c.rounding_base IS NOT NULL THEN 'rounded'
        ELSE 'exact'
    END AS treatment,
    CASE
        WHEN c.rounding_base IS NULL THEN 0
        WHEN c.rounding_base < 0.001 * abs(c.value) THEN 1
        WHEN c.rounding_base < 0.01 * abs(c.value) THEN 2
        WHEN c.rounding_base < 0.05 * abs(c.value) THEN 3
        WHEN c.rounding_base < 0.2 * abs(c.value) THEN 4
        ELSE 5
    END AS size
FROM dissemination.release r
JOIN dissemination.eu_cell c ON c.domain = r.domain AND c.period = r.period
    AND c.publication_digest = r.publication_digest
WHERE r.release_id = :release_id
ORDER BY c.position
