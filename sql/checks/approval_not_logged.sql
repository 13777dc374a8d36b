-- Approvals of which the log does not tell that this name, by this account, agreed to exactly this audit,
-- with this note, without these newer deliveries.
SELECT a.release_id, a.approver, a.account
FROM operations.approval a
WHERE NOT EXISTS (
    SELECT 1 FROM operations.log l
    WHERE l.action = 'approve' AND l.subject = a.release_id AND l.actor = a.approver
        AND operations.told(l.details, 'audit') = a.audit_digest
        AND operations.told(l.details, 'publication') = a.publication_digest
        AND operations.told(l.details, 'note') = a.note
        AND coalesce(operations.told(l.details, 'without'), '') = coalesce(a.without, '')
        AND (a.account IS NULL OR l.account = a.account)
)
