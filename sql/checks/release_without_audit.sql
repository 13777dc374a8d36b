-- Releases that no passed audit of exactly their publication stands behind.
SELECT r.release_id, r.publication_digest, r.audit_digest
FROM dissemination.release r
LEFT JOIN operations.audit a
    ON a.release_id = r.release_id AND a.digest = r.audit_digest
        AND a.publication_digest = r.publication_digest AND a.passed
WHERE a.digest IS NULL
