-- All that was released of a period, with the reason where it was retracted.
SELECT r.release_id, r.version, r.publication_digest, t.reason
FROM dissemination.release r
LEFT JOIN dissemination.retraction t ON t.release_id = r.release_id
WHERE r.domain = :domain AND r.period = :period
ORDER BY r.version
