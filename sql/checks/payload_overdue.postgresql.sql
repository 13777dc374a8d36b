-- Payloads that are still there although their retention ended: so many days after the last that happened in
-- every period that uses them. What a released table was made of stays where the domain attacks with profile
-- vintage. A payload that nothing uses goes after the shortest of all retentions.
WITH asked AS (
    SELECT DISTINCT ON (s.domain) s.domain, t.retention_days, t.profiles
    FROM operations.submission s
    JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    ORDER BY s.domain, s.submitted_at DESC
), used AS (
    SELECT d.digest, d.domain, d.period, greatest(d.received_at, f.stored_at) AS happened, FALSE AS history
    FROM operations.delivery d
    JOIN operations.artefact f ON f.digest = d.digest
    UNION ALL
    SELECT s.artefact_digest, r.domain, r.period, s.finished_at, s.step IN ('assemble', 'bases')
        AND s.key = '' AND v.release_id IS NOT NULL
    FROM operations.step s
    JOIN operations.run r ON r.release_id = s.release_id
    LEFT JOIN dissemination.release v ON v.release_id = s.release_id
), last AS (
    SELECT domain, period, max(happened) AS happened FROM used GROUP BY domain, period
), kept AS (
    SELECT u.digest
    FROM used u
    JOIN last l ON l.domain = u.domain AND l.period = u.period
    LEFT JOIN asked a ON a.domain = u.domain
    WHERE a.retention_days IS NULL
        OR l.happened > now() - a.retention_days * interval '1 day'
        OR (u.history AND 'vintage' = ANY (string_to_array(a.profiles, ',')))
)
SELECT p.digest, f.kind, f.stored_at
FROM confidential.payload p
JOIN operations.artefact f ON f.digest = p.digest
WHERE NOT EXISTS (SELECT 1 FROM kept k WHERE k.digest = p.digest)
    AND (
        EXISTS (SELECT 1 FROM used u WHERE u.digest = p.digest)
        OR f.stored_at <= now() - (SELECT min(retention_days) FROM asked) * interval '1 day'
    )
