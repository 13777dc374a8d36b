-- The gate on SQLite: what no statement gets past, also where a prompt has switched off foreign keys and
-- CHECKs. 0001_gate.postgresql.sql says the same for PostgreSQL.
--
-- SQLite knows no accounts: whoever may write the file vouches for all names in it. The functions
-- printed_digest, entry_digest, sha256_hex, told, tells and is_list are those of
-- sdc_tasks/warehouse/forms/canonical.py, is_person that of people.py, same_time and akin those of
-- related.py; at a prompt that does not know them the statement fails.
--
-- Of the triggers of a table the last one fires first, so their order decides which refusal is read. What is
-- append-only needs two of a kind: UPDATE and DELETE are refused, and by its key a row that INSERT OR REPLACE
-- would replace. The bounds of instants are set by 0001_schema.py, beside the tables.
--
-- === What is stored stays as it is =======================================================================
-- Rows of these tables are evidence: they are added, and never changed or deleted.
CREATE TRIGGER publication_update BEFORE UPDATE ON publication
BEGIN SELECT raise(ABORT, 'publication is append-only'); END;

CREATE TRIGGER publication_delete BEFORE DELETE ON publication
BEGIN SELECT raise(ABORT, 'publication is append-only'); END;

CREATE TRIGGER eu_cell_update BEFORE UPDATE ON eu_cell
BEGIN SELECT raise(ABORT, 'eu_cell is append-only'); END;

CREATE TRIGGER eu_cell_delete BEFORE DELETE ON eu_cell
BEGIN SELECT raise(ABORT, 'eu_cell is append-only'); END;

CREATE TRIGGER release_update BEFORE UPDATE ON release
BEGIN SELECT raise(ABORT, 'release is append-only'); END;

CREATE TRIGGER release_delete BEFORE DELETE ON release
BEGIN SELECT raise(ABORT, 'release is append-only'); END;

CREATE TRIGGER retraction_update BEFORE UPDATE ON retraction
BEGIN SELECT raise(ABORT, 'retraction is append-only'); END;

CREATE TRIGGER retraction_delete BEFORE DELETE ON retraction
BEGIN SELECT raise(ABORT, 'retraction is append-only'); END;

CREATE TRIGGER terms_update BEFORE UPDATE ON terms
BEGIN SELECT raise(ABORT, 'terms is append-only'); END;

CREATE TRIGGER terms_delete BEFORE DELETE ON terms
BEGIN SELECT raise(ABORT, 'terms is append-only'); END;

CREATE TRIGGER submission_update BEFORE UPDATE ON submission
BEGIN SELECT raise(ABORT, 'submission is append-only'); END;

CREATE TRIGGER submission_delete BEFORE DELETE ON submission
BEGIN SELECT raise(ABORT, 'submission is append-only'); END;

CREATE TRIGGER audit_update BEFORE UPDATE ON audit
BEGIN SELECT raise(ABORT, 'audit is append-only'); END;

CREATE TRIGGER audit_delete BEFORE DELETE ON audit
BEGIN SELECT raise(ABORT, 'audit is append-only'); END;

CREATE TRIGGER approval_update BEFORE UPDATE ON approval
BEGIN SELECT raise(ABORT, 'approval is append-only'); END;

CREATE TRIGGER approval_delete BEFORE DELETE ON approval
BEGIN SELECT raise(ABORT, 'approval is append-only'); END;

CREATE TRIGGER withdrawal_update BEFORE UPDATE ON withdrawal
BEGIN SELECT raise(ABORT, 'withdrawal is append-only'); END;

CREATE TRIGGER withdrawal_delete BEFORE DELETE ON withdrawal
BEGIN SELECT raise(ABORT, 'withdrawal is append-only'); END;

CREATE TRIGGER log_update BEFORE UPDATE ON log
BEGIN SELECT raise(ABORT, 'log is append-only'); END;

CREATE TRIGGER log_delete BEFORE DELETE ON log
BEGIN SELECT raise(ABORT, 'log is append-only'); END;

CREATE TRIGGER alert_update BEFORE UPDATE ON alert
BEGIN SELECT raise(ABORT, 'alert is append-only'); END;

CREATE TRIGGER alert_delete BEFORE DELETE ON alert
BEGIN SELECT raise(ABORT, 'alert is append-only'); END;

