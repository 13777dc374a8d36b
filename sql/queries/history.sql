-- Every release, also those that nothing was published of, newest first: what became of it, what its terms
-- asked for, how many people agreed on its newest passed audit, the last decision of a person, whether it was
-- made of other deliveries than are accepted now, whether it was made of some that do not count any more
-- (neither is so of a version that a later one followed), and, before it is published, whether a second file
-- of a country waits for an answer.
WITH dropped AS (
    SELECT DISTINCT i.release_id FROM operations.step i
    INNER JOIN operations.run o ON o.release_id = i.release_id
    INNER JOIN operations.delivery d ON d.domain = o.domain AND d.period = o.period AND d.digest = i.key
    WHERE i.step = 'delivery' AND (
        d.state NOT IN ('accepted', 'superseded')
        OR d.state = 'superseded' AND NOT EXISTS (
            SELECT 1 FROM operations.delivery c
            WHERE c.domain = o.domain AND c.period = o.period AND c.country = d.country
                AND c.state = 'accepted'
                AND NOT EXISTS (
                    SELECT 1 FROM operations.step j
                    WHERE j.release_id = i.release_id AND j.step = 'delivery' AND j.key = c.digest
                )
        )
    )
)
SELECT u.release_id, u.domain, u.period, u.state, u.started_at, u.finished_at, s.submitter, s.terms_digest,
    t.approvals AS approvals_asked,
    (
        SELECT count(DISTINCT p.approver) FROM operations.approval p
        WHERE p.release_id = u.release_id AND p.audit_digest = (
            SELECT a.digest FROM operations.audit a
            WHERE a.release_id = u.release_id AND a.passed ORDER BY a.audited_at DESC, a.digest LIMIT 1
        )
    ) AS approvals,
    EXISTS (SELECT 1 FROM operations.audit a WHERE a.release_id = u.release_id AND a.passed) AS passed,
    r.version, r.publication_digest, r.released_at, coalesce(r.embargo, s.embargo) AS embargo,
    x.reason AS retracted, v.release_id IS NOT NULL AS visible,
    l.action AS decision, l.actor AS decided_by, l.details AS decision_details,
    n.release_id IS NULL AND (
        o.release_id IS NOT NULL
        OR EXISTS (SELECT 1 FROM operations.step i WHERE i.release_id = u.release_id AND i.step = 'delivery')
        AND EXISTS (
            SELECT 1 FROM operations.delivery d
            WHERE d.domain = u.domain AND d.period = u.period AND d.state = 'accepted'
                AND NOT EXISTS (
                    SELECT 1 FROM operations.step i
                    WHERE i.release_id = u.release_id AND i.step = 'delivery' AND i.key = d.digest
                )
        )
    ) AS newer,
    n.release_id IS NULL AND o.release_id IS NOT NULL AS dropped,
    r.version IS NULL AND u.state <> 'published' AND EXISTS (
        SELECT 1 FROM operations.delivery_now d
        WHERE d.domain = u.domain AND d.period = u.period AND d.state = 'waiting'
    ) AS second
FROM operations.run u
LEFT JOIN operations.submission s ON s.release_id = u.release_id
LEFT JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
LEFT JOIN dissemination.release r ON r.release_id = u.release_id
LEFT JOIN dissemination.release n ON n.domain = r.domain AND n.period = r.period AND n.version = r.version + 1
LEFT JOIN dropped o ON o.release_id = u.release_id
LEFT JOIN dissemination.retraction x ON x.release_id = u.release_id
LEFT JOIN dissemination.public_release v ON v.release_id = u.release_id
LEFT JOIN operations.log l ON l.number = (
    SELECT max(m.number) FROM operations.log m
    WHERE m.subject = u.release_id AND m.action IN ('approve', 'reject')
)
ORDER BY u.started_at DESC, u.release_id
