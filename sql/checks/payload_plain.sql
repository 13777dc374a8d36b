-- Payloads that are not encrypted: an older version stored them. Remedy: sdc rotate-keys
SELECT digest FROM confidential.payload WHERE key_id IS NULL
