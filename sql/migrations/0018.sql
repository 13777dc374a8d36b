CREATE VIEW operations.delivery_now AS
SELECT d.domain, d.period, d.digest, d.country, d.file, d.received_at, d.superseded_by, d.times,
    CASE
        WHEN d.state NOT IN ('received', 'refused') THEN d.state
        WHEN (
            SELECT l.action FROM operations.log l
            WHERE l.subject = d.digest AND l.action IN ('keep', 'replace', 'both')
                AND operations.told(l.details, 'domain') = d.domain AND operations.told(l.details, 'period') = d.period
                AND operations.told(l.details, 'times') = CAST(d.times AS text)
            ORDER BY l.number DESC LIMIT 1
        ) = 'keep' THEN 'kept out'
        WHEN d.state = 'received'
            AND EXISTS (
                SELECT 1 FROM operations.delivery a
                WHERE a.domain = d.domain AND a.period = d.period AND a.country = d.country AND a.state = 'accepted'
            )
            AND NOT EXISTS (
                SELECT 1 FROM operations.delivery a
                WHERE a.domain = d.domain AND a.period = d.period AND a.country = d.country AND a.state = 'accepted' AND a.series = d.series
            )
            AND NOT EXISTS (
                SELECT 1 FROM operations.log l
                WHERE l.subject = d.digest AND l.action IN ('replace', 'both')
                    AND operations.told(l.details, 'domain') = d.domain AND operations.told(l.details, 'period') = d.period
                    AND operations.told(l.details, 'times') = CAST(d.times AS text)
            ) THEN 'waiting'
        ELSE d.state
    END AS state,
    EXISTS (
        SELECT 1 FROM operations.inbox i WHERE i.domain = d.domain AND i.period = d.period AND i.digest = d.digest
    ) AS lying
FROM operations.delivery d
