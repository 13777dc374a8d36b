-- The next version was attacked beside every version that is out, which its certificate names by their publications.
CREATE TRIGGER release_beside BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: other versions are out than its audit knew')
    WHERE (
        SELECT '["' || group_concat(publication_digest, '", "') || '"]'
        FROM (SELECT publication_digest FROM release WHERE domain = NEW.domain AND period = NEW.period ORDER BY version)
    ) IS NOT (SELECT told(certificate, 'beside') FROM audit WHERE release_id = NEW.release_id AND digest = NEW.audit_digest);
END;
