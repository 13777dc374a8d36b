-- What terms ask for: attacker profiles that this warehouse knows, one or more, each once.
CREATE TRIGGER terms_profiles BEFORE INSERT ON terms
WHEN (
    SELECT count(*) FROM profile WHERE instr(',' || NEW.profiles || ',', ',' || name || ',') > 0
) <> length(NEW.profiles) - length(replace(NEW.profiles, ',', '')) + 1 BEGIN
    SELECT raise(ABORT, 'terms refused: attacker profiles that are unknown here, named twice, or none at all');
END;

-- What an audit is against: attacker profiles that this warehouse knows, one or more, each once.
CREATE TRIGGER audit_profiles BEFORE INSERT ON audit
WHEN (
    SELECT count(*) FROM profile WHERE instr(',' || NEW.profiles || ',', ',' || name || ',') > 0
) <> length(NEW.profiles) - length(replace(NEW.profiles, ',', '')) + 1 BEGIN
    SELECT raise(ABORT, 'audit refused: attacker profiles that are unknown here, named twice, or none at all');
END;

-- What lies here from before may ask for nothing, or for what nobody knows: it is not released.
CREATE TRIGGER release_profiles BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: attacker profiles that are unknown here, named twice, or none at all')
    FROM (
        SELECT t.profiles FROM submission s JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        WHERE s.release_id = NEW.release_id
        UNION ALL
        SELECT a.profiles FROM audit a WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
    ) named
    WHERE (
        SELECT count(*) FROM profile WHERE instr(',' || named.profiles || ',', ',' || name || ',') > 0
    ) <> length(named.profiles) - length(replace(named.profiles, ',', '')) + 1;
END;
