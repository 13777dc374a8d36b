-- Releases whose embargo is not that of their submission.
SELECT r.release_id, r.version
FROM dissemination.release r
JOIN operations.submission s ON s.release_id = r.release_id
WHERE coalesce(operations.instant(r.embargo), '') <> coalesce(operations.instant(s.embargo), '')
