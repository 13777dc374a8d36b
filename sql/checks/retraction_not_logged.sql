-- Retractions of which the log does not tell who made them, and why.
SELECT t.release_id, t.retracted_by
FROM dissemination.retraction t
WHERE NOT EXISTS (
    SELECT 1 FROM operations.log l
    WHERE l.action = 'retract' AND l.subject = t.release_id AND l.actor = t.retracted_by
        AND operations.told(l.details, 'reason') = t.reason
)
