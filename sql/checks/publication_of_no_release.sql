-- Publications that were stored and not released: the publisher stores both in one transaction, so somebody
-- else wrote them.
SELECT p.domain, p.period, p.digest
FROM dissemination.publication p
WHERE NOT EXISTS (
    SELECT 1 FROM dissemination.release r
    WHERE r.domain = p.domain AND r.period = p.period AND r.publication_digest = p.digest
)
