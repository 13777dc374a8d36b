-- The secret of the warehouse, where the log does not tell that it was made, and that it was last encrypted by the key that it names; and
-- entries that tell of a secret which is not there. (SQLite reads the file without the names of schemas, hence LIKE.)
SELECT s.number, s.key_id
FROM confidential.secret s
WHERE NOT EXISTS (SELECT 1 FROM operations.log l WHERE l.action = 'make' AND l.subject LIKE 'confidential_secret')
    OR s.key_id <> (
        SELECT coalesce(operations.told(l.details, 'key'), '') FROM operations.log l
        WHERE l.action IN ('make', 'rotate') AND l.subject LIKE 'confidential_secret' ORDER BY l.number DESC LIMIT 1
    )
UNION ALL
SELECT l.number, l.action
FROM operations.log l
WHERE l.action = 'make' AND l.subject LIKE 'confidential_secret' AND NOT EXISTS (SELECT 1 FROM confidential.secret s)
