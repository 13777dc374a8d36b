-- What other domains have published of a period: domain and settings of the terms.
SELECT r.domain, t.settings
FROM dissemination.release r
JOIN operations.submission s ON s.release_id = r.release_id
JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
WHERE r.period = :period AND r.domain <> :domain
ORDER BY r.domain, r.version
