-- Deliveries of which the log does not tell that they came under this name, and became what they are. It may
-- know nothing of those that came before it began.
SELECT d.domain, d.period, d.digest, d.state
FROM operations.delivery d
WHERE (
    d.received_at >= (SELECT min(b.recorded_at) FROM operations.log b)
    OR EXISTS (SELECT 1 FROM operations.log k WHERE k.action = 'receive' AND k.subject = d.digest)
) AND (
    NOT EXISTS (
        SELECT 1 FROM operations.log l
        WHERE l.action = 'receive' AND l.subject = d.digest
            AND operations.told(l.details, 'domain') = d.domain
            AND operations.told(l.details, 'period') = d.period
            AND operations.told(l.details, 'file') = d.file
            AND operations.told(l.details, 'times') = CAST(d.times AS text)
    )
    OR (
        d.state = 'superseded'
        AND NOT EXISTS (
            SELECT 1 FROM operations.log l
            WHERE l.action IN ('accept', 'supersede') AND l.subject = d.digest
                AND operations.told(l.details, 'domain') = d.domain
                AND operations.told(l.details, 'period') = d.period
                AND operations.told(l.details, 'country') = d.country
        )
    )
    OR (d.state <> 'received' AND NOT EXISTS (
        SELECT 1 FROM operations.log l
        WHERE l.subject IN (d.digest, d.superseded_by)
            AND operations.told(l.details, 'domain') = d.domain
            AND operations.told(l.details, 'period') = d.period
            AND coalesce(operations.told(l.details, 'country'), '') = coalesce(d.country, '')
            AND (
                (d.state = 'accepted' AND l.action = 'accept' AND l.subject = d.digest)
                OR (d.state = 'refused' AND l.action = 'refuse' AND l.subject = d.digest)
                OR (d.state = 'superseded' AND l.action = 'supersede' AND l.subject = d.digest
                    AND operations.told(l.details, 'by') = d.superseded_by)
                OR (d.state = 'superseded' AND l.action = 'accept' AND l.subject = d.superseded_by
                    AND operations.told(l.details, 'instead_of') = d.digest)
            )
    ))
)
