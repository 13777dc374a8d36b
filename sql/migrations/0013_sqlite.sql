-- The figures of a structure and period belong to the domain that published them first: no audit attacks two domains together.
CREATE TRIGGER release_one_domain BEFORE INSERT ON release
WHEN EXISTS (SELECT 1 FROM release WHERE domain <> NEW.domain AND period = NEW.period) BEGIN
    SELECT raise(ABORT, 'release refused: another domain has published these figures of the period')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    JOIN release r ON r.period = NEW.period AND r.domain <> NEW.domain
    JOIN submission rs ON rs.release_id = r.release_id
    JOIN terms rt ON rt.domain = rs.domain AND rt.digest = rs.terms_digest
    WHERE s.release_id = NEW.release_id
        AND substr(json_extract(t.settings, '$.structure_id'), 1, instr(json_extract(t.settings, '$.structure_id') || '(', '(') - 1)
            IS substr(json_extract(rt.settings, '$.structure_id'), 1, instr(json_extract(rt.settings, '$.structure_id') || '(', '(') - 1)
        AND EXISTS (
            SELECT 1
            FROM eu_cell c
            JOIN eu_cell rc ON rc.indicator = c.indicator
            WHERE c.domain = NEW.domain AND c.period = NEW.period AND c.publication_digest = NEW.publication_digest
                AND rc.domain = r.domain AND rc.period = r.period AND rc.publication_digest = r.publication_digest
        );
END;
