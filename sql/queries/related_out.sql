-- Every publication that was released: domain, period and its digest.
SELECT DISTINCT r.domain, r.period, r.publication_digest AS publication
FROM dissemination.release r
ORDER BY r.domain, r.period, r.publication_digest
