-- Releases whose certificate names other versions than those that came out before them. A certificate of an
-- older version names none.
SELECT r.release_id, r.version
FROM dissemination.release r
JOIN operations.audit a ON a.release_id = r.release_id AND a.digest = r.audit_digest
WHERE operations.told(a.certificate, 'beside') <> coalesce(
    (
        SELECT '["' || group_concat(b.publication_digest, '", "') || '"]'
        FROM (SELECT * FROM dissemination.release ORDER BY version) b
        WHERE b.domain = r.domain AND b.period = r.period AND b.version < r.version
    ),
    ''
)
