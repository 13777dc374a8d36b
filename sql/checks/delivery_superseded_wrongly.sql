-- Files superseded by one of another country; by a lower version, or by one of their version received before
-- them; or by one of another series that nobody decided should replace them. One that was received again may
-- have come under another name since: the log says whether it replaced the file.
SELECT d.domain, d.period, d.digest, d.superseded_by
FROM operations.delivery d
JOIN operations.delivery s ON (s.domain, s.period, s.digest) = (d.domain, d.period, d.superseded_by)
WHERE s.country <> d.country
    OR (s.series = d.series
        AND (s.version < d.version OR (s.version = d.version AND s.received_at < d.received_at)))
    OR (
        s.series <> d.series
        AND NOT EXISTS (
            SELECT 1 FROM operations.log l
            WHERE l.action = 'replace' AND l.subject = s.digest
                AND operations.told(l.details, 'domain') = s.domain
                AND operations.told(l.details, 'period') = s.period
                AND operations.told(l.details, 'country') = s.country
        )
        AND NOT (
            s.times > 1 AND EXISTS (
                SELECT 1 FROM operations.log l
                WHERE operations.told(l.details, 'domain') = s.domain
                    AND operations.told(l.details, 'period') = s.period
                    AND (
                        (l.action = 'supersede' AND l.subject = d.digest
                            AND operations.told(l.details, 'by') = s.digest)
                        OR (l.action = 'accept' AND l.subject = s.digest
                            AND operations.told(l.details, 'instead_of') = d.digest)
                    )
            )
        )
    )
