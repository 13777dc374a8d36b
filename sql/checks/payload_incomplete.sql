-- Artefacts whose bytes are missing, though nobody purged them, are there though somebody did, or have
-- another length than stored (28 more where encrypted).
SELECT a.digest, a.kind, a.size, length(p.content) AS stored
FROM operations.artefact a
LEFT JOIN confidential.payload p ON p.digest = a.digest
WHERE (p.digest IS NULL) <> (a.purged_at IS NOT NULL)
    OR length(p.content) <> a.size + CASE WHEN p.key_id IS NULL THEN 0 ELSE 28 END
