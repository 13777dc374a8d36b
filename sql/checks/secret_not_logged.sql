-- The secret of the warehouse, where the log does not tell that it was made, what it is named, that it is
-- kept elsewhere, or that it was last encrypted by the key that it names; a warehouse without one; and
-- entries that name several. (SQLite reads the file without the names of schemas, hence LIKE.)
SELECT s.number, s.key_id AS found
FROM confidential.secret s
WHERE NOT EXISTS (SELECT 1 FROM operations.log l WHERE l.action = 'make'
    AND l.subject LIKE 'confidential_secret')
    OR s.key_id <> (
        SELECT coalesce(operations.told(l.details, 'key'), '') FROM operations.log l
        WHERE l.action IN ('make', 'rotate')
            AND l.subject LIKE 'confidential_secret' ORDER BY l.number DESC LIMIT 1
    )
UNION ALL
SELECT s.number, s.fingerprint
FROM confidential.secret s
WHERE s.fingerprint IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM operations.log l
    WHERE l.action IN ('make', 'name') AND l.subject LIKE 'confidential_secret'
        AND operations.told(l.details, 'fingerprint') = s.fingerprint
)
UNION ALL
SELECT s.number, 'kept'
FROM confidential.secret s
WHERE s.fingerprint IS NOT NULL AND s.kept <> EXISTS (
    SELECT 1 FROM operations.log l
    WHERE l.subject LIKE 'confidential_secret' AND operations.told(l.details, 'fingerprint') = s.fingerprint
        AND (l.action = 'deposit' OR (l.action = 'make' AND operations.told(l.details, 'kept') = 'true'))
)
UNION ALL
SELECT l.number, 'kept'
FROM operations.log l
WHERE l.action = 'make' AND l.subject LIKE 'confidential_secret'
    AND operations.told(l.details, 'fingerprint') IS NOT NULL
    AND coalesce(operations.told(l.details, 'kept'), '') NOT IN ('true', 'false')
UNION ALL
SELECT l.number, 'another'
FROM operations.log l
JOIN confidential.secret s ON operations.told(l.details, 'fingerprint') <> s.fingerprint
WHERE l.action IN ('make', 'name', 'deposit') AND l.subject LIKE 'confidential_secret'
UNION ALL
SELECT 1, 'no secret'
WHERE NOT EXISTS (SELECT 1 FROM confidential.secret s)
