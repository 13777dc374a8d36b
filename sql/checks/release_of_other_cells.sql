-- Releases whose stored cells are not, row by row, what was audited. Audits of older versions did not tell
-- what is printed.
SELECT r.release_id, r.publication_digest
FROM dissemination.release r
JOIN operations.audit a ON a.release_id = r.release_id AND a.digest = r.audit_digest
WHERE a.printed_digest IS NOT NULL
    AND a.printed_digest <> dissemination.printed_digest(r.domain, r.period, r.publication_digest)
