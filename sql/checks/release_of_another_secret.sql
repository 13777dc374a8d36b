-- Releases whose certificate names another secret than the log: somebody brought them, or the secret, from
-- another warehouse. (SQLite reads the file without the names of schemas, hence LIKE.)
SELECT r.release_id, operations.told(a.certificate, 'secret') AS secret
FROM dissemination.release r
JOIN operations.audit a ON a.release_id = r.release_id AND a.digest = r.audit_digest
WHERE operations.told(a.certificate, 'secret') IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM operations.log l
    WHERE l.action IN ('make', 'name') AND l.subject LIKE 'confidential_secret'
        AND operations.told(l.details, 'fingerprint') = operations.told(a.certificate, 'secret')
)
