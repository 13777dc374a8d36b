-- The cells of one version of a domain and period; of the newest version when none is given.
SELECT c.cell, c.area, c.indicator, c.value, c.obs_status, c.conf_status, c.rounding_base
FROM dissemination.release r
JOIN dissemination.eu_cell c USING (domain, period, publication_digest)
WHERE r.domain = :domain AND r.period = :period
    AND r.version = coalesce(
        :version,
        (SELECT max(n.version) FROM dissemination.release n WHERE n.domain = r.domain AND n.period = r.period)
    )
ORDER BY c.position
