DROP VIEW dissemination.public_cell;

DROP VIEW dissemination.public_release;

DROP FUNCTION dissemination.visible_cells(text, text, integer);

DROP FUNCTION dissemination.visible_releases();

CREATE VIEW dissemination.public_release WITH (security_barrier) AS
SELECT r.release_id, r.domain, r.period, r.version, r.publication_digest, r.released_at, r.embargo, t.reason AS retracted
FROM dissemination.release r
LEFT JOIN dissemination.retraction t ON t.release_id = r.release_id
WHERE r.embargo IS NULL OR r.embargo <= CURRENT_TIMESTAMP;

CREATE VIEW dissemination.public_cell WITH (security_barrier) AS
SELECT r.domain, r.period, r.version, c.position, c.cell, c.area, c.indicator, c.value, c.obs_status, c.conf_status, c.rounding_base,
    c.visible_share
FROM dissemination.public_release r
JOIN dissemination.eu_cell c
    ON c.domain = r.domain AND c.period = r.period AND c.publication_digest = r.publication_digest
WHERE r.retracted IS NULL;