CREATE TRIGGER publication_key BEFORE INSERT ON publication
WHEN EXISTS (
    SELECT 1 FROM publication
    WHERE (domain = NEW.domain AND period = NEW.period AND digest = NEW.digest) OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'publication is append-only: the key is there'); END;

CREATE TRIGGER alert_key BEFORE INSERT ON alert
WHEN EXISTS (
    SELECT 1 FROM alert
    WHERE (domain = NEW.domain AND period = NEW.period AND kind = NEW.kind AND subject = NEW.subject)
        OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'alert is append-only: the key is there'); END;

-- === What goes out: a row of release =====================================================================
-- The publication is complete and the next version, and has what its terms ask for: a passed audit against
-- all profiles, approvals, the embargo.
CREATE TRIGGER release_gate BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: no passed audit of this publication')
    WHERE NOT EXISTS (
        SELECT 1 FROM audit
        WHERE release_id = NEW.release_id AND digest = NEW.audit_digest
            AND publication_digest = NEW.publication_digest AND passed
    );
    SELECT raise(ABORT, 'release refused: the publication is not complete')
    WHERE (
        SELECT count(*) FROM eu_cell
        WHERE domain = NEW.domain AND period = NEW.period AND publication_digest = NEW.publication_digest
    ) IS NOT (
        SELECT cells FROM publication
        WHERE domain = NEW.domain AND period = NEW.period AND digest = NEW.publication_digest
    );
    SELECT raise(ABORT, 'release refused: not the next version')
    WHERE NEW.version <> (SELECT coalesce(max(version), 0) + 1 FROM release WHERE domain = NEW.domain
        AND period = NEW.period);
    SELECT raise(ABORT, 'release refused: this publication is the current version already')
    FROM release r
    WHERE r.domain = NEW.domain AND r.period = NEW.period AND r.version = NEW.version - 1
        AND r.publication_digest = NEW.publication_digest
        AND NOT EXISTS (SELECT 1 FROM retraction t WHERE t.release_id = r.release_id);
    SELECT raise(ABORT, 'release refused: the run was not submitted under any terms')
    WHERE NOT EXISTS (
        SELECT 1 FROM submission s JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        WHERE s.release_id = NEW.release_id
    );
    SELECT raise(ABORT, 'release refused: a profile that the terms ask for was not audited')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    JOIN json_each('["' || replace(t.profiles, ',', '","') || '"]') AS asked
    WHERE s.release_id = NEW.release_id AND NOT EXISTS (
        SELECT 1 FROM audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
            AND instr(',' || a.profiles || ',', ',' || asked.value || ',') > 0
    );
    SELECT raise(ABORT, 'release refused: approvals are missing')
    FROM submission s JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    WHERE s.release_id = NEW.release_id AND t.approvals > (
        SELECT count(*) FROM approval a
        WHERE a.release_id = NEW.release_id AND a.audit_digest = NEW.audit_digest
            AND a.publication_digest = NEW.publication_digest
            AND a.approver <> s.submitter
    );
    SELECT raise(ABORT, 'release refused: not the embargo under which it was submitted')
    FROM submission s
    WHERE s.release_id = NEW.release_id AND s.embargo IS NOT NEW.embargo;
END;

-- Terms and audits that name no profile, or an unknown one, release nothing.
CREATE TRIGGER release_profiles BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT,
        'release refused: attacker profiles that are unknown here, named twice, or none at all')
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

-- Where a version of the period is out, the next was attacked by somebody who kept it, whatever its terms ask
-- for.
CREATE TRIGGER release_vintage BEFORE INSERT ON release
WHEN EXISTS (SELECT 1 FROM release WHERE domain = NEW.domain AND period = NEW.period) BEGIN
    SELECT raise(ABORT, 'release refused: not audited beside the version that is out')
    WHERE NOT EXISTS (
        SELECT 1 FROM audit
        WHERE release_id = NEW.release_id AND digest = NEW.audit_digest
            AND instr(',' || profiles || ',', ',vintage,') > 0
    );
END;

-- What goes out is, row by row, what was audited; and no cell of a country.
CREATE TRIGGER release_printed BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: submitted for another domain or period')
    FROM submission s
    WHERE s.release_id = NEW.release_id AND (s.domain IS NOT NEW.domain OR s.period IS NOT NEW.period);
    SELECT raise(ABORT, 'release refused: its cells are not those that were audited')
    WHERE (
        SELECT a.printed_digest FROM audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
    ) IS NOT printed_digest(NEW.domain, NEW.period, NEW.publication_digest);
    SELECT raise(ABORT, 'release refused: it holds a cell of a country')
    WHERE EXISTS (
        SELECT 1 FROM (SELECT DISTINCT country FROM delivery WHERE domain = NEW.domain) d
        CROSS JOIN eu_cell c
        WHERE c.domain = NEW.domain AND c.period = NEW.period
            AND c.publication_digest = NEW.publication_digest
            AND c.cell >= d.country || '.' AND c.cell < d.country || '/'
    );
