-- The gate on PostgreSQL: what no statement of any account gets past. 0001_gate.sqlite.sql says the same for
-- SQLite.
--
-- The triggers of a table fire in the order of their names. Those that read what the caller may not read are
-- functions with the rights of their owner (SECURITY DEFINER). Their search_path ends with pg_temp: one that
-- does not name pg_temp searches it first, for tables and types, so that a caller's domain pg_temp.text would
-- be code with the owner's rights.
--
-- === What the gates compare by ===========================================================================
-- What a JSON document says at a path, as text; NULL where it is no JSON, or says nothing there. It never
-- fails: checks of the warehouse go by it.
CREATE FUNCTION operations.told(document text, VARIADIC path text[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN document::jsonb #>> path;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN NULL;
END $$;

-- Whether it is a JSON object that has all these keys, separated by commas.
CREATE FUNCTION operations.tells(document text, keys text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN jsonb_typeof(document::jsonb) = 'object' AND document::jsonb ?& string_to_array(keys, ',');
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN FALSE;
END $$;

-- Whether it is a JSON list of texts.
CREATE FUNCTION operations.is_list(document text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN jsonb_typeof(document::jsonb) = 'array'
        AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements(document::jsonb) each(item)
            WHERE jsonb_typeof(each.item) <> 'string');
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN FALSE;
END $$;

CREATE FUNCTION operations.sha256_hex(told text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN encode(sha256(convert_to(told, 'UTF8')), 'hex');
END $$;

-- An instant as the log writes it.
CREATE FUNCTION operations.instant(at timestamptz) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
END $$;

-- Writers take turns by rows of a table that nobody else can lock; an advisory lock can be held by every
-- account of the database.
CREATE FUNCTION operations.take_turn(wanted text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO operations.turn (name) VALUES (wanted) ON CONFLICT DO NOTHING;
    PERFORM 1 FROM operations.turn t WHERE t.name = wanted FOR UPDATE;
END $$;

-- Letters of one script, in the form in which names are compared (sdc_tasks/warehouse/forms/people.py).
CREATE FUNCTION operations.is_person(name text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN name = lower(name) AND name = normalize(name, NFKC) AND (
        name ~ '^[!-~ß-öø-ɏ]+( [!-~ß-öø-ɏ]+)*$'
        OR name ~ '^[!-@{-~ͰͲ-Ͽἀ-῿]+( [!-@{-~ͰͲ-Ͽἀ-῿]+)*$'
        OR name ~ '^[!-@{-~Ѐ-ԯ]+( [!-@{-~Ѐ-ԯ]+)*$'
    );
END $$;

-- Attacker profiles that this warehouse knows, one or more, each once.
CREATE FUNCTION operations.known_profiles(profiles text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT count(*) = array_length(string_to_array(profiles, ','), 1)
    FROM operations.profile p WHERE p.name = ANY (string_to_array(profiles, ','))
$$;

-- SHA-256 over everything that is printed of a publication (the form:
-- sdc_tasks/warehouse/forms/canonical.py).
CREATE FUNCTION dissemination.printed_digest(of_domain text, of_period text, of_publication text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT encode(sha256(convert_to(
            coalesce(string_agg(p.digest, chr(10) ORDER BY p.number), ''), 'UTF8')), 'hex')
        FROM (
            SELECT c.position / 10000 AS number, encode(sha256(convert_to(concat_ws(chr(10), count(*)::text,
                encode(sha256(convert_to(string_agg(
                    c.position::text, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(
                    c.cell, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(
                    c.area, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(
                    c.indicator, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(
                    coalesce(encode(float8send(c.value + 0), 'hex'), repeat('x', 16)), ''
                    ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(
                    c.obs_status, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(
                    c.conf_status, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(
                    coalesce(encode(float8send(c.rounding_base + 0), 'hex'), repeat('x', 16)), ''
                    ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(
                    coalesce(encode(float8send(c.visible_share + 0), 'hex'), repeat('x', 16)), ''
                    ORDER BY c.position, c.cell), 'UTF8')), 'hex')
            ), 'UTF8')), 'hex') AS digest
            FROM dissemination.eu_cell c
            WHERE c.domain = of_domain AND c.period = of_period AND c.publication_digest = of_publication
            GROUP BY c.position / 10000
        ) p
    );
END $$;

-- The days of a reference period; NULL for what is no period. As sdc_tasks/warehouse/forms/related.py, like
-- the four that follow.
CREATE FUNCTION operations.days(period text) RETURNS daterange
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found text[] := regexp_match(period, '^([0-9]{4})(?:-(?:A1|([STQM])?([0-9]{1,2})|W([0-9]{2})))?$');
    months integer := CASE coalesce(found[2], 'M') WHEN 'S' THEN 6 WHEN 'T' THEN 4 WHEN 'Q' THEN 3 ELSE 1 END;
    begins date;
BEGIN
    IF found[4] IS NOT NULL THEN
        begins := CAST(date_trunc('week', make_date(CAST(found[1] AS integer), 1, 4)::timestamp) AS date)
            + 7 * (CAST(found[4] AS integer) - 1);
        IF CAST(found[4] AS integer) = 0 OR extract(isoyear FROM begins) <> CAST(found[1] AS integer) THEN
            RETURN NULL;
        END IF;
        RETURN daterange(begins, begins + 7);
    END IF;
    IF found[3] IS NULL THEN
        RETURN daterange(make_date(CAST(found[1] AS integer), 1, 1),
            make_date(CAST(found[1] AS integer) + 1, 1, 1));
    END IF;
    begins := make_date(CAST(found[1] AS integer), (CAST(found[3] AS integer) - 1) * months + 1, 1);
    RETURN daterange(begins, CAST(begins + make_interval(months => months) AS date));
EXCEPTION WHEN data_exception THEN
    RETURN NULL;
END $$;

-- Whether two reference periods have a day in common; yes where one of them is no period.
CREATE FUNCTION operations.same_time(one text, other text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN coalesce(operations.days(one) && operations.days(other), TRUE);
END $$;

-- The agency of a domain; NULL where its settings do not say.
CREATE FUNCTION operations.agency(settings text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    whole text := operations.told(settings, 'structure_id');
BEGIN
    RETURN nullif(
        upper(split_part(split_part(CASE WHEN strpos(whole, ':') > 0 THEN whole END, ':', 1), '.', 1)), ''
    );
END $$;

-- The codes of the countries and compositions of a domain; NULL where its settings do not say.
CREATE FUNCTION operations.areas(settings text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF settings::jsonb #> ARRAY['codelists', settings::jsonb #>> '{areas,dimension}'] IS NULL
        OR settings::jsonb -> 'aggregates' IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN ARRAY(
        SELECT rows.row ->> 0
        FROM jsonb_array_elements(settings::jsonb #> ARRAY['codelists',
            settings::jsonb #>> '{areas,dimension}']) rows(row)
        WHERE rows.row ->> 0 <> ''
        UNION
        SELECT named.code
        FROM jsonb_array_elements(settings::jsonb -> 'aggregates') specs(spec),
            unnest(ARRAY[specs.spec ->> 'code', specs.spec ->> 'partial_code']) named(code)
        WHERE named.code <> ''
    );
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN NULL;
END $$;

-- Whether two domains are of one agency, with an area in common (AT11 is a part of AT); yes for what is not
-- said.
CREATE FUNCTION operations.akin(one text, other text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ours text[];
    theirs text[];
BEGIN
    IF operations.agency(one) <> operations.agency(other) THEN
        RETURN FALSE;
    END IF;
    ours := operations.areas(one);
    theirs := operations.areas(other);
    RETURN coalesce(cardinality(ours), 0) = 0 OR coalesce(cardinality(theirs), 0) = 0 OR EXISTS (
        SELECT 1 FROM unnest(ours) mine(code), unnest(theirs) yours(code)
        WHERE starts_with(mine.code, yours.code) OR starts_with(yours.code, mine.code)
    );
END $$;

-- === What is stored stays as it is =======================================================================
-- Rows of these tables are evidence: they are added, and never changed or deleted.
CREATE FUNCTION dissemination.append_only() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE integrity_constraint_violation
        USING MESSAGE = TG_TABLE_NAME || ' is append-only';
END $$;

CREATE TRIGGER publication_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON dissemination.publication
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER eu_cell_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON dissemination.eu_cell
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER release_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON dissemination.release
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER retraction_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON dissemination.retraction
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER terms_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operations.terms
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER submission_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operations.submission
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operations.audit
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER approval_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operations.approval
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER withdrawal_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operations.withdrawal
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operations.log
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER alert_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operations.alert
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

-- The server dates what cannot be changed, whatever the writer says.
CREATE FUNCTION operations.dated() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    CASE TG_TABLE_NAME
        WHEN 'terms' THEN NEW.registered_at := clock_timestamp();
        WHEN 'submission' THEN NEW.submitted_at := clock_timestamp();
        WHEN 'audit' THEN NEW.audited_at := clock_timestamp();
        WHEN 'approval' THEN NEW.approved_at := clock_timestamp();
        WHEN 'release' THEN NEW.released_at := clock_timestamp();
        WHEN 'retraction' THEN NEW.retracted_at := clock_timestamp();
        WHEN 'alert' THEN NEW.raised_at := clock_timestamp();
    END CASE;
    RETURN NEW;
END $$;

CREATE TRIGGER terms_dated BEFORE INSERT ON operations.terms
FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER submission_dated BEFORE INSERT ON operations.submission
FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER audit_dated BEFORE INSERT ON operations.audit
FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER approval_dated BEFORE INSERT ON operations.approval
FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER release_dated BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER retraction_dated BEFORE INSERT ON dissemination.retraction
FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER alert_dated BEFORE INSERT ON operations.alert
FOR EACH ROW EXECUTE FUNCTION operations.dated();

-- === What goes out: a row of release =====================================================================
-- An earlier version of the period binds the later ones: whoever loosens the domain file does not decide
-- alone, and what is out was promised against attackers whom the later version must withstand as well.
CREATE FUNCTION dissemination.asked_before() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT 1
        FROM dissemination.release r
        JOIN operations.submission s ON s.release_id = r.release_id
        JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        JOIN operations.audit b ON b.release_id = r.release_id AND b.digest = r.audit_digest
        WHERE r.domain = NEW.domain AND r.period = NEW.period AND (
            t.approvals > (
                SELECT count(DISTINCT a.approver) FROM operations.approval a
                WHERE a.release_id = NEW.release_id AND a.audit_digest = NEW.audit_digest
                    AND a.publication_digest = NEW.publication_digest AND a.account IS NOT NULL
            )
            OR NOT EXISTS (
                SELECT 1 FROM operations.audit a
                WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
                    AND string_to_array(b.profiles, ',') <@ string_to_array(a.profiles, ',')
            )
        )
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE =
                'release refused: an earlier version of the period asked for more approvals or attackers';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_asked_before BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.asked_before();

-- A version is attacked beside every version that is out, which its certificate names by their publications.
-- Releases of a period take turns before anything is asked: nobody waits somewhere later while another
-- version comes out.
CREATE FUNCTION dissemination.beside_gate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM operations.take_turn('release ' || NEW.domain || ' ' || NEW.period);
    IF (
        SELECT '["' || string_agg(r.publication_digest, '", "' ORDER BY r.version) || '"]'
        FROM dissemination.release r WHERE r.domain = NEW.domain AND r.period = NEW.period
    ) IS DISTINCT FROM (
        SELECT operations.told(a.certificate, 'beside') FROM operations.audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: other versions are out than its audit knew';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_beside BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.beside_gate();

-- The publication is complete and the next version, and has what its terms ask for: a passed audit against
-- all profiles, approvals, the embargo. The lock keeps a cell from slipping in between the count and the
-- commit (eu_cell_gate).
CREATE FUNCTION dissemination.release_gate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked record;
BEGIN
    PERFORM 1 FROM dissemination.publication p
        WHERE p.domain = NEW.domain AND p.period = NEW.period
            AND p.digest = NEW.publication_digest FOR UPDATE;
    IF (
        SELECT count(*) FROM dissemination.eu_cell c
        WHERE c.domain = NEW.domain AND c.period = NEW.period
            AND c.publication_digest = NEW.publication_digest
    ) IS DISTINCT FROM (
        SELECT p.cells FROM dissemination.publication p
        WHERE p.domain = NEW.domain AND p.period = NEW.period AND p.digest = NEW.publication_digest
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: the publication is not complete';
    END IF;
    IF NEW.version <> (
        SELECT coalesce(max(r.version), 0) + 1 FROM dissemination.release r
        WHERE r.domain = NEW.domain AND r.period = NEW.period
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: not the next version';
    END IF;
    IF EXISTS (
        SELECT 1 FROM dissemination.release r
        WHERE r.domain = NEW.domain AND r.period = NEW.period AND r.version = NEW.version - 1
            AND r.publication_digest = NEW.publication_digest
            AND NOT EXISTS (SELECT 1 FROM dissemination.retraction t WHERE t.release_id = r.release_id)
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: this publication is the current version already';
    END IF;
    SELECT t.profiles, t.approvals, s.embargo INTO asked
        FROM operations.submission s
        JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        WHERE s.release_id = NEW.release_id;
    IF NOT FOUND THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: the run was not submitted under any terms';
    END IF;
    IF NOT EXISTS (
        SELECT 1 FROM operations.audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
            AND a.publication_digest = NEW.publication_digest AND a.passed
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: no passed audit of this publication';
    END IF;
    IF NOT EXISTS (
        SELECT 1 FROM operations.audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
            AND string_to_array(asked.profiles, ',') <@ string_to_array(a.profiles, ',')
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: a profile that the terms ask for was not audited';
    END IF;
    IF asked.approvals > (
        SELECT count(*) FROM operations.approval a
        WHERE a.release_id = NEW.release_id AND a.audit_digest = NEW.audit_digest
            AND a.publication_digest = NEW.publication_digest
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: approvals are missing';
    END IF;
    IF NEW.embargo IS DISTINCT FROM asked.embargo THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: not the embargo under which it was submitted';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_gate BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.release_gate();

-- The figures of a structure and period belong to the domain that published them first: no audit attacks two
-- domains together.
CREATE FUNCTION dissemination.one_domain_gate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM operations.take_turn('figures ' || NEW.period);
    IF EXISTS (
        SELECT 1
        FROM operations.submission s
        JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        JOIN dissemination.release r ON r.period = NEW.period AND r.domain <> NEW.domain
        JOIN operations.submission rs ON rs.release_id = r.release_id
        JOIN operations.terms rt ON rt.domain = rs.domain AND rt.digest = rs.terms_digest
        WHERE s.release_id = NEW.release_id
            AND split_part(t.settings::jsonb ->> 'structure_id', '(', 1)
                IS NOT DISTINCT FROM split_part(rt.settings::jsonb ->> 'structure_id', '(', 1)
            AND EXISTS (
                SELECT 1
                FROM dissemination.eu_cell c
                JOIN dissemination.eu_cell rc ON rc.indicator = c.indicator
                WHERE c.domain = NEW.domain AND c.period = NEW.period
                    AND c.publication_digest = NEW.publication_digest
                    AND rc.domain = r.domain AND rc.period = r.period
                    AND rc.publication_digest = r.publication_digest
            )
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: another domain has published these figures of the period';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_one_domain BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.one_domain_gate();

-- Only people count for whom an account vouches; an approval without an account is from before accounts were
-- noted.
CREATE FUNCTION dissemination.release_people() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (
        SELECT t.approvals FROM operations.submission s
        JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        WHERE s.release_id = NEW.release_id
    ) > (
        SELECT count(DISTINCT a.approver) FROM operations.approval a
        WHERE a.release_id = NEW.release_id AND a.audit_digest = NEW.audit_digest
            AND a.publication_digest = NEW.publication_digest
            AND a.account IS NOT NULL
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: approvals are missing, of people that somebody vouches for';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_people BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.release_people();

-- What goes out is, row by row, what was audited; and no cell of a country.
CREATE FUNCTION dissemination.release_printed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: the transaction must be READ COMMITTED';
    END IF;
    IF (
        SELECT a.printed_digest FROM operations.audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
    ) IS DISTINCT FROM dissemination.printed_digest(NEW.domain, NEW.period, NEW.publication_digest) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: its cells are not those that were audited';
    END IF;
    IF EXISTS (
        SELECT 1 FROM dissemination.eu_cell c
        WHERE c.domain = NEW.domain AND c.period = NEW.period
            AND c.publication_digest = NEW.publication_digest
            AND c.area IN (SELECT d.country FROM operations.delivery d WHERE d.domain = NEW.domain)
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: it holds a cell of a country';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_printed BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.release_printed();

-- Terms and audits that name no profile, or an unknown one, release nothing.
CREATE FUNCTION dissemination.release_profiles() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM operations.submission s
        JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        WHERE s.release_id = NEW.release_id AND operations.known_profiles(t.profiles) IS NOT TRUE
        UNION ALL
        SELECT 1 FROM operations.audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
            AND operations.known_profiles(a.profiles) IS NOT TRUE
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE =
                'release refused: attacker profiles that are unknown here, named twice, or none at all';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_profiles BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.release_profiles();

-- What goes out under terms with rule_aware was shown to withstand somebody who has the program: the
-- certificate has the options of the terms, leaves no primary too little, and counts each primary.
CREATE FUNCTION dissemination.program_gate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked text;
    shown text;
BEGIN
    SELECT t.settings, a.certificate INTO asked, shown
        FROM operations.submission s
        JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        LEFT JOIN operations.audit a ON a.release_id = s.release_id AND a.digest = NEW.audit_digest
            AND a.publication_digest = NEW.publication_digest AND a.passed
        WHERE s.release_id = NEW.release_id;
    IF (
        operations.told(asked, 'bases', 'rule_aware') IS NOT DISTINCT FROM 'true'
        OR coalesce(operations.told(asked, 'indicators'), '') LIKE '%"rule_aware": true%'
    ) AND operations.told(shown, 'program', 'verdict') IS DISTINCT FROM 'passed'
        OR operations.told(asked, 'bases', 'rule_aware') IS NOT DISTINCT FROM 'true' AND (
            operations.told(shown, 'program', 'bases', 'removed')
                IS DISTINCT FROM operations.told(asked, 'bases', 'removed')
            OR operations.told(shown, 'program', 'bases', 'epoch')
                IS DISTINCT FROM operations.told(asked, 'bases', 'epoch')
            OR operations.told(shown, 'program', 'bases', 'narrow') IS DISTINCT FROM '[]'
            OR CAST(operations.told(shown, 'program', 'bases', 'wide') AS integer)
                + jsonb_array_length(CAST(operations.told(shown, 'program', 'bases', 'without_claim')
                    AS jsonb))
                IS DISTINCT FROM CAST(operations.told(shown, 'counts', 'primaries') AS integer)
                - coalesce(CAST(operations.told(shown, 'counts', 'judged_as_whole_numbers') AS integer), 0)
        ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: not shown to withstand somebody who has the program';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_program BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.program_gate();

-- Figures that may be those of another domain or frequency that are out, or sums or parts of them, stay in:
-- no audit attacks both together. A domain file may say why another domain is unrelated; the certificate
-- names the reason.
CREATE FUNCTION dissemination.related_gate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked text;
    shown text;
BEGIN
    PERFORM operations.take_turn('related figures');
    SELECT t.settings, a.certificate INTO asked, shown
        FROM operations.submission s
        JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        LEFT JOIN operations.audit a ON a.release_id = s.release_id AND a.digest = NEW.audit_digest
        WHERE s.release_id = NEW.release_id;
    IF operations.told(asked, 'unrelated') IS DISTINCT FROM operations.told(shown, 'unrelated') THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: its certificate does not name why other domains are unrelated';
    END IF;
    IF EXISTS (
        SELECT 1
        FROM (
            SELECT DISTINCT r.domain, r.period, r.publication_digest, s.terms_digest
            FROM dissemination.release r LEFT JOIN operations.submission s ON s.release_id = r.release_id
            WHERE (r.domain <> NEW.domain OR r.period <> NEW.period)
                AND operations.same_time(r.period, NEW.period)
        ) b
        LEFT JOIN operations.terms bt ON bt.domain = b.domain AND bt.digest = b.terms_digest
        WHERE CASE
            WHEN b.domain = NEW.domain THEN TRUE
            WHEN trim(operations.told(asked, 'unrelated', b.domain)) <> '' THEN FALSE
            ELSE operations.akin(asked, bt.settings)
        END AND EXISTS (
            SELECT 1
            FROM (
                SELECT DISTINCT upper(c.indicator) AS indicator FROM dissemination.eu_cell c
                WHERE c.domain = NEW.domain AND c.period = NEW.period
                    AND c.publication_digest = NEW.publication_digest
            ) ours
            JOIN (
                SELECT DISTINCT upper(c.indicator) AS indicator FROM dissemination.eu_cell c
                WHERE c.domain = b.domain AND c.period = b.period
                    AND c.publication_digest = b.publication_digest
            ) theirs ON theirs.indicator = ours.indicator
        )
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: beside figures that may be the same, or sums of them';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_related BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.related_gate();

-- What is drawn by the secret goes out with a certificate that names it, and where the office keeps the
-- secret elsewhere too: a restored warehouse, or another one, would draw other tables of the same period, and
-- two of them tell what each alone does not.
CREATE FUNCTION dissemination.secret_named() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked text;
    shown text;
    known text;
    safe boolean;
BEGIN
    SELECT t.settings, a.certificate INTO asked, shown
        FROM operations.submission s
        JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        LEFT JOIN operations.audit a ON a.release_id = s.release_id AND a.digest = NEW.audit_digest
        WHERE s.release_id = NEW.release_id;
    SELECT c.fingerprint, c.kept INTO known, safe FROM confidential.secret c;
    IF operations.told(shown, 'secret') IS NOT NULL
        AND operations.told(shown, 'secret') IS DISTINCT FROM known THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: its certificate names another secret than this warehouse has';
    END IF;
    IF (
        operations.told(asked, 'bases', 'rule_aware') IS NOT DISTINCT FROM 'true'
        OR coalesce(operations.told(asked, 'indicators'), '') LIKE '%"rounding": {%'
    ) AND (operations.told(shown, 'secret') IS NULL OR safe IS NOT TRUE) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE =
                'release refused: it is drawn by a secret that is not named, or kept nowhere else';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_secret BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.secret_named();

-- Where a version of the period is out, the next was attacked by somebody who kept it, whatever its terms ask
-- for.
CREATE FUNCTION dissemination.vintage_gate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM dissemination.release r WHERE r.domain = NEW.domain AND r.period = NEW.period)
        AND NOT EXISTS (
            SELECT 1 FROM operations.audit a
            WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
                AND 'vintage' = ANY (string_to_array(a.profiles, ','))
        ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: not audited beside the version that is out';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER release_vintage BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.vintage_gate();

-- === Cells of a publication ==============================================================================
-- Once for a statement, not once for a row: a cell is of a publication that is there, and not released. The
-- lock is that of a foreign key: the gate of a release, which locks the publication, waits for whoever adds a
-- cell, and the other way round. An older snapshot would not see that the publication was released meanwhile.
CREATE FUNCTION dissemination.eu_cell_gate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'eu_cell refused: the transaction must be READ COMMITTED';
    END IF;
    PERFORM 1 FROM dissemination.publication p
        WHERE (p.domain, p.period, p.digest) IN (SELECT a.domain, a.period, a.publication_digest FROM added a)
        ORDER BY p.domain, p.period, p.digest FOR KEY SHARE;
    IF EXISTS (
        SELECT a.domain, a.period, a.publication_digest FROM added a
        EXCEPT SELECT p.domain, p.period, p.digest FROM dissemination.publication p
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'eu_cell refused: there is no such publication';
    END IF;
    IF EXISTS (SELECT 1 FROM dissemination.release JOIN added USING (domain, period, publication_digest)) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'eu_cell refused: the publication is released';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER eu_cell_gate AFTER INSERT ON dissemination.eu_cell REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.eu_cell_gate();

-- === Terms, submissions and audits =======================================================================
-- They name attacker profiles that this warehouse knows.
CREATE FUNCTION operations.profiles_gate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF operations.known_profiles(NEW.profiles) IS NOT TRUE THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = TG_TABLE_NAME
                || ' refused: attacker profiles that are unknown here, named twice, or none at all';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER terms_profiles BEFORE INSERT ON operations.terms
FOR EACH ROW EXECUTE FUNCTION operations.profiles_gate();

CREATE TRIGGER audit_profiles BEFORE INSERT ON operations.audit
FOR EACH ROW EXECUTE FUNCTION operations.profiles_gate();

-- JSON that pages and reports read is JSON; terms ask for what their settings say.
CREATE FUNCTION operations.json_gate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    good boolean;
BEGIN
    CASE TG_TABLE_NAME
        WHEN 'terms' THEN
            good := operations.tells(NEW.settings, '')
                AND coalesce(operations.told(NEW.settings, 'audit', 'profiles'),
                    '["' || replace(NEW.profiles, ',', '", "') || '"]')
                    = '["' || replace(NEW.profiles, ',', '", "') || '"]'
                AND coalesce(operations.told(NEW.settings, 'governance', 'approvals'), NEW.approvals::text)
                    = NEW.approvals::text
                AND (
                    operations.told(NEW.settings, 'governance') IS NULL
                    OR operations.told(NEW.settings, 'governance', 'retention_days')
                        IS NOT DISTINCT FROM NEW.retention_days::text
                );
        WHEN 'submission' THEN good := operations.tells(NEW.environment, '');
        WHEN 'cycle' THEN good := operations.is_list(NEW.areas);
        WHEN 'check_result' THEN good := operations.is_list(NEW.cells);
    END CASE;
    IF good IS NOT TRUE THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = TG_TABLE_NAME || ' refused: its JSON is none, or says otherwise';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER terms_json BEFORE INSERT ON operations.terms
FOR EACH ROW EXECUTE FUNCTION operations.json_gate();

CREATE TRIGGER submission_json BEFORE INSERT ON operations.submission
FOR EACH ROW EXECUTE FUNCTION operations.json_gate();

CREATE TRIGGER cycle_json BEFORE INSERT OR UPDATE ON operations.cycle
FOR EACH ROW EXECUTE FUNCTION operations.json_gate();

CREATE TRIGGER check_result_json BEFORE INSERT OR UPDATE ON operations.check_result
FOR EACH ROW EXECUTE FUNCTION operations.json_gate();

CREATE FUNCTION operations.submission_gate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF operations.is_person(NEW.submitter) IS NOT TRUE THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'submission refused: the name could pass for that of somebody else';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER submission_gate BEFORE INSERT ON operations.submission
FOR EACH ROW EXECUTE FUNCTION operations.submission_gate();

-- An audit is known by its certificate, and by nothing else.
CREATE FUNCTION operations.audit_gate() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.digest <> encode(sha256(convert_to(NEW.certificate, 'UTF8')), 'hex') THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'audit refused: the digest is not that of its certificate';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER audit_gate BEFORE INSERT ON operations.audit
FOR EACH ROW EXECUTE FUNCTION operations.audit_gate();

-- An audit is stored as its certificate has it, and the certificate is of its run.
CREATE FUNCTION operations.audit_told() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    told jsonb;
    wanted text[];
BEGIN
    BEGIN
        told := NEW.certificate::jsonb;
    EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'audit refused: its certificate is no JSON';
    END;
    SELECT ARRAY[r.domain, r.period, coalesce(s.terms_digest, told #>> '{digests,domain}')] INTO wanted
        FROM operations.run r LEFT JOIN operations.submission s ON s.release_id = r.release_id
        WHERE r.release_id = NEW.release_id;
    wanted := wanted || ARRAY[
        NEW.problem_digest, NEW.publication_digest, '["' || replace(NEW.profiles, ',', '", "') || '"]',
        CASE WHEN NEW.passed THEN 'passed' ELSE 'failed' END, NEW.primaries::text, NEW.broken::text
    ];
    IF wanted IS DISTINCT FROM ARRAY[
        told ->> 'domain', told ->> 'period', told #>> '{digests,domain}',
        told #>> '{digests,problem}', told #>> '{digests,publication}',
        told ->> 'profiles', told ->> 'verdict',
        told #>> '{counts,primaries}', told #>> '{counts,broken_requirements}'
    ] OR array_position(wanted, NULL) IS NOT NULL THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'audit refused: its certificate says otherwise';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER audit_told BEFORE INSERT ON operations.audit
FOR EACH ROW EXECUTE FUNCTION operations.audit_told();

-- === Approvals, withdrawals and retractions ==============================================================
-- A typed name proves nothing. An account agrees in its own name; the desk, an account of sdc_desk, vouches
-- for the people at it.
CREATE FUNCTION operations.approval_gate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.account := session_user;
    IF NEW.approver <> lower(session_user) AND NOT pg_has_role(session_user, 'sdc_desk', 'MEMBER') THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'approval refused: an account agrees in its own name only';
    END IF;
    IF operations.is_person(NEW.approver) IS NOT TRUE THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'approval refused: the name could pass for that of somebody else';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER approval_gate BEFORE INSERT ON operations.approval
FOR EACH ROW EXECUTE FUNCTION operations.approval_gate();

-- Whoever started a run of a release does not agree to it, also where another run submitted it.
CREATE FUNCTION operations.approval_by_others() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM operations.dag_run d
        WHERE d.release_id = NEW.release_id AND d.triggered_by = NEW.approver
            AND d.dag_id LIKE 'eu\_release\_%'
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'approval refused: the approver started a run of this release';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER approval_by_others BEFORE INSERT ON operations.approval
FOR EACH ROW EXECUTE FUNCTION operations.approval_by_others();

-- As an approval: an account agrees in its own name, the desk vouches for people, and the server says who and
-- when. Whoever asked to take the release back for this reason does not agree to it.
CREATE FUNCTION operations.withdrawal_gate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.account := session_user;
    NEW.agreed_at := clock_timestamp();
    IF NEW.agreed_by <> lower(session_user) AND NOT pg_has_role(session_user, 'sdc_desk', 'MEMBER') THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'withdrawal refused: an account agrees in its own name only';
    END IF;
    IF operations.is_person(NEW.agreed_by) IS NOT TRUE THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'withdrawal refused: the name could pass for that of somebody else';
    END IF;
    IF EXISTS (
        SELECT 1 FROM operations.dag_run d
        WHERE d.dag_id = 'retract_release' AND d.release_id = NEW.release_id AND d.reason = NEW.reason
            AND d.triggered_by = NEW.agreed_by
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'withdrawal refused: who asked to take the release back does not agree to it';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER withdrawal_gate BEFORE INSERT ON operations.withdrawal
FOR EACH ROW EXECUTE FUNCTION operations.withdrawal_gate();

-- A release that two people let out is taken back by two.
CREATE FUNCTION dissemination.retraction_people() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF operations.is_person(NEW.retracted_by) IS NOT TRUE THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'retraction refused: the name could pass for that of somebody else';
    END IF;
    IF EXISTS (
        SELECT 1 FROM operations.submission s
        JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        WHERE s.release_id = NEW.release_id AND t.approvals >= 1
    ) AND NOT EXISTS (
        SELECT 1 FROM operations.withdrawal w
        WHERE w.release_id = NEW.release_id AND w.reason = NEW.reason AND w.agreed_by <> NEW.retracted_by
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'retraction refused: nobody else agreed to it for this reason';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER retraction_people BEFORE INSERT ON dissemination.retraction
FOR EACH ROW EXECUTE FUNCTION dissemination.retraction_people();

-- === The log =============================================================================================
-- The writer says who did what, to what. Number, instant, account and digests are the database's.
CREATE FUNCTION operations.log_gate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    last record;
BEGIN
    IF num_nonnulls(NEW.number, NEW.recorded_at, NEW.account, NEW.previous, NEW.digest) > 0 THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'log refused: number, instant, account and digests are set by the database';
    END IF;
    PERFORM operations.take_turn('log');
    SELECT l.number, l.digest INTO last FROM operations.log l ORDER BY l.number DESC LIMIT 1;
    NEW.number := coalesce(last.number, 0) + 1;
    NEW.recorded_at := clock_timestamp();
    NEW.account := session_user;
    NEW.previous := coalesce(last.digest, '');
    NEW.digest := encode(sha256(convert_to(json_build_array(
        NEW.number, to_char(NEW.recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        NEW.actor, NEW.account, NEW.action, NEW.subject, NEW.details, NEW.previous
    )::text, 'UTF8')), 'hex');
    RETURN NEW;
END $$;

CREATE TRIGGER log_gate BEFORE INSERT ON operations.log
FOR EACH ROW EXECUTE FUNCTION operations.log_gate();

-- An entry says what its kind must say: checks compare it with what is stored.
CREATE FUNCTION operations.log_told() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF operations.tells(NEW.details, CASE NEW.action
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
    END) IS NOT TRUE THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'log refused: details are no JSON that tells what such an entry must tell';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER log_told BEFORE INSERT ON operations.log
FOR EACH ROW EXECUTE FUNCTION operations.log_told();

CREATE FUNCTION operations.log_agreed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.action = 'agree' AND operations.tells(NEW.details, 'reason') IS NOT TRUE THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'log refused: details are no JSON that tells what such an entry must tell';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER log_agreed BEFORE INSERT ON operations.log
FOR EACH ROW EXECUTE FUNCTION operations.log_agreed();

-- === What is confidential ================================================================================
-- It goes only by way of a purge that is on record.
CREATE FUNCTION confidential.payload_gate() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM operations.artefact a WHERE a.digest = OLD.digest
        AND a.purged_at IS NOT NULL) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'payload refused: it is not marked as purged';
    END IF;
    RETURN OLD;
END $$;

CREATE TRIGGER payload_gate BEFORE DELETE ON confidential.payload
FOR EACH ROW EXECUTE FUNCTION confidential.payload_gate();

CREATE TRIGGER payload_truncate BEFORE TRUNCATE ON confidential.payload
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

-- A warehouse has one secret: where the log tells of one, no other is stored, and its name does not change.
CREATE FUNCTION confidential.secret_gate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' AND (
        NEW.fingerprint IS NULL
        OR EXISTS (SELECT 1 FROM operations.log l WHERE l.action IN ('make', 'name')
            AND l.subject = 'confidential.secret')
        AND NOT EXISTS (
            SELECT 1 FROM operations.log l
            WHERE l.action IN ('make', 'name') AND l.subject = 'confidential.secret'
                AND operations.told(l.details, 'fingerprint') = NEW.fingerprint
        )
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'secret refused: the log tells of another secret of this warehouse';
    END IF;
    IF TG_OP = 'UPDATE' AND (
        OLD.fingerprint IS NOT NULL AND NEW.fingerprint IS DISTINCT FROM OLD.fingerprint
        OR OLD.kept AND NOT NEW.kept
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'secret refused: it is named already, and the same for ever';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER secret_gate BEFORE INSERT OR UPDATE ON confidential.secret
FOR EACH ROW EXECUTE FUNCTION confidential.secret_gate();

-- Deliveries and releases are named by it: nobody replaces it; it is only encrypted anew.
CREATE TRIGGER secret_stays BEFORE DELETE OR TRUNCATE ON confidential.secret
FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

-- === What is read ========================================================================================
-- The public reads two functions of the owner: nothing before its embargo has passed by the clock of this
-- server, no cell of what was retracted. Behind a view of these, conditions of the public meet only rows that
-- it may know; a view of the tables would let conditions on values, and the planner's statistics, reach the
-- others too (EXPLAIN tells).
CREATE FUNCTION dissemination.visible_releases() RETURNS TABLE (
    release_id text, domain text, period text, version integer, publication_digest text,
    released_at timestamptz, embargo timestamptz, retracted text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT r.release_id, r.domain, r.period, r.version, r.publication_digest, r.released_at, r.embargo,
            t.reason
        FROM dissemination.release r
        LEFT JOIN dissemination.retraction t ON t.release_id = r.release_id
        WHERE r.embargo IS NULL OR r.embargo <= CURRENT_TIMESTAMP;
END $$;

CREATE FUNCTION dissemination.visible_cells(of_domain text, of_period text, of_version integer)
RETURNS TABLE (
    "position" integer, cell text, area text, indicator text, value float8, obs_status text, conf_status text,
    rounding_base float8, visible_share float8
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    digest text;
BEGIN
    SELECT v.publication_digest INTO digest
        FROM dissemination.visible_releases() v
        WHERE v.domain = of_domain AND v.period = of_period AND v.version = of_version
            AND v.retracted IS NULL;
    IF FOUND THEN
        RETURN QUERY
            SELECT c.position, c.cell, c.area, c.indicator, c.value, c.obs_status, c.conf_status,
                c.rounding_base, c.visible_share
            FROM dissemination.eu_cell c
            WHERE c.domain = of_domain AND c.period = of_period AND c.publication_digest = digest;
    END IF;
END $$;

CREATE VIEW dissemination.public_release AS SELECT * FROM dissemination.visible_releases();

CREATE VIEW dissemination.public_cell AS
SELECT r.domain, r.period, r.version, c.position, c.cell, c.area, c.indicator, c.value, c.obs_status,
    c.conf_status, c.rounding_base, c.visible_share
FROM dissemination.public_release r
CROSS JOIN LATERAL dissemination.visible_cells(r.domain, r.period, r.version) c;

-- The state of each file as people see it: a second file of a country waits for an answer, or was kept out by
-- one. It is derived, so it cannot become untrue.
CREATE VIEW operations.delivery_now AS
SELECT d.domain, d.period, d.digest, d.country, d.file, d.received_at, d.superseded_by, d.times,
    CASE
        WHEN d.state NOT IN ('received', 'refused') THEN d.state
        WHEN (
            SELECT l.action FROM operations.log l
            WHERE l.subject = d.digest AND l.action IN ('keep', 'replace', 'both')
                AND operations.told(l.details, 'domain') = d.domain
                AND operations.told(l.details, 'period') = d.period
                AND operations.told(l.details, 'times') = CAST(d.times AS text)
            ORDER BY l.number DESC LIMIT 1
        ) = 'keep' THEN 'kept out'
        WHEN d.state = 'received'
            AND EXISTS (
                SELECT 1 FROM operations.delivery a
                WHERE a.domain = d.domain AND a.period = d.period AND a.country = d.country
                    AND a.state = 'accepted'
            )
            AND NOT EXISTS (
                SELECT 1 FROM operations.delivery a
                WHERE a.domain = d.domain AND a.period = d.period AND a.country = d.country
                    AND a.state = 'accepted' AND a.series = d.series
            )
            AND NOT EXISTS (
                SELECT 1 FROM operations.log l
                WHERE l.subject = d.digest AND l.action IN ('replace', 'both')
                    AND operations.told(l.details, 'domain') = d.domain
                    AND operations.told(l.details, 'period') = d.period
                    AND operations.told(l.details, 'times') = CAST(d.times AS text)
            ) THEN 'waiting'
        ELSE d.state
    END AS state,
    EXISTS (
        SELECT 1 FROM operations.inbox i
        WHERE i.domain = d.domain AND i.period = d.period AND i.digest = d.digest
    ) AS lying
FROM operations.delivery d;
