-- Deliveries superseded by one of another country, or by one that was received before them.
SELECT d.domain, d.period, d.digest, d.superseded_by
FROM operations.delivery d
JOIN operations.delivery s ON (s.domain, s.period, s.digest) = (d.domain, d.period, d.superseded_by)
WHERE s.country <> d.country OR s.received_at < d.received_at
