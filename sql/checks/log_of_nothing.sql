-- Entries of the log that tell of a delivery, a submission, an audit, an approval, a release, a retraction or
-- an agreement to one that is not there.
SELECT l.number, l.action, l.subject
FROM operations.log l
WHERE (l.action = 'release'
    AND NOT EXISTS (SELECT 1 FROM dissemination.release r WHERE r.release_id = l.subject))
    OR (l.action = 'retract'
        AND NOT EXISTS (SELECT 1 FROM dissemination.retraction t WHERE t.release_id = l.subject))
    OR (
        l.action IN ('approve', 'reject', 'audit')
        AND NOT EXISTS (
            SELECT 1 FROM operations.audit a
            WHERE a.release_id = l.subject AND a.digest = operations.told(l.details, 'audit')
        )
    )
    OR (
        l.action = 'approve'
        AND NOT EXISTS (
            SELECT 1 FROM operations.approval a
            WHERE a.release_id = l.subject AND a.approver = l.actor
                AND a.audit_digest = operations.told(l.details, 'audit')
        )
    )
    OR (
        l.action = 'agree'
        AND NOT EXISTS (
            SELECT 1 FROM operations.withdrawal w
            WHERE w.release_id = l.subject AND w.agreed_by = l.actor
                AND w.reason = operations.told(l.details, 'reason')
        )
    )
    OR (
        l.action = 'submit'
        AND NOT EXISTS (SELECT 1 FROM operations.submission s WHERE s.release_id = l.subject
            AND s.submitter = l.actor)
    )
    OR (
        l.action IN ('receive', 'accept', 'refuse', 'supersede', 'keep', 'replace', 'both')
        AND NOT EXISTS (
            SELECT 1 FROM operations.delivery d
            WHERE d.digest = l.subject AND d.domain = operations.told(l.details, 'domain')
                AND d.period = operations.told(l.details, 'period')
        )
    )
    OR (
        operations.told(l.details, 'instead_of') IS NOT NULL AND l.action = 'accept'
        AND NOT EXISTS (
            SELECT 1 FROM operations.delivery d
            WHERE d.digest = operations.told(l.details, 'instead_of')
                AND d.domain = operations.told(l.details, 'domain')
                AND d.period = operations.told(l.details, 'period')
        )
    )
