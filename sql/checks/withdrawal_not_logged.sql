-- Agreements to take a release back of which the log does not tell that this name, by this account, agreed to
-- exactly this reason.
SELECT w.release_id, w.agreed_by, w.account
FROM operations.withdrawal w
WHERE NOT EXISTS (
    SELECT 1 FROM operations.log l
    WHERE l.action = 'agree' AND l.subject = w.release_id AND l.actor = w.agreed_by AND l.account = w.account
        AND operations.told(l.details, 'reason') = w.reason
)
