-- Entries of the log that tell of a release, an approval or a retraction that is not there.
SELECT l.number, l.action, l.subject
FROM operations.log l
WHERE (l.action = 'release' AND NOT EXISTS (SELECT 1 FROM dissemination.release r WHERE r.release_id = l.subject))
    OR (l.action = 'retract' AND NOT EXISTS (SELECT 1 FROM dissemination.retraction t WHERE t.release_id = l.subject))
    OR (
        l.action = 'approve'
        AND NOT EXISTS (SELECT 1 FROM operations.approval a WHERE a.release_id = l.subject AND a.approver = l.actor)
    )
