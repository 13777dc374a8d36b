-- The content checks of the deliveries of a period.
SELECT d.country, d.file, d.state, digest, c."check", c.severity, c.passed, c.checked, c.failed, c.cells
FROM operations.check_result c
JOIN operations.delivery d USING (domain, period, digest)
WHERE domain = :domain AND period = :period
ORDER BY d.received_at, digest, c."check"
