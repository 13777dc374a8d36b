-- Releases whose audit left out a profile that their terms ask for, or vintage though another version of the
-- period was out; and those whose terms or audit name no profile, or an unknown one.
SELECT r.release_id, p.name AS profile
FROM dissemination.release r
JOIN operations.submission s ON s.release_id = r.release_id
JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
JOIN operations.audit a ON a.release_id = r.release_id AND a.digest = r.audit_digest
CROSS JOIN operations.profile p
WHERE ',' || a.profiles || ',' NOT LIKE '%,' || p.name || ',%' AND (
    ',' || t.profiles || ',' LIKE '%,' || p.name || ',%'
    OR (
        p.name = 'vintage'
        AND EXISTS (
            SELECT 1 FROM dissemination.release b
            WHERE b.domain = r.domain AND b.period = r.period AND b.version < r.version
        )
        AND NOT EXISTS (SELECT 1 FROM dissemination.retraction g WHERE g.release_id = r.release_id)
    )
)
UNION ALL
SELECT named.release_id, named.profiles AS profile
FROM (
    SELECT s.release_id, t.profiles
    FROM operations.submission s JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    UNION
    SELECT a.release_id, a.profiles FROM operations.audit a
) named
JOIN dissemination.release r ON r.release_id = named.release_id
WHERE (
    SELECT count(*) FROM operations.profile p WHERE ',' || named.profiles || ',' LIKE '%,' || p.name || ',%'
) <> length(named.profiles) - length(replace(named.profiles, ',', '')) + 1