END;

CREATE TRIGGER release_key BEFORE INSERT ON release
WHEN EXISTS (
    SELECT 1 FROM release
    WHERE release_id = NEW.release_id
        OR (domain = NEW.domain AND period = NEW.period AND version = NEW.version) OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'release is append-only: the key is there'); END;

-- Only people count for whom an account vouches; an approval without an account is from before accounts were
-- noted.
CREATE TRIGGER release_people BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: approvals are missing, of people that somebody vouches for')
    FROM submission s JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    WHERE s.release_id = NEW.release_id AND t.approvals > (
        SELECT count(DISTINCT a.approver) FROM approval a
        WHERE a.release_id = NEW.release_id AND a.audit_digest = NEW.audit_digest
            AND a.publication_digest = NEW.publication_digest
            AND a.account IS NOT NULL
    );
END;

-- The figures of a structure and period belong to the domain that published them first: no audit attacks two
-- domains together.
CREATE TRIGGER release_one_domain BEFORE INSERT ON release
WHEN EXISTS (SELECT 1 FROM release WHERE domain <> NEW.domain AND period = NEW.period) BEGIN
    SELECT raise(ABORT, 'release refused: another domain has published these figures of the period')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    JOIN release r ON r.period = NEW.period AND r.domain <> NEW.domain
    JOIN submission rs ON rs.release_id = r.release_id
    JOIN terms rt ON rt.domain = rs.domain AND rt.digest = rs.terms_digest
    WHERE s.release_id = NEW.release_id
        AND substr(json_extract(t.settings, '$.structure_id'), 1,
            instr(json_extract(t.settings, '$.structure_id') || '(', '(') - 1)
            IS substr(json_extract(rt.settings, '$.structure_id'), 1,
                instr(json_extract(rt.settings, '$.structure_id') || '(', '(') - 1)
        AND EXISTS (
            SELECT 1
            FROM eu_cell c
            JOIN eu_cell rc ON rc.indicator = c.indicator
            WHERE c.domain = NEW.domain AND c.period = NEW.period
                AND c.publication_digest = NEW.publication_digest
                AND rc.domain = r.domain AND rc.period = r.period
                AND rc.publication_digest = r.publication_digest
        );
END;

-- A version is attacked beside every version that is out, which its certificate names by their publications.
CREATE TRIGGER release_beside BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: other versions are out than its audit knew')
    WHERE (
        SELECT '["' || group_concat(publication_digest, '", "') || '"]'
        FROM (SELECT publication_digest FROM release
        WHERE domain = NEW.domain AND period = NEW.period ORDER BY version)
    ) IS NOT (
        SELECT told(certificate, 'beside') FROM audit
        WHERE release_id = NEW.release_id AND digest = NEW.audit_digest
    );
END;

-- What goes out under terms with rule_aware was shown to withstand somebody who has the program: the
-- certificate has the options of the terms, leaves no primary too little, and counts each primary.
CREATE TRIGGER release_program BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: not shown to withstand somebody who has the program')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    LEFT JOIN audit a ON a.release_id = s.release_id AND a.digest = NEW.audit_digest
        AND a.publication_digest = NEW.publication_digest AND a.passed
    WHERE s.release_id = NEW.release_id AND (
        (told(t.settings, 'bases', 'rule_aware') IS 'true'
            OR coalesce(told(t.settings, 'indicators'), '') LIKE '%"rule_aware": true%')
        AND told(a.certificate, 'program', 'verdict') IS NOT 'passed'
        OR told(t.settings, 'bases', 'rule_aware') IS 'true' AND (
            told(a.certificate, 'program', 'bases', 'removed') IS NOT told(t.settings, 'bases', 'removed')
            OR told(a.certificate, 'program', 'bases', 'epoch') IS NOT told(t.settings, 'bases', 'epoch')
            OR told(a.certificate, 'program', 'bases', 'narrow') IS NOT '[]'
            OR CAST(told(a.certificate, 'program', 'bases', 'wide') AS INTEGER)
                + json_array_length(told(a.certificate, 'program', 'bases', 'without_claim'))
                IS NOT CAST(told(a.certificate, 'counts', 'primaries') AS INTEGER)
                - coalesce(CAST(told(a.certificate, 'counts', 'judged_as_whole_numbers') AS INTEGER), 0)
        )
    );
