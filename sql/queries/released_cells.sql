-- The cells of one version of a domain and period as the world sees them; of the newest version when none is
-- given.
SELECT cell, area, indicator, value, obs_status, conf_status, rounding_base, visible_share
FROM dissemination.public_cell
WHERE domain = :domain AND period = :period
    AND version = coalesce(
        :version,
        (
            SELECT max(n.version) FROM dissemination.public_release n
            WHERE n.domain = :domain AND n.period = :period
        )
    )
ORDER BY position
