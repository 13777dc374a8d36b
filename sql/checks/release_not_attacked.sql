-- Releases whose audit left out a profile that their terms ask for.
SELECT r.release_id, w.column1 AS profile
FROM dissemination.release r
JOIN operations.submission s ON s.release_id = r.release_id
JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
JOIN operations.audit a ON a.release_id = r.release_id AND a.digest = r.audit_digest
CROSS JOIN (VALUES ('external'), ('internal'), ('coalition'), ('vintage')) w
WHERE ',' || t.profiles || ',' LIKE '%,' || w.column1 || ',%' AND ',' || a.profiles || ',' NOT LIKE '%,' || w.column1 || ',%'
