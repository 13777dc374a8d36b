-- Every published version, newest first, with what the world sees of it.
SELECT r.release_id, r.domain, r.period, r.version, r.publication_digest, r.audit_digest, r.released_at,
    r.embargo, t.reason AS retracted, p.release_id IS NOT NULL AS visible
FROM dissemination.release r
LEFT JOIN dissemination.retraction t ON t.release_id = r.release_id
LEFT JOIN dissemination.public_release p ON p.release_id = r.release_id
ORDER BY r.released_at DESC, r.version DESC