END;

-- Figures that may be those of another domain or frequency that are out, or sums or parts of them, stay in:
-- no audit attacks both together. A domain file may say why another domain is unrelated; the certificate
-- names the reason.
CREATE TRIGGER release_related BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: its certificate does not name why other domains are unrelated')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    LEFT JOIN audit a ON a.release_id = s.release_id AND a.digest = NEW.audit_digest
    WHERE s.release_id = NEW.release_id
        AND told(t.settings, 'unrelated') IS NOT told(a.certificate, 'unrelated');
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

-- What is drawn by the secret goes out with a certificate that names it, and where the office keeps the
-- secret elsewhere too: a restored warehouse, or another one, would draw other tables of the same period, and
-- two of them tell what each alone does not.
CREATE TRIGGER release_secret BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: its certificate names another secret than this warehouse has')
    FROM audit a
    WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
        AND told(a.certificate, 'secret') IS NOT NULL
        AND told(a.certificate, 'secret') IS NOT (SELECT fingerprint FROM secret);
    SELECT raise(ABORT, 'release refused: it is drawn by a secret that is not named, or kept nowhere else')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    LEFT JOIN audit a ON a.release_id = s.release_id AND a.digest = NEW.audit_digest
    WHERE s.release_id = NEW.release_id
        AND (told(t.settings, 'bases', 'rule_aware') IS 'true'
            OR coalesce(told(t.settings, 'indicators'), '') LIKE '%"rounding": {%')
        AND (told(a.certificate, 'secret') IS NULL OR (SELECT kept FROM secret) IS NOT 1);
END;

-- An earlier version of the period binds the later ones: whoever loosens the domain file does not decide
-- alone, and what is out was promised against attackers whom the later version must withstand as well.
CREATE TRIGGER release_asked_before BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT,
        'release refused: an earlier version of the period asked for more approvals or attackers')
    FROM release r
    JOIN submission s ON s.release_id = r.release_id
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    JOIN audit b ON b.release_id = r.release_id AND b.digest = r.audit_digest
    JOIN json_each('["' || replace(b.profiles, ',', '","') || '"]') AS asked
    WHERE r.domain = NEW.domain AND r.period = NEW.period AND (
        t.approvals > (
            SELECT count(DISTINCT a.approver) FROM approval a
            WHERE a.release_id = NEW.release_id AND a.audit_digest = NEW.audit_digest
                AND a.publication_digest = NEW.publication_digest
                AND a.account IS NOT NULL
        )
        OR NOT EXISTS (
            SELECT 1 FROM audit a
            WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
                AND instr(',' || a.profiles || ',', ',' || asked.value || ',') > 0
        )
    );
END;

-- === Cells of a publication ==============================================================================
-- One trigger, for it is asked a million times. By its key a cell replaces only what is not released; by its
-- rowid it could replace any.
CREATE TRIGGER eu_cell_gate BEFORE INSERT ON eu_cell
WHEN EXISTS (SELECT 1 FROM eu_cell WHERE rowid = NEW.rowid) OR EXISTS (
    SELECT 1 FROM release
    WHERE domain = NEW.domain AND period = NEW.period AND publication_digest = NEW.publication_digest
) BEGIN
    SELECT raise(ABORT, 'eu_cell refused: it is append-only, and the publication may be released');
END;

-- === Terms, submissions and audits =======================================================================
-- Terms name attacker profiles that this warehouse knows, and ask for what their settings say.
CREATE TRIGGER terms_profiles BEFORE INSERT ON terms
WHEN (
    SELECT count(*) FROM profile WHERE instr(',' || NEW.profiles || ',', ',' || name || ',') > 0
) <> length(NEW.profiles) - length(replace(NEW.profiles, ',', '')) + 1 BEGIN
    SELECT raise(ABORT,
        'terms refused: attacker profiles that are unknown here, named twice, or none at all');
END;

CREATE TRIGGER terms_key BEFORE INSERT ON terms
WHEN EXISTS (
    SELECT 1 FROM terms WHERE (domain = NEW.domain AND digest = NEW.digest) OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'terms is append-only: the key is there'); END;

