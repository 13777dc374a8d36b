-- Releases whose certificate names another secret than this warehouse has: somebody brought them, or the secret, from another warehouse.
SELECT r.release_id, operations.told(a.certificate, 'secret') AS secret
FROM dissemination.release r
JOIN operations.audit a ON a.release_id = r.release_id AND a.digest = r.audit_digest
WHERE operations.told(a.certificate, 'secret') IS NOT NULL
    AND operations.told(a.certificate, 'secret') <> coalesce((SELECT s.fingerprint FROM confidential.secret s), '')
