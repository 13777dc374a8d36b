-- Audits that are stored otherwise than their certificate has it, or whose certificate is of another digest,
-- run or terms. What a certificate of an older version does not tell is not asked.
SELECT a.release_id, a.digest
FROM operations.audit a
JOIN operations.run r ON r.release_id = a.release_id
LEFT JOIN operations.submission s ON s.release_id = a.release_id
WHERE a.digest <> operations.sha256_hex(a.certificate)
    OR operations.told(a.certificate, 'digests', 'problem') <> a.problem_digest
    OR operations.told(a.certificate, 'digests', 'publication') <> a.publication_digest
    OR operations.told(a.certificate, 'profiles') <> '["' || replace(a.profiles, ',', '", "') || '"]'
    OR operations.told(a.certificate, 'verdict') <> CASE WHEN a.passed THEN 'passed' ELSE 'failed' END
    OR operations.told(a.certificate, 'counts', 'primaries') <> CAST(a.primaries AS text)
    OR operations.told(a.certificate, 'counts', 'broken_requirements') <> CAST(a.broken AS text)
    OR operations.told(a.certificate, 'domain') <> r.domain
    OR operations.told(a.certificate, 'period') <> r.period
    OR operations.told(a.certificate, 'digests', 'domain') <> s.terms_digest