CREATE TRIGGER terms_json BEFORE INSERT ON terms
WHEN tells(NEW.settings, '') IS NOT 1
    OR coalesce(told(NEW.settings, 'audit', 'profiles'), '["' || replace(NEW.profiles, ',', '", "') || '"]')
        IS NOT '["' || replace(NEW.profiles, ',', '", "') || '"]'
    OR coalesce(told(NEW.settings, 'governance', 'approvals'), CAST(NEW.approvals AS TEXT))
        IS NOT CAST(NEW.approvals AS TEXT)
    OR (
        told(NEW.settings, 'governance') IS NOT NULL
        AND told(NEW.settings, 'governance', 'retention_days') IS NOT CAST(NEW.retention_days AS TEXT)
    ) BEGIN
    SELECT raise(ABORT, 'terms refused: its JSON is none, or says otherwise');
END;

CREATE TRIGGER submission_key BEFORE INSERT ON submission
WHEN EXISTS (SELECT 1 FROM submission WHERE release_id = NEW.release_id OR rowid = NEW.rowid) BEGIN
    SELECT raise(ABORT, 'submission is append-only: the key is there');
END;

CREATE TRIGGER submission_person BEFORE INSERT ON submission WHEN NOT is_person(NEW.submitter) BEGIN
    SELECT raise(ABORT, 'submission refused: the name could pass for that of somebody else');
END;

CREATE TRIGGER submission_json BEFORE INSERT ON submission WHEN tells(NEW.environment, '') IS NOT 1 BEGIN
    SELECT raise(ABORT, 'submission refused: its JSON is none, or says otherwise');
END;

-- An audit names profiles that this warehouse knows, is known by its certificate, and stored as its
-- certificate has it; the certificate is of its run.
CREATE TRIGGER audit_profiles BEFORE INSERT ON audit
WHEN (
    SELECT count(*) FROM profile WHERE instr(',' || NEW.profiles || ',', ',' || name || ',') > 0
) <> length(NEW.profiles) - length(replace(NEW.profiles, ',', '')) + 1 BEGIN
    SELECT raise(ABORT,
        'audit refused: attacker profiles that are unknown here, named twice, or none at all');
END;

CREATE TRIGGER audit_gate BEFORE INSERT ON audit BEGIN
    SELECT raise(ABORT, 'audit refused: the digest is not that of its certificate')
    WHERE NEW.digest IS NOT sha256_hex(NEW.certificate);
    SELECT raise(ABORT, 'audit refused: passed, and something broken')
    WHERE NEW.passed AND NEW.broken IS NOT 0;
END;

CREATE TRIGGER audit_key BEFORE INSERT ON audit
WHEN EXISTS (
    SELECT 1 FROM audit WHERE (release_id = NEW.release_id AND digest = NEW.digest) OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'audit is append-only: the key is there'); END;

CREATE TRIGGER audit_told BEFORE INSERT ON audit BEGIN
    SELECT raise(ABORT, 'audit refused: its certificate says otherwise')
    WHERE told(NEW.certificate, 'digests', 'problem') IS NOT NEW.problem_digest
        OR told(NEW.certificate, 'digests', 'publication') IS NOT NEW.publication_digest
        OR told(NEW.certificate, 'profiles') IS NOT '["' || replace(NEW.profiles, ',', '", "') || '"]'
        OR told(NEW.certificate, 'verdict') IS NOT CASE WHEN NEW.passed THEN 'passed' ELSE 'failed' END
        OR told(NEW.certificate, 'counts', 'primaries') IS NOT CAST(NEW.primaries AS TEXT)
        OR told(NEW.certificate, 'counts', 'broken_requirements') IS NOT CAST(NEW.broken AS TEXT);
    SELECT raise(ABORT, 'audit refused: its certificate says otherwise')
    WHERE NOT EXISTS (
        SELECT 1 FROM run r LEFT JOIN submission s ON s.release_id = r.release_id
        WHERE r.release_id = NEW.release_id AND told(NEW.certificate, 'domain') = r.domain
            AND told(NEW.certificate, 'period') = r.period
            AND told(NEW.certificate, 'digests', 'domain')
                = coalesce(s.terms_digest, told(NEW.certificate, 'digests', 'domain'))
    );
END;

-- JSON that pages and reports read is JSON.
CREATE TRIGGER cycle_json_insert BEFORE INSERT ON cycle WHEN is_list(NEW.areas) IS NOT 1 BEGIN
    SELECT raise(ABORT, 'cycle refused: its JSON is none, or says otherwise');
