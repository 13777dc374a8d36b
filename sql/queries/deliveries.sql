-- Deliveries of a period with what was found in them. Beside the stored states, a second file of a country is
-- 'waiting' for an answer, or 'kept out' by one; `lying` in the inbox when it was last read.
SELECT d.digest, d.country, d.file, d.received_at, d.state, d.superseded_by, d.times, d.lying,
    (SELECT count(*) FROM operations.finding f
        WHERE (f.domain, f.period, f.digest) = (d.domain, d.period, d.digest)) AS findings,
    (
        SELECT count(*) FROM operations.check_result c
        WHERE (c.domain, c.period, c.digest) = (d.domain, d.period, d.digest) AND NOT c.passed
    ) AS failed_checks
FROM operations.delivery_now d
WHERE d.domain = :domain AND d.period = :period
ORDER BY d.received_at, d.digest
