-- As payload_overdue.postgresql.sql, in the words of SQLite.
WITH asked AS (
    SELECT s.domain, t.retention_days, t.profiles, max(s.submitted_at) AS newest
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    GROUP BY s.domain
), used AS (
    SELECT d.digest, d.domain, d.period, max(d.received_at, f.stored_at) AS happened, FALSE AS history
    FROM delivery d
    JOIN artefact f ON f.digest = d.digest
    UNION ALL
    SELECT s.artefact_digest, r.domain, r.period, s.finished_at, s.step IN ('assemble', 'bases')
        AND s.key = '' AND v.release_id IS NOT NULL
    FROM step s
    JOIN run r ON r.release_id = s.release_id
    LEFT JOIN "release" v ON v.release_id = s.release_id
), last AS (
    SELECT domain, period, max(happened) AS happened FROM used GROUP BY domain, period
), kept AS (
    SELECT u.digest
    FROM used u
    JOIN last l ON l.domain = u.domain AND l.period = u.period
    LEFT JOIN asked a ON a.domain = u.domain
    WHERE a.retention_days IS NULL
        OR l.happened > strftime('%Y-%m-%d %H:%M:%f', 'now', '-' || a.retention_days || ' days')
        OR (u.history AND instr(',' || a.profiles || ',', ',vintage,') > 0)
)
SELECT p.digest, f.kind, f.stored_at
FROM payload p
JOIN artefact f ON f.digest = p.digest
WHERE NOT EXISTS (SELECT 1 FROM kept k WHERE k.digest = p.digest)
    AND (
        EXISTS (SELECT 1 FROM used u WHERE u.digest = p.digest)
        OR f.stored_at <= strftime('%Y-%m-%d %H:%M:%f', 'now',
            '-' || (SELECT min(retention_days) FROM asked) || ' days')
    )
