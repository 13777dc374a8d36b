-- Figures that may be those of another domain or frequency that are out, or sums or parts of them, stay in: no audit attacks both together.
-- A domain file may say of another domain why they are unrelated; the certificate names the reason. The functions same_time and akin are
-- those of sdc_tasks/warehouse/forms/related.py.
CREATE TRIGGER release_related BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: its certificate does not name why other domains are unrelated')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    LEFT JOIN audit a ON a.release_id = s.release_id AND a.digest = NEW.audit_digest
    WHERE s.release_id = NEW.release_id AND told(t.settings, 'unrelated') IS NOT told(a.certificate, 'unrelated');
    SELECT raise(ABORT, 'release refused: beside figures that may be the same, or sums of them')
    FROM (
        SELECT DISTINCT r.domain, r.period, r.publication_digest, s.terms_digest
        FROM release r LEFT JOIN submission s ON s.release_id = r.release_id
        WHERE (r.domain <> NEW.domain OR r.period <> NEW.period) AND same_time(r.period, NEW.period)
    ) b
    LEFT JOIN terms bt ON bt.domain = b.domain AND bt.digest = b.terms_digest
    LEFT JOIN submission s ON s.release_id = NEW.release_id
    LEFT JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    WHERE CASE
        WHEN b.domain = NEW.domain THEN 1
        WHEN trim(told(t.settings, 'unrelated', b.domain)) <> '' THEN 0
        ELSE akin(t.settings, bt.settings)
    END AND EXISTS (
        SELECT 1
        FROM (
            SELECT DISTINCT upper(c.indicator) AS indicator FROM eu_cell c
            WHERE c.domain = NEW.domain AND c.period = NEW.period AND c.publication_digest = NEW.publication_digest
        ) ours
        WHERE EXISTS (
            SELECT 1 FROM eu_cell c
            WHERE c.domain = b.domain AND c.period = b.period AND c.publication_digest = b.publication_digest
                AND upper(c.indicator) = ours.indicator
        )
    );
END;

-- A warehouse has one secret: where the log tells of one, no other is stored, and what it is called by does not change.
CREATE TRIGGER secret_gate BEFORE INSERT ON secret
WHEN NEW.fingerprint IS NULL
    OR EXISTS (SELECT 1 FROM log l WHERE l.action IN ('make', 'name') AND l.subject LIKE 'confidential_secret')
    AND NOT EXISTS (
        SELECT 1 FROM log l
        WHERE l.action IN ('make', 'name') AND l.subject LIKE 'confidential_secret' AND told(l.details, 'fingerprint') = NEW.fingerprint
    ) BEGIN
    SELECT raise(ABORT, 'secret refused: the log tells of another secret of this warehouse');
END;

CREATE TRIGGER secret_named BEFORE UPDATE ON secret
WHEN OLD.fingerprint IS NOT NULL AND NEW.fingerprint IS NOT OLD.fingerprint OR OLD.kept AND NOT NEW.kept BEGIN
    SELECT raise(ABORT, 'secret refused: it is named already, and the same for ever');
END;

-- What is drawn by the secret goes out with a certificate that names it, and where the office has the secret elsewhere too: a restored
-- warehouse, or another one, would draw other tables of the same period, and two of them tell what each alone does not.
CREATE TRIGGER release_secret BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: its certificate names another secret than this warehouse has')
    FROM audit a
    WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest AND told(a.certificate, 'secret') IS NOT NULL
        AND told(a.certificate, 'secret') IS NOT (SELECT fingerprint FROM secret);
    SELECT raise(ABORT, 'release refused: it is drawn by a secret that is not named, or kept nowhere else')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    LEFT JOIN audit a ON a.release_id = s.release_id AND a.digest = NEW.audit_digest
    WHERE s.release_id = NEW.release_id
        AND (told(t.settings, 'bases', 'rule_aware') IS 'true' OR coalesce(told(t.settings, 'indicators'), '') LIKE '%"rounding": {%')
        AND (told(a.certificate, 'secret') IS NULL OR (SELECT kept FROM secret) IS NOT 1);
END;

-- What an earlier version of the period asked for, a later one needs too: whoever loosens the domain file does not decide alone, and what is
-- out was promised against attackers whom the later version must withstand as well.
CREATE TRIGGER release_asked_before BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: an earlier version of the period asked for more approvals or attackers')
    FROM release r
    JOIN submission s ON s.release_id = r.release_id
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    JOIN audit b ON b.release_id = r.release_id AND b.digest = r.audit_digest
    JOIN json_each('["' || replace(b.profiles, ',', '","') || '"]') AS asked
    WHERE r.domain = NEW.domain AND r.period = NEW.period AND (
        t.approvals > (
            SELECT count(DISTINCT a.approver) FROM approval a
            WHERE a.release_id = NEW.release_id AND a.audit_digest = NEW.audit_digest AND a.publication_digest = NEW.publication_digest
                AND a.account IS NOT NULL
        )
        OR NOT EXISTS (
            SELECT 1 FROM audit a
            WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
                AND instr(',' || a.profiles || ',', ',' || asked.value || ',') > 0
        )
    );
END;
