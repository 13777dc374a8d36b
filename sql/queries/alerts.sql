-- The alerts whose reason still stands, newest first: the states decide, so no alert outlives its reason, and
-- two cannot contradict each other. `country` is the late country.
WITH newest AS (
    SELECT domain, period, max(started_at) AS started_at FROM operations.run GROUP BY domain, period
)
SELECT a.domain, a.period, a.kind, a.subject, a.raised_at, a.said,
    CASE WHEN a.kind = 'delivery' THEN a.subject END AS country
FROM operations.alert a
LEFT JOIN operations.dag_run r ON r.domain = a.domain AND r.period = a.period AND r.run_id = a.subject
LEFT JOIN operations.run u ON u.release_id = coalesce(r.release_id, a.subject)
LEFT JOIN newest n ON n.domain = a.domain AND n.period = a.period
WHERE CASE a.kind
    WHEN 'delivery' THEN NOT EXISTS (
        SELECT 1 FROM operations.delivery d
        WHERE d.domain = a.domain AND d.period = a.period AND d.country = a.subject AND d.state = 'accepted'
    )
    WHEN 'ready' THEN u.release_id IS NULL AND coalesce(n.started_at <= a.raised_at, TRUE)
        AND NOT EXISTS (
            SELECT 1 FROM operations.alert l
            WHERE l.domain = a.domain AND l.period = a.period AND l.kind = 'ready'
                AND l.raised_at > a.raised_at
        )
        AND NOT EXISTS (SELECT 1 FROM operations.delivery d WHERE d.domain = a.domain AND d.period = a.period
            AND d.state = 'received')
        AND NOT EXISTS (SELECT 1 FROM operations.unread f WHERE f.domain = a.domain AND f.period = a.period)
    WHEN 'asked' THEN EXISTS (
        SELECT 1 FROM operations.dag_run q
        JOIN operations.run w ON w.release_id = q.release_id
        WHERE q.domain = a.domain AND q.period = a.period AND w.state = 'waiting'
            AND q.state NOT IN ('success', 'failed')
            AND substr(a.subject, 1, length(q.run_id) + 1) = q.run_id || ' '
            AND NOT EXISTS (
                SELECT 1 FROM operations.run z
                WHERE z.domain = w.domain AND z.period = w.period AND z.started_at > w.started_at
                    AND z.state IN ('waiting', 'published')
            )
    )
    WHEN 'retraction' THEN EXISTS (
        SELECT 1 FROM operations.dag_run q
        WHERE q.dag_id = 'retract_release' AND q.state NOT IN ('success', 'failed')
            AND substr(a.subject, 1, length(q.run_id) + 1) = q.run_id || ' '
            AND NOT EXISTS (SELECT 1 FROM dissemination.retraction t WHERE t.release_id = q.release_id)
            AND NOT EXISTS (
                SELECT 1 FROM operations.alert l
                WHERE l.domain = a.domain AND l.period = a.period AND l.kind = a.kind
                    AND l.raised_at > a.raised_at
                    AND substr(l.subject, 1, length(q.run_id) + 1) = q.run_id || ' '
            )
    )
    WHEN 'own' THEN u.state = 'waiting' AND u.started_at = n.started_at AND EXISTS (
        SELECT 1 FROM operations.dag_run q
        WHERE q.release_id = u.release_id AND q.state NOT IN ('success', 'failed')
    )
    WHEN 'answer' THEN u.state = 'waiting' AND u.started_at = n.started_at AND EXISTS (
        SELECT 1 FROM operations.dag_run q
        WHERE q.release_id = u.release_id AND q.state NOT IN ('success', 'failed')
    ) AND EXISTS (
        SELECT 1 FROM operations.delivery_now d
        WHERE d.domain = a.domain AND d.period = a.period
            AND (d.state = 'waiting' OR (d.state = 'accepted' AND NOT EXISTS (
                SELECT 1 FROM operations.step i
                WHERE i.release_id = u.release_id AND i.step = 'delivery' AND i.key = d.digest
            )))
    )
    WHEN 'approval' THEN u.state = 'waiting'
        AND EXISTS (SELECT 1 FROM operations.audit p WHERE p.release_id = u.release_id AND p.passed)
        AND u.started_at = n.started_at
    WHEN 'solver' THEN coalesce(r.state, 'running') NOT IN ('success', 'failed')
        AND coalesce(u.state, 'running') IN ('running', 'failed')
        AND NOT EXISTS (SELECT 1 FROM operations.audit p WHERE p.release_id = u.release_id AND p.passed)
        AND coalesce(u.started_at = n.started_at, TRUE)
    WHEN 'protection' THEN NOT EXISTS (
        SELECT 1 FROM operations.audit p
        JOIN operations.run w ON w.release_id = p.release_id
        WHERE w.domain = a.domain AND w.period = a.period AND p.passed
    )
    ELSE TRUE
END
    AND a.domain = coalesce(:domain, a.domain) AND a.period = coalesce(:period, a.period)
ORDER BY a.raised_at DESC, a.kind, a.subject
