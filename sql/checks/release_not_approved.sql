-- Releases submitted under terms that ask for more approvals than there are.
SELECT r.release_id, t.approvals AS asked, count(a.approver) AS given
FROM dissemination.release r
JOIN operations.submission s ON s.release_id = r.release_id
JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
LEFT JOIN operations.approval a
    ON a.release_id = r.release_id AND a.audit_digest = r.audit_digest
        AND a.publication_digest = r.publication_digest
    AND a.approver <> s.submitter
GROUP BY r.release_id, t.approvals
HAVING count(a.approver) < t.approvals
