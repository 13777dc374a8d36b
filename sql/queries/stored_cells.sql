-- The stored cells of a publication as they are printed.
SELECT position, cell, area, indicator, value, obs_status, conf_status, rounding_base, visible_share
FROM dissemination.eu_cell
WHERE domain = :domain AND period = :period AND publication_digest = :publication_digest
ORDER BY position, cell