END;

CREATE TRIGGER cycle_json_update BEFORE UPDATE ON cycle WHEN is_list(NEW.areas) IS NOT 1 BEGIN
    SELECT raise(ABORT, 'cycle refused: its JSON is none, or says otherwise');
END;

CREATE TRIGGER check_result_json_insert BEFORE INSERT ON check_result WHEN is_list(NEW.cells) IS NOT 1 BEGIN
    SELECT raise(ABORT, 'check_result refused: its JSON is none, or says otherwise');
END;

CREATE TRIGGER check_result_json_update BEFORE UPDATE ON check_result WHEN is_list(NEW.cells) IS NOT 1 BEGIN
    SELECT raise(ABORT, 'check_result refused: its JSON is none, or says otherwise');
END;

-- === Approvals, withdrawals and retractions ==============================================================
CREATE TRIGGER approval_gate BEFORE INSERT ON approval BEGIN
    SELECT raise(ABORT, 'approval refused: its submitter is not who submitted, or agrees himself')
    WHERE NEW.approver = NEW.submitter
        OR NOT EXISTS (
            SELECT 1 FROM submission s WHERE s.release_id = NEW.release_id AND s.submitter = NEW.submitter
        );
    SELECT raise(ABORT, 'approval refused: no passed audit of this publication')
    WHERE NOT EXISTS (
        SELECT 1 FROM audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
            AND a.publication_digest = NEW.publication_digest AND a.passed
    );
END;

CREATE TRIGGER approval_key BEFORE INSERT ON approval
WHEN EXISTS (
    SELECT 1 FROM approval
    WHERE (release_id = NEW.release_id AND audit_digest = NEW.audit_digest AND approver = NEW.approver)
        OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'approval is append-only: the key is there'); END;

CREATE TRIGGER approval_person BEFORE INSERT ON approval WHEN NOT is_person(NEW.approver) BEGIN
    SELECT raise(ABORT, 'approval refused: the name could pass for that of somebody else');
END;

-- Whoever started a run of a release does not agree to it, also where another run submitted it.
CREATE TRIGGER approval_by_others BEFORE INSERT ON approval
WHEN EXISTS (
    SELECT 1 FROM dag_run d
    WHERE d.release_id = NEW.release_id AND d.triggered_by = NEW.approver
        AND d.dag_id LIKE 'eu\_release\_%' ESCAPE '\'
) BEGIN
    SELECT raise(ABORT, 'approval refused: the approver started a run of this release');
END;

CREATE TRIGGER withdrawal_key BEFORE INSERT ON withdrawal
WHEN EXISTS (
    SELECT 1 FROM withdrawal
    WHERE (release_id = NEW.release_id AND reason = NEW.reason AND agreed_by = NEW.agreed_by)
        OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'withdrawal is append-only: the key is there'); END;

-- As the triggers of instants that 0001_schema.py makes.
CREATE TRIGGER withdrawal_instants_insert BEFORE INSERT ON withdrawal
WHEN NEW.agreed_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*'
    OR julianday(NEW.agreed_at) IS NULL OR NEW.agreed_at < '1970' OR NEW.agreed_at >= '3000' BEGIN
    SELECT raise(ABORT, 'withdrawal refused: an instant out of bounds');
END;

CREATE TRIGGER withdrawal_instants_update BEFORE UPDATE ON withdrawal
WHEN NEW.agreed_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*'
    OR julianday(NEW.agreed_at) IS NULL OR NEW.agreed_at < '1970' OR NEW.agreed_at >= '3000' BEGIN
    SELECT raise(ABORT, 'withdrawal refused: an instant out of bounds');
END;

-- Whoever asked to take the release back for this reason does not agree to it.
CREATE TRIGGER withdrawal_gate BEFORE INSERT ON withdrawal BEGIN
    SELECT raise(ABORT, 'withdrawal refused: no such release')
    WHERE NOT EXISTS (SELECT 1 FROM release r WHERE r.release_id = NEW.release_id);
    SELECT raise(ABORT, 'withdrawal refused: the name could pass for that of somebody else')
    WHERE NOT is_person(NEW.agreed_by);
    SELECT raise(ABORT, 'withdrawal refused: who asked to take the release back does not agree to it')
    WHERE EXISTS (
        SELECT 1 FROM dag_run d
        WHERE d.dag_id = 'retract_release' AND d.release_id = NEW.release_id AND d.reason = NEW.reason
            AND d.triggered_by = NEW.agreed_by
    );
