-- Who agreed to each release, on its newest passed audit, in order.
SELECT p.release_id, p.approver
FROM operations.approval p
WHERE p.audit_digest = (
    SELECT a.digest FROM operations.audit a
    WHERE a.release_id = p.release_id AND a.passed ORDER BY a.audited_at DESC, a.digest LIMIT 1
)
ORDER BY p.approved_at, p.approver
