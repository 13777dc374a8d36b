-- Published cells whose flags contradict what is printed: Q means withheld, D the sum of the visible
-- countries, E rounded, A exact.
SELECT domain, period, publication_digest, cell, obs_status
FROM dissemination.eu_cell
WHERE obs_status <> CASE
    WHEN value IS NULL THEN 'Q'
    WHEN visible_share IS NOT NULL THEN 'D'
    WHEN rounding_base IS NULL THEN 'A'
    ELSE 'E'
END
