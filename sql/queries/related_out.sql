-- Every published version: domain, period, version and digest, and the settings of its domain then.
SELECT r.domain, r.period, r.version, r.publication_digest AS publication, t.settings
FROM dissemination.release r
LEFT JOIN operations.submission s ON s.release_id = r.release_id
LEFT JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
ORDER BY r.domain, r.period, r.version
