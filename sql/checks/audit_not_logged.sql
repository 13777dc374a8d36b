-- Audits of which the log does not tell publication, outcome and what is printed as they stand. An older
-- version did not tell all of it; of a run of which the log does not know who submitted it, it tells nothing
-- where the audit is older than the log.
SELECT a.release_id, a.digest
FROM operations.audit a
WHERE (
    a.audited_at >= (SELECT min(b.recorded_at) FROM operations.log b)
    OR EXISTS (SELECT 1 FROM operations.log s WHERE s.action IN ('submit', 'audit')
        AND s.subject = a.release_id)
) AND NOT EXISTS (
    SELECT 1 FROM operations.log l
    WHERE l.action = 'audit' AND l.subject = a.release_id
        AND operations.told(l.details, 'audit') = a.digest
        AND operations.told(l.details, 'publication') = a.publication_digest
        AND operations.told(l.details, 'passed') = CASE WHEN a.passed THEN 'true' ELSE 'false' END
        AND (
            NOT operations.tells(l.details, 'printed')
            OR (
                coalesce(operations.told(l.details, 'printed'), '') = coalesce(a.printed_digest, '')
                AND operations.told(l.details, 'lps') = CAST(a.lps AS text)
            )
        )
)
