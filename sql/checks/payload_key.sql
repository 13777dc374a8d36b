-- Payloads that another key encrypts than the one in use: who takes the old key away cannot read them any
-- more. Remedy: sdc rotate-keys
SELECT p.digest, p.key_id, s.key_id AS in_use
FROM confidential.payload p
JOIN confidential.secret s ON p.key_id <> s.key_id
