-- Figures that may be those of another domain or frequency that are out, or sums or parts of them, stay in
-- unless the audit attacked both together: its certificate names every publication of what its domain file
-- links to it, and that reaches its period through periods that overlap. A domain file may say why another
-- domain is unrelated; the certificate names the reason. The functions are those of
-- sdc_tasks/warehouse/forms/related.py.
DROP TRIGGER release_related;

CREATE TRIGGER release_related BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: its certificate does not name why other domains are unrelated')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    LEFT JOIN audit a ON a.release_id = s.release_id AND a.digest = NEW.audit_digest
    WHERE s.release_id = NEW.release_id
        AND told(t.settings, 'unrelated') IS NOT told(a.certificate, 'unrelated');
    SELECT raise(ABORT, 'release refused: its audit did not know a related publication that is out')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    LEFT JOIN audit a ON a.release_id = s.release_id AND a.digest = NEW.audit_digest
    WHERE s.release_id = NEW.release_id AND EXISTS (
        SELECT 1 FROM release r
        WHERE (r.domain <> NEW.domain OR r.period <> NEW.period)
            AND NOT knew(a.certificate, r.domain, r.period, r.version, r.publication_digest)
            AND belongs(t.settings, NEW.domain, r.domain, (
                SELECT json_group_array(json_array(o.domain, ot.settings)) FROM release o
                LEFT JOIN submission os ON os.release_id = o.release_id
                LEFT JOIN terms ot ON ot.domain = os.domain AND ot.digest = os.terms_digest
            ))
            AND reaches(NEW.period, r.period, (
                SELECT json_group_array(o.period) FROM release o
                WHERE (o.domain <> NEW.domain OR o.period <> NEW.period)
                    AND belongs(t.settings, NEW.domain, o.domain, (
                        SELECT json_group_array(json_array(p.domain, pt.settings)) FROM release p
                        LEFT JOIN submission ps ON ps.release_id = p.release_id
                        LEFT JOIN terms pt ON pt.domain = ps.domain AND pt.digest = ps.terms_digest
                    ))
            ))
    );
    SELECT raise(ABORT, 'release refused: beside figures that may be the same, or sums of them')
    FROM (
        SELECT DISTINCT r.domain, r.period, r.publication_digest, s.terms_digest
        FROM release r LEFT JOIN submission s ON s.release_id = r.release_id
        WHERE (r.domain <> NEW.domain OR r.period <> NEW.period) AND same_time(r.period, NEW.period)
    ) b
    LEFT JOIN terms bt ON bt.domain = b.domain AND bt.digest = b.terms_digest
    LEFT JOIN submission s ON s.release_id = NEW.release_id
    LEFT JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    WHERE NOT belongs(t.settings, NEW.domain, b.domain, (
        SELECT json_group_array(json_array(o.domain, ot.settings)) FROM release o
        LEFT JOIN submission os ON os.release_id = o.release_id
        LEFT JOIN terms ot ON ot.domain = os.domain AND ot.digest = os.terms_digest
    ))
    AND CASE
        WHEN b.domain = NEW.domain THEN 1
        WHEN trim(told(t.settings, 'unrelated', b.domain)) <> '' THEN links(bt.settings, b.domain, NEW.domain)
        ELSE akin(t.settings, bt.settings)
    END AND EXISTS (
        SELECT 1
        FROM (
            SELECT DISTINCT upper(c.indicator) AS indicator FROM eu_cell c
            WHERE c.domain = NEW.domain AND c.period = NEW.period
                AND c.publication_digest = NEW.publication_digest
        ) ours
        WHERE EXISTS (
            SELECT 1 FROM eu_cell c
            WHERE c.domain = b.domain AND c.period = b.period AND c.publication_digest = b.publication_digest
                AND upper(c.indicator) = ours.indicator
        )
    );
END;
