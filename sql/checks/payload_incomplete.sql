-- Artefacts whose bytes are missing or have another length than stored.
SELECT a.digest, a.kind, a.size, length(p.content) AS stored
FROM operations.artefact a
LEFT JOIN confidential.payload p ON p.digest = a.digest
WHERE p.digest IS NULL OR length(p.content) <> a.size
