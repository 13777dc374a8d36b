-- Releases of which the log does not tell that exactly this publication went out.
SELECT r.release_id, r.version, r.publication_digest
FROM dissemination.release r
WHERE NOT EXISTS (
    SELECT 1 FROM operations.log l
    WHERE l.action = 'release' AND l.subject = r.release_id AND l.details LIKE '%' || r.publication_digest || '%'
)
