-- Every release, also those that nothing was published of, newest first: what became of it, and what its terms asked for.
SELECT u.release_id, u.domain, u.period, u.state, u.started_at, u.finished_at, s.submitter, s.terms_digest,
    t.approvals AS approvals_asked,
    (SELECT count(DISTINCT p.approver) FROM operations.approval p WHERE p.release_id = u.release_id) AS approvals,
    EXISTS (SELECT 1 FROM operations.audit a WHERE a.release_id = u.release_id AND a.passed) AS passed,
    r.version, r.publication_digest, r.released_at, coalesce(r.embargo, s.embargo) AS embargo,
    x.reason AS retracted, v.release_id IS NOT NULL AS visible
FROM operations.run u
LEFT JOIN operations.submission s ON s.release_id = u.release_id
LEFT JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
LEFT JOIN dissemination.release r ON r.release_id = u.release_id
LEFT JOIN dissemination.retraction x ON x.release_id = u.release_id
LEFT JOIN dissemination.public_release v ON v.release_id = u.release_id
ORDER BY u.started_at DESC, u.release_id
