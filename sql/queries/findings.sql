-- What intake found in the deliveries of a period.
SELECT d.country, d.file, d.state, digest, f.code, f.severity, f.line, f.cell, f.message
FROM operations.finding f
JOIN operations.delivery d USING (domain, period, digest)
WHERE domain = :domain AND period = :period
ORDER BY d.received_at, digest, f.position
