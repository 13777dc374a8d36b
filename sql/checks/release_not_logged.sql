-- Releases of which the log does not tell that exactly this publication went out as this version, on this
-- audit, and why other domains are unrelated to it where its terms say so.
SELECT r.release_id, r.version, r.publication_digest
FROM dissemination.release r
WHERE NOT EXISTS (
    SELECT 1 FROM operations.log l
    WHERE l.action = 'release' AND l.subject = r.release_id
        AND operations.told(l.details, 'publication') = r.publication_digest
        AND operations.told(l.details, 'version') = CAST(r.version AS text)
        AND coalesce(operations.told(l.details, 'audit'), r.audit_digest) = r.audit_digest
        AND coalesce(operations.told(l.details, 'unrelated'), '') = coalesce(
            (
                SELECT operations.told(t.settings, 'unrelated')
                FROM operations.submission s
                JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
                WHERE s.release_id = r.release_id
            ),
            ''
        )
)