END;

CREATE TRIGGER retraction_gate BEFORE INSERT ON retraction
WHEN NOT EXISTS (SELECT 1 FROM release r WHERE r.release_id = NEW.release_id) BEGIN
    SELECT raise(ABORT, 'retraction refused: no such release');
END;

CREATE TRIGGER retraction_key BEFORE INSERT ON retraction
WHEN EXISTS (SELECT 1 FROM retraction WHERE release_id = NEW.release_id OR rowid = NEW.rowid) BEGIN
    SELECT raise(ABORT, 'retraction is append-only: the key is there');
END;

-- A release that two people let out is taken back by two.
CREATE TRIGGER retraction_people BEFORE INSERT ON retraction BEGIN
    SELECT raise(ABORT, 'retraction refused: the name could pass for that of somebody else')
    WHERE NOT is_person(NEW.retracted_by);
    SELECT raise(ABORT, 'retraction refused: nobody else agreed to it for this reason')
    FROM submission s JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    WHERE s.release_id = NEW.release_id AND t.approvals >= 1 AND NOT EXISTS (
        SELECT 1 FROM withdrawal w
        WHERE w.release_id = NEW.release_id AND w.reason = NEW.reason AND w.agreed_by <> NEW.retracted_by
    );
END;

-- === The log =============================================================================================
-- One entry follows the other, each with the digest of the one before.
CREATE TRIGGER log_gate BEFORE INSERT ON log
WHEN NEW.number <> coalesce((SELECT max(number) FROM log), 0) + 1
    OR NEW.previous <> coalesce((SELECT digest FROM log ORDER BY number DESC LIMIT 1), '') BEGIN
    SELECT raise(ABORT, 'log refused: not the next entry');
END;

CREATE TRIGGER log_digest BEFORE INSERT ON log
WHEN NEW.digest IS NOT entry_digest(
    NEW.number, NEW.recorded_at, NEW.actor, NEW.account, NEW.action, NEW.subject, NEW.details, NEW.previous
) BEGIN
    SELECT raise(ABORT, 'log refused: not the digest of this entry');
END;

CREATE TRIGGER log_key BEFORE INSERT ON log
WHEN EXISTS (SELECT 1 FROM log WHERE number = NEW.number OR rowid = NEW.rowid) BEGIN
    SELECT raise(ABORT, 'log is append-only: the key is there');
END;

-- An entry says what its kind must say: checks compare it with what is stored.
CREATE TRIGGER log_told BEFORE INSERT ON log
WHEN tells(NEW.details, CASE NEW.action
    WHEN 'submit' THEN 'terms,asks,inputs,environment,embargo'
    WHEN 'audit' THEN 'audit,publication,passed,printed,lps'
    WHEN 'approve' THEN 'audit,publication,note'
    WHEN 'reject' THEN 'audit,publication,note'
    WHEN 'release' THEN 'audit,publication,version'
    WHEN 'retract' THEN 'reason'
    WHEN 'receive' THEN 'domain,period,file,times'
    WHEN 'accept' THEN 'domain,period,country,instead_of'
    WHEN 'supersede' THEN 'domain,period,country,by'
    WHEN 'refuse' THEN 'domain,period,country'
    ELSE ''
END) IS NOT 1 BEGIN
    SELECT raise(ABORT, 'log refused: details are no JSON that tells what such an entry must tell');
END;

CREATE TRIGGER log_agreed BEFORE INSERT ON log
WHEN NEW.action = 'agree' AND tells(NEW.details, 'reason') IS NOT 1 BEGIN
    SELECT raise(ABORT, 'log refused: details are no JSON that tells what such an entry must tell');
END;

-- === What is confidential ================================================================================
-- It goes only by way of a purge that is on record.
CREATE TRIGGER payload_gate BEFORE DELETE ON payload
WHEN NOT EXISTS (SELECT 1 FROM artefact WHERE digest = OLD.digest AND purged_at IS NOT NULL) BEGIN
    SELECT raise(ABORT, 'payload refused: it is not marked as purged');
END;

-- Deliveries and releases are named by the secret: nobody replaces it; it is only encrypted anew.
CREATE TRIGGER secret_stays BEFORE DELETE ON secret
BEGIN
    SELECT raise(ABORT, 'secret is append-only');
