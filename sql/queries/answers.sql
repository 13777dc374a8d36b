-- What people answered about second files of a country, since each file was last received, in order: of each
-- file the last answer counts. `run`: the run of Airflow that carried it out, where one did.
SELECT d.digest, l.action AS answer, l.actor, l.recorded_at,
    operations.told(l.details, 'note') AS note, operations.told(l.details, 'run') AS run
FROM operations.log l
JOIN operations.delivery d ON d.digest = l.subject
WHERE d.domain = :domain AND d.period = :period AND l.action IN ('keep', 'replace', 'both')
    AND operations.told(l.details, 'domain') = d.domain AND operations.told(l.details, 'period') = d.period
    AND operations.told(l.details, 'times') = CAST(d.times AS text)
ORDER BY l.number
