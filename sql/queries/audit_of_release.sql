-- The passed audits of exactly this publication, newest first.
SELECT a.digest, a.certificate
FROM operations.audit a
JOIN operations.run r ON r.release_id = a.release_id
WHERE a.release_id = :release_id
    AND a.problem_digest = :problem
    AND a.publication_digest = :publication
    AND a.profiles = :profiles
    AND a.passed
    AND r.domain = :domain
    AND r.period = :period
ORDER BY a.audited_at DESC
