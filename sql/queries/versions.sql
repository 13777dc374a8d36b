-- All that was released of a period, with the reason where it was retracted, what its terms asked for, and
-- whom it withstood.
SELECT r.release_id, r.version, r.publication_digest, t.reason, asked.approvals, asked.settings,
    audited.profiles
FROM dissemination.release r
LEFT JOIN operations.submission s ON s.release_id = r.release_id
LEFT JOIN operations.terms asked ON asked.domain = s.domain AND asked.digest = s.terms_digest
LEFT JOIN operations.audit audited ON audited.release_id = r.release_id AND audited.digest = r.audit_digest
LEFT JOIN dissemination.retraction t ON t.release_id = r.release_id
WHERE r.domain = :domain AND r.period = :period
ORDER BY r.version
