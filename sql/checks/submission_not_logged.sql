-- Submissions of which the log does not tell, by the submitter, the terms and all that they ask for, the
-- inputs, the program and the embargo as they stand. An older version did not tell all of it.
SELECT s.release_id, s.submitter
FROM operations.submission s
LEFT JOIN operations.run u ON u.release_id = s.release_id
LEFT JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
WHERE NOT EXISTS (
    SELECT 1 FROM operations.log l
    WHERE l.action = 'submit' AND l.subject = s.release_id AND l.actor = s.submitter
        AND operations.told(l.details, 'terms') = s.terms_digest
        AND operations.told(l.details, 'environment') = operations.sha256_hex(s.environment)
        AND (
            NOT operations.tells(l.details, 'asks')
            OR (
                operations.told(l.details, 'asks') = operations.sha256_hex(
                    t.profiles || '|' || t.approvals || '|'
                    || coalesce(CAST(t.retention_days AS text), '') || '|' || t.settings
                )
                AND coalesce(operations.told(l.details, 'inputs'), '') = coalesce(u.inputs_digest, '')
                AND coalesce(operations.told(l.details, 'embargo'), '')
                    = coalesce(operations.instant(s.embargo), '')
            )
        )
)
