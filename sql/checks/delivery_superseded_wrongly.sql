-- Files superseded by one of another country or series, by a lower version, or by one of their version received before them.
SELECT d.domain, d.period, d.digest, d.superseded_by
FROM operations.delivery d
JOIN operations.delivery s ON (s.domain, s.period, s.digest) = (d.domain, d.period, d.superseded_by)
WHERE s.country <> d.country OR s.series <> d.series OR s.version < d.version
    OR (s.version = d.version AND s.received_at < d.received_at)