END;

-- A warehouse has one secret: where the log tells of one, no other is stored, and its name does not change.
-- The subject in the log is confidential.secret; written like this, it would lose its schema (sqlfiles.py).
CREATE TRIGGER secret_gate BEFORE INSERT ON secret
WHEN NEW.fingerprint IS NULL
    OR EXISTS (
        SELECT 1 FROM log l WHERE l.action IN ('make', 'name') AND l.subject LIKE 'confidential_secret'
    )
    AND NOT EXISTS (
        SELECT 1 FROM log l
        WHERE l.action IN ('make', 'name') AND l.subject LIKE 'confidential_secret'
            AND told(l.details, 'fingerprint') = NEW.fingerprint
    ) BEGIN
    SELECT raise(ABORT, 'secret refused: the log tells of another secret of this warehouse');
END;

CREATE TRIGGER secret_named BEFORE UPDATE ON secret
WHEN OLD.fingerprint IS NOT NULL AND NEW.fingerprint IS NOT OLD.fingerprint OR OLD.kept AND NOT NEW.kept BEGIN
    SELECT raise(ABORT, 'secret refused: it is named already, and the same for ever');
END;

-- === What is read ========================================================================================
-- What the public sees: nothing before its embargo has passed, no cell of what was retracted.
CREATE VIEW public_release AS
SELECT r.release_id, r.domain, r.period, r.version, r.publication_digest, r.released_at, r.embargo,
    t.reason AS retracted
FROM release r
LEFT JOIN retraction t ON t.release_id = r.release_id
WHERE r.embargo IS NULL OR r.embargo <= CURRENT_TIMESTAMP;

CREATE VIEW public_cell AS
SELECT r.domain, r.period, r.version, c.position, c.cell, c.area, c.indicator, c.value, c.obs_status,
    c.conf_status, c.rounding_base, c.visible_share
FROM public_release r
JOIN eu_cell c ON c.domain = r.domain AND c.period = r.period AND c.publication_digest = r.publication_digest
WHERE r.retracted IS NULL;

-- The state of each file as people see it: a second file of a country waits for an answer, or was kept out by
-- one. It is derived, so it cannot become untrue, and asks for no function of ours, so that any client may
-- read it.
CREATE VIEW delivery_now AS
SELECT d.domain, d.period, d.digest, d.country, d.file, d.received_at, d.superseded_by, d.times,
    CASE
        WHEN d.state NOT IN ('received', 'refused') THEN d.state
        WHEN (
            SELECT l.action FROM log l
            WHERE l.subject = d.digest AND l.action IN ('keep', 'replace', 'both')
                AND CASE WHEN json_valid(l.details) THEN CAST(json_extract(l.details, '$.domain') AS text) END
                    = d.domain
                AND CASE WHEN json_valid(l.details) THEN CAST(json_extract(l.details, '$.period') AS text) END
                    = d.period
                AND CASE WHEN json_valid(l.details) THEN CAST(json_extract(l.details, '$.times') AS text) END
                    = CAST(d.times AS text)
            ORDER BY l.number DESC LIMIT 1
        ) = 'keep' THEN 'kept out'
        WHEN d.state = 'received'
            AND EXISTS (
                SELECT 1 FROM delivery a
                WHERE a.domain = d.domain AND a.period = d.period AND a.country = d.country
                    AND a.state = 'accepted'
            )
            AND NOT EXISTS (
                SELECT 1 FROM delivery a
                WHERE a.domain = d.domain AND a.period = d.period AND a.country = d.country
                    AND a.state = 'accepted' AND a.series = d.series
            )
            AND NOT EXISTS (
                SELECT 1 FROM log l
                WHERE l.subject = d.digest AND l.action IN ('replace', 'both')
                    AND CASE WHEN json_valid(l.details)
                        THEN CAST(json_extract(l.details, '$.domain') AS text) END = d.domain
                    AND CASE WHEN json_valid(l.details)
                        THEN CAST(json_extract(l.details, '$.period') AS text) END = d.period
                    AND CASE WHEN json_valid(l.details)
                        THEN CAST(json_extract(l.details, '$.times') AS text) END = CAST(d.times AS text)
            ) THEN 'waiting'
        ELSE d.state
    END AS state,
    EXISTS (
        SELECT 1 FROM inbox i WHERE i.domain = d.domain AND i.period = d.period AND i.digest = d.digest
    ) AS lying
FROM delivery d;
