-- What was published, but for this period of this domain: domain, period and the digest of the terms; nothing
-- for a release without terms.
SELECT DISTINCT r.domain, r.period, s.terms_digest
FROM dissemination.release r
LEFT JOIN operations.submission s ON s.release_id = r.release_id
WHERE r.domain <> :domain OR r.period <> :period
ORDER BY r.domain, r.period, s.terms_digest
