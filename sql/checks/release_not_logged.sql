-- Releases of which the log does not tell that exactly this publication went out as this version, on this audit.
SELECT r.release_id, r.version, r.publication_digest
FROM dissemination.release r
WHERE NOT EXISTS (
    SELECT 1 FROM operations.log l
    WHERE l.action = 'release' AND l.subject = r.release_id
        AND operations.told(l.details, 'publication') = r.publication_digest
        AND operations.told(l.details, 'version') = CAST(r.version AS text)
        AND coalesce(operations.told(l.details, 'audit'), r.audit_digest) = r.audit_digest
)
