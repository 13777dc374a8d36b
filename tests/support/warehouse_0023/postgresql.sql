-- A warehouse of revision 0023, the last of the development versions, with rows in every table: filled at
-- revision 0004 and upgraded step by step, then released from once more. Frozen: such a warehouse is compared
-- with it. Written by pg_dump of PostgreSQL 18 (--inserts --no-owner), without its comments.

SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;

CREATE SCHEMA confidential;

CREATE SCHEMA dissemination;

CREATE SCHEMA operations;

CREATE FUNCTION confidential.payload_gate() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM operations.artefact a WHERE a.digest = OLD.digest AND a.purged_at IS NOT NULL) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'payload refused: it is not marked as purged';
    END IF;
    RETURN OLD;
END $$;

CREATE FUNCTION confidential.secret_gate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF TG_OP = 'INSERT' AND (
        NEW.fingerprint IS NULL
        OR EXISTS (SELECT 1 FROM operations.log l WHERE l.action IN ('make', 'name') AND l.subject = 'confidential.secret')
        AND NOT EXISTS (
            SELECT 1 FROM operations.log l
            WHERE l.action IN ('make', 'name') AND l.subject = 'confidential.secret'
                AND operations.told(l.details, 'fingerprint') = NEW.fingerprint
        )
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'secret refused: the log tells of another secret of this warehouse';
    END IF;
    IF TG_OP = 'UPDATE' AND (
        OLD.fingerprint IS NOT NULL AND NEW.fingerprint IS DISTINCT FROM OLD.fingerprint OR OLD.kept AND NOT NEW.kept
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'secret refused: it is named already, and the same for ever';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION dissemination.append_only() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RAISE integrity_constraint_violation USING MESSAGE = TG_TABLE_NAME || ' is append-only';
END $$;

CREATE FUNCTION dissemination.asked_before() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
        RAISE integrity_constraint_violation USING
            MESSAGE = 'release refused: an earlier version of the period asked for more approvals or attackers';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION dissemination.beside_gate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM operations.take_turn('release ' || NEW.domain || ' ' || NEW.period);
    IF (
        SELECT '["' || string_agg(r.publication_digest, '", "' ORDER BY r.version) || '"]'
        FROM dissemination.release r WHERE r.domain = NEW.domain AND r.period = NEW.period
    ) IS DISTINCT FROM (
        SELECT operations.told(a.certificate, 'beside') FROM operations.audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: other versions are out than its audit knew';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION dissemination.eu_cell_gate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'eu_cell refused: the transaction must be READ COMMITTED';
    END IF;
    PERFORM 1 FROM dissemination.publication p
        WHERE (p.domain, p.period, p.digest) IN (SELECT a.domain, a.period, a.publication_digest FROM added a)
        ORDER BY p.domain, p.period, p.digest FOR KEY SHARE;
    IF EXISTS (
        SELECT a.domain, a.period, a.publication_digest FROM added a
        EXCEPT SELECT p.domain, p.period, p.digest FROM dissemination.publication p
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'eu_cell refused: there is no such publication';
    END IF;
    IF EXISTS (SELECT 1 FROM dissemination.release JOIN added USING (domain, period, publication_digest)) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'eu_cell refused: the publication is released';
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION dissemination.one_domain_gate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
                WHERE c.domain = NEW.domain AND c.period = NEW.period AND c.publication_digest = NEW.publication_digest
                    AND rc.domain = r.domain AND rc.period = r.period AND rc.publication_digest = r.publication_digest
            )
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: another domain has published these figures of the period';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION dissemination.printed_digest(of_domain text, of_period text, of_publication text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN (
        SELECT encode(sha256(convert_to(coalesce(string_agg(p.digest, chr(10) ORDER BY p.number), ''), 'UTF8')), 'hex')
        FROM (
            SELECT c.position / 10000 AS number, encode(sha256(convert_to(concat_ws(chr(10), count(*)::text,
                encode(sha256(convert_to(string_agg(c.position::text, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(c.cell, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(c.area, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(c.indicator, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(coalesce(encode(float8send(c.value + 0), 'hex'), repeat('x', 16)), '' ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(c.obs_status, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(c.conf_status, chr(10) ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(coalesce(encode(float8send(c.rounding_base + 0), 'hex'), repeat('x', 16)), '' ORDER BY c.position, c.cell), 'UTF8')), 'hex'),
                encode(sha256(convert_to(string_agg(coalesce(encode(float8send(c.visible_share + 0), 'hex'), repeat('x', 16)), '' ORDER BY c.position, c.cell), 'UTF8')), 'hex')
            ), 'UTF8')), 'hex') AS digest
            FROM dissemination.eu_cell c
            WHERE c.domain = of_domain AND c.period = of_period AND c.publication_digest = of_publication
            GROUP BY c.position / 10000
        ) p
    );
END $$;

CREATE FUNCTION dissemination.program_gate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
            operations.told(shown, 'program', 'bases', 'removed') IS DISTINCT FROM operations.told(asked, 'bases', 'removed')
            OR operations.told(shown, 'program', 'bases', 'epoch') IS DISTINCT FROM operations.told(asked, 'bases', 'epoch')
            OR operations.told(shown, 'program', 'bases', 'narrow') IS DISTINCT FROM '[]'
            OR CAST(operations.told(shown, 'program', 'bases', 'wide') AS integer)
                + jsonb_array_length(CAST(operations.told(shown, 'program', 'bases', 'without_claim') AS jsonb))
                IS DISTINCT FROM CAST(operations.told(shown, 'counts', 'primaries') AS integer)
                - coalesce(CAST(operations.told(shown, 'counts', 'judged_as_whole_numbers') AS integer), 0)
        ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: not shown to withstand somebody who has the program';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION dissemination.related_gate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: its certificate does not name why other domains are unrelated';
    END IF;
    IF EXISTS (
        SELECT 1
        FROM (
            SELECT DISTINCT r.domain, r.period, r.publication_digest, s.terms_digest
            FROM dissemination.release r LEFT JOIN operations.submission s ON s.release_id = r.release_id
            WHERE (r.domain <> NEW.domain OR r.period <> NEW.period) AND operations.same_time(r.period, NEW.period)
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
                WHERE c.domain = NEW.domain AND c.period = NEW.period AND c.publication_digest = NEW.publication_digest
            ) ours
            JOIN (
                SELECT DISTINCT upper(c.indicator) AS indicator FROM dissemination.eu_cell c
                WHERE c.domain = b.domain AND c.period = b.period AND c.publication_digest = b.publication_digest
            ) theirs ON theirs.indicator = ours.indicator
        )
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: beside figures that may be the same, or sums of them';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION dissemination.release_gate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    asked record;
BEGIN
    PERFORM 1 FROM dissemination.publication p
        WHERE p.domain = NEW.domain AND p.period = NEW.period AND p.digest = NEW.publication_digest FOR UPDATE;
    IF (
        SELECT count(*) FROM dissemination.eu_cell c
        WHERE c.domain = NEW.domain AND c.period = NEW.period AND c.publication_digest = NEW.publication_digest
    ) IS DISTINCT FROM (
        SELECT p.cells FROM dissemination.publication p
        WHERE p.domain = NEW.domain AND p.period = NEW.period AND p.digest = NEW.publication_digest
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: the publication is not complete';
    END IF;
    IF NEW.version <> (
        SELECT coalesce(max(r.version), 0) + 1 FROM dissemination.release r WHERE r.domain = NEW.domain AND r.period = NEW.period
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: not the next version';
    END IF;
    IF EXISTS (
        SELECT 1 FROM dissemination.release r
        WHERE r.domain = NEW.domain AND r.period = NEW.period AND r.version = NEW.version - 1
            AND r.publication_digest = NEW.publication_digest
            AND NOT EXISTS (SELECT 1 FROM dissemination.retraction t WHERE t.release_id = r.release_id)
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: this publication is the current version already';
    END IF;
    SELECT t.profiles, t.approvals, s.embargo INTO asked
        FROM operations.submission s JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        WHERE s.release_id = NEW.release_id;
    IF NOT FOUND THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: the run was not submitted under any terms';
    END IF;
    IF NOT EXISTS (
        SELECT 1 FROM operations.audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest AND a.publication_digest = NEW.publication_digest AND a.passed
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: no passed audit of this publication';
    END IF;
    IF NOT EXISTS (
        SELECT 1 FROM operations.audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
            AND string_to_array(asked.profiles, ',') <@ string_to_array(a.profiles, ',')
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: a profile that the terms ask for was not audited';
    END IF;
    IF asked.approvals > (
        SELECT count(*) FROM operations.approval a
        WHERE a.release_id = NEW.release_id AND a.audit_digest = NEW.audit_digest AND a.publication_digest = NEW.publication_digest
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: approvals are missing';
    END IF;
    IF NEW.embargo IS DISTINCT FROM asked.embargo THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: not the embargo under which it was submitted';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION dissemination.release_people() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF (
        SELECT t.approvals FROM operations.submission s JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        WHERE s.release_id = NEW.release_id
    ) > (
        SELECT count(DISTINCT a.approver) FROM operations.approval a
        WHERE a.release_id = NEW.release_id AND a.audit_digest = NEW.audit_digest AND a.publication_digest = NEW.publication_digest
            AND a.account IS NOT NULL
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: approvals are missing, of people that somebody vouches for';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION dissemination.release_printed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: the transaction must be READ COMMITTED';
    END IF;
    IF (
        SELECT a.printed_digest FROM operations.audit a WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
    ) IS DISTINCT FROM dissemination.printed_digest(NEW.domain, NEW.period, NEW.publication_digest) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: its cells are not those that were audited';
    END IF;
    IF EXISTS (
        SELECT 1 FROM dissemination.eu_cell c
        WHERE c.domain = NEW.domain AND c.period = NEW.period AND c.publication_digest = NEW.publication_digest
            AND c.area IN (SELECT d.country FROM operations.delivery d WHERE d.domain = NEW.domain)
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: it holds a cell of a country';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION dissemination.release_profiles() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM operations.submission s JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        WHERE s.release_id = NEW.release_id AND operations.known_profiles(t.profiles) IS NOT TRUE
        UNION ALL
        SELECT 1 FROM operations.audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest AND operations.known_profiles(a.profiles) IS NOT TRUE
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: attacker profiles that are unknown here, named twice, or none at all';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION dissemination.retraction_people() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF operations.is_person(NEW.retracted_by) IS NOT TRUE THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'retraction refused: the name could pass for that of somebody else';
    END IF;
    IF EXISTS (
        SELECT 1 FROM operations.submission s JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        WHERE s.release_id = NEW.release_id AND t.approvals >= 1
    ) AND NOT EXISTS (
        SELECT 1 FROM operations.withdrawal w
        WHERE w.release_id = NEW.release_id AND w.reason = NEW.reason AND w.agreed_by <> NEW.retracted_by
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'retraction refused: nobody else agreed to it for this reason';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION dissemination.secret_named() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
    IF operations.told(shown, 'secret') IS NOT NULL AND operations.told(shown, 'secret') IS DISTINCT FROM known THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: its certificate names another secret than this warehouse has';
    END IF;
    IF (
        operations.told(asked, 'bases', 'rule_aware') IS NOT DISTINCT FROM 'true'
        OR coalesce(operations.told(asked, 'indicators'), '') LIKE '%"rounding": {%'
    ) AND (operations.told(shown, 'secret') IS NULL OR safe IS NOT TRUE) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: it is drawn by a secret that is not named, or kept nowhere else';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION dissemination.vintage_gate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM dissemination.release r WHERE r.domain = NEW.domain AND r.period = NEW.period) AND NOT EXISTS (
        SELECT 1 FROM operations.audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest AND 'vintage' = ANY (string_to_array(a.profiles, ','))
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'release refused: not audited beside the version that is out';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION dissemination.visible_cells(of_domain text, of_period text, of_version integer) RETURNS TABLE("position" integer, cell text, area text, indicator text, value double precision, obs_status text, conf_status text, rounding_base double precision, visible_share double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    digest text;
BEGIN
    SELECT v.publication_digest INTO digest
        FROM dissemination.visible_releases() v
        WHERE v.domain = of_domain AND v.period = of_period AND v.version = of_version AND v.retracted IS NULL;
    IF FOUND THEN
        RETURN QUERY
            SELECT c.position, c.cell, c.area, c.indicator, c.value, c.obs_status, c.conf_status, c.rounding_base, c.visible_share
            FROM dissemination.eu_cell c
            WHERE c.domain = of_domain AND c.period = of_period AND c.publication_digest = digest;
    END IF;
END $$;

CREATE FUNCTION dissemination.visible_releases() RETURNS TABLE(release_id text, domain text, period text, version integer, publication_digest text, released_at timestamp with time zone, embargo timestamp with time zone, retracted text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY
        SELECT r.release_id, r.domain, r.period, r.version, r.publication_digest, r.released_at, r.embargo, t.reason
        FROM dissemination.release r
        LEFT JOIN dissemination.retraction t ON t.release_id = r.release_id
        WHERE r.embargo IS NULL OR r.embargo <= CURRENT_TIMESTAMP;
END $$;

CREATE FUNCTION operations.agency(settings text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    whole text := operations.told(settings, 'structure_id');
BEGIN
    RETURN nullif(upper(split_part(split_part(CASE WHEN strpos(whole, ':') > 0 THEN whole END, ':', 1), '.', 1)), '');
END $$;

CREATE FUNCTION operations.akin(one text, other text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION operations.approval_by_others() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM operations.dag_run d
        WHERE d.release_id = NEW.release_id AND d.triggered_by = NEW.approver AND d.dag_id LIKE 'eu\_release\_%'
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'approval refused: the approver started a run of this release';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION operations.approval_gate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    NEW.account := session_user;
    IF NEW.approver <> lower(session_user) AND NOT pg_has_role(session_user, 'sdc_desk', 'MEMBER') THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'approval refused: an account agrees in its own name only';
    END IF;
    IF operations.is_person(NEW.approver) IS NOT TRUE THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'approval refused: the name could pass for that of somebody else';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION operations.areas(settings text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF settings::jsonb #> ARRAY['codelists', settings::jsonb #>> '{areas,dimension}'] IS NULL OR settings::jsonb -> 'aggregates' IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN ARRAY(
        SELECT rows.row ->> 0
        FROM jsonb_array_elements(settings::jsonb #> ARRAY['codelists', settings::jsonb #>> '{areas,dimension}']) rows(row)
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

CREATE FUNCTION operations.audit_gate() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF NEW.digest <> encode(sha256(convert_to(NEW.certificate, 'UTF8')), 'hex') THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'audit refused: the digest is not that of its certificate';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION operations.audit_told() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    told jsonb;
    wanted text[];
BEGIN
    BEGIN
        told := NEW.certificate::jsonb;
    EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'audit refused: its certificate is no JSON';
    END;
    SELECT ARRAY[r.domain, r.period, coalesce(s.terms_digest, told #>> '{digests,domain}')] INTO wanted
        FROM operations.run r LEFT JOIN operations.submission s ON s.release_id = r.release_id
        WHERE r.release_id = NEW.release_id;
    wanted := wanted || ARRAY[
        NEW.problem_digest, NEW.publication_digest, '["' || replace(NEW.profiles, ',', '", "') || '"]',
        CASE WHEN NEW.passed THEN 'passed' ELSE 'failed' END, NEW.primaries::text, NEW.broken::text
    ];
    IF wanted IS DISTINCT FROM ARRAY[
        told ->> 'domain', told ->> 'period', told #>> '{digests,domain}', told #>> '{digests,problem}', told #>> '{digests,publication}',
        told ->> 'profiles', told ->> 'verdict', told #>> '{counts,primaries}', told #>> '{counts,broken_requirements}'
    ] OR array_position(wanted, NULL) IS NOT NULL THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'audit refused: its certificate says otherwise';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION operations.dated() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION operations.days(period text) RETURNS daterange
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    found text[] := regexp_match(period, '^([0-9]{4})(?:-(?:A1|([STQM])?([0-9]{1,2})|W([0-9]{2})))?$');
    months integer := CASE coalesce(found[2], 'M') WHEN 'S' THEN 6 WHEN 'T' THEN 4 WHEN 'Q' THEN 3 ELSE 1 END;
    begins date;
BEGIN
    IF found[4] IS NOT NULL THEN
        begins := CAST(date_trunc('week', make_date(CAST(found[1] AS integer), 1, 4)::timestamp) AS date) + 7 * (CAST(found[4] AS integer) - 1);
        IF CAST(found[4] AS integer) = 0 OR extract(isoyear FROM begins) <> CAST(found[1] AS integer) THEN
            RETURN NULL;
        END IF;
        RETURN daterange(begins, begins + 7);
    END IF;
    IF found[3] IS NULL THEN
        RETURN daterange(make_date(CAST(found[1] AS integer), 1, 1), make_date(CAST(found[1] AS integer) + 1, 1, 1));
    END IF;
    begins := make_date(CAST(found[1] AS integer), (CAST(found[3] AS integer) - 1) * months + 1, 1);
    RETURN daterange(begins, CAST(begins + make_interval(months => months) AS date));
EXCEPTION WHEN data_exception THEN
    RETURN NULL;
END $_$;

CREATE FUNCTION operations.instant(at timestamp with time zone) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
END $$;

CREATE FUNCTION operations.is_list(document text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN jsonb_typeof(document::jsonb) = 'array'
        AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements(document::jsonb) each(item) WHERE jsonb_typeof(each.item) <> 'string');
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN FALSE;
END $$;

CREATE FUNCTION operations.is_person(name text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
BEGIN
    RETURN name = lower(name) AND name = normalize(name, NFKC) AND (
        name ~ '^[!-~ß-öø-ɏ]+( [!-~ß-öø-ɏ]+)*$'
        OR name ~ '^[!-@{-~ͰͲ-Ͽἀ-῿]+( [!-@{-~ͰͲ-Ͽἀ-῿]+)*$'
        OR name ~ '^[!-@{-~Ѐ-ԯ]+( [!-@{-~Ѐ-ԯ]+)*$'
    );
END $_$;

CREATE FUNCTION operations.json_gate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    good boolean;
BEGIN
    CASE TG_TABLE_NAME
        WHEN 'terms' THEN
            good := operations.tells(NEW.settings, '')
                AND coalesce(operations.told(NEW.settings, 'audit', 'profiles'), '["' || replace(NEW.profiles, ',', '", "') || '"]')
                    = '["' || replace(NEW.profiles, ',', '", "') || '"]'
                AND coalesce(operations.told(NEW.settings, 'governance', 'approvals'), NEW.approvals::text) = NEW.approvals::text
                AND (
                    operations.told(NEW.settings, 'governance') IS NULL
                    OR operations.told(NEW.settings, 'governance', 'retention_days') IS NOT DISTINCT FROM NEW.retention_days::text
                );
        WHEN 'submission' THEN good := operations.tells(NEW.environment, '');
        WHEN 'cycle' THEN good := operations.is_list(NEW.areas);
        WHEN 'check_result' THEN good := operations.is_list(NEW.cells);
    END CASE;
    IF good IS NOT TRUE THEN
        RAISE integrity_constraint_violation USING MESSAGE = TG_TABLE_NAME || ' refused: its JSON is none, or says otherwise';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION operations.known_profiles(profiles text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT count(*) = array_length(string_to_array(profiles, ','), 1)
    FROM operations.profile p WHERE p.name = ANY (string_to_array(profiles, ','))
$$;

CREATE FUNCTION operations.log_agreed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF NEW.action = 'agree' AND operations.tells(NEW.details, 'reason') IS NOT TRUE THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'log refused: details are no JSON that tells what such an entry must tell';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION operations.log_gate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    last record;
BEGIN
    IF num_nonnulls(NEW.number, NEW.recorded_at, NEW.account, NEW.previous, NEW.digest) > 0 THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'log refused: number, instant, account and digests are set by the database';
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

CREATE FUNCTION operations.log_told() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
        RAISE integrity_constraint_violation USING MESSAGE = 'log refused: details are no JSON that tells what such an entry must tell';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION operations.profiles_gate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF operations.known_profiles(NEW.profiles) IS NOT TRUE THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = TG_TABLE_NAME || ' refused: attacker profiles that are unknown here, named twice, or none at all';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION operations.same_time(one text, other text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN coalesce(operations.days(one) && operations.days(other), TRUE);
END $$;

CREATE FUNCTION operations.sha256_hex(told text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN encode(sha256(convert_to(told, 'UTF8')), 'hex');
END $$;

CREATE FUNCTION operations.submission_gate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF operations.is_person(NEW.submitter) IS NOT TRUE THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'submission refused: the name could pass for that of somebody else';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION operations.take_turn(wanted text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO operations.turn (name) VALUES (wanted) ON CONFLICT DO NOTHING;
    PERFORM 1 FROM operations.turn t WHERE t.name = wanted FOR UPDATE;
END $$;

CREATE FUNCTION operations.tells(document text, keys text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN jsonb_typeof(document::jsonb) = 'object' AND document::jsonb ?& string_to_array(keys, ',');
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN FALSE;
END $$;

CREATE FUNCTION operations.told(document text, VARIADIC path text[]) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN document::jsonb #>> path;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN NULL;
END $$;

CREATE FUNCTION operations.withdrawal_gate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    NEW.account := session_user;
    NEW.agreed_at := clock_timestamp();
    IF NEW.agreed_by <> lower(session_user) AND NOT pg_has_role(session_user, 'sdc_desk', 'MEMBER') THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'withdrawal refused: an account agrees in its own name only';
    END IF;
    IF operations.is_person(NEW.agreed_by) IS NOT TRUE THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'withdrawal refused: the name could pass for that of somebody else';
    END IF;
    IF EXISTS (
        SELECT 1 FROM operations.dag_run d
        WHERE d.dag_id = 'retract_release' AND d.release_id = NEW.release_id AND d.reason = NEW.reason AND d.triggered_by = NEW.agreed_by
    ) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'withdrawal refused: who asked to take the release back does not agree to it';
    END IF;
    RETURN NEW;
END $$;

CREATE TABLE confidential.payload (
    digest text NOT NULL,
    content bytea NOT NULL,
    key_id text
);

COMMENT ON TABLE confidential.payload IS 'every confidential byte of the warehouse, encrypted by the key that key_id names; without one, as older versions stored it';

CREATE TABLE confidential.secret (
    number integer NOT NULL,
    content bytea NOT NULL,
    key_id text NOT NULL,
    fingerprint text,
    kept boolean DEFAULT false NOT NULL,
    CONSTRAINT ck_secret_number CHECK ((number = 1))
);

COMMENT ON TABLE confidential.secret IS 'one row: what keys the names of deliveries and releases, encrypted by the key that key_id names, which is the one in use';

CREATE TABLE dissemination.eu_cell (
    domain text NOT NULL,
    period text NOT NULL,
    publication_digest text NOT NULL,
    cell text NOT NULL,
    "position" integer NOT NULL,
    area text NOT NULL,
    indicator text NOT NULL,
    value double precision,
    obs_status text NOT NULL,
    conf_status text NOT NULL,
    rounding_base double precision,
    visible_share double precision,
    CONSTRAINT ck_eu_cell_rounding_base CHECK ((rounding_base > (0)::double precision)),
    CONSTRAINT ck_eu_cell_visible_share CHECK (((visible_share IS NULL) OR ((visible_share > (0)::double precision) AND (visible_share <= (1)::double precision) AND (value IS NOT NULL) AND (rounding_base IS NULL)))),
    CONSTRAINT ck_eu_cell_withheld CHECK (((value IS NOT NULL) OR (rounding_base IS NULL)))
);

COMMENT ON TABLE dissemination.eu_cell IS 'append-only; value is empty where withheld, rounding_base where not rounded; with a visible_share, value is no total but the sum of the visible countries, at least that share of it';

CREATE VIEW dissemination.public_release AS
 SELECT release_id,
    domain,
    period,
    version,
    publication_digest,
    released_at,
    embargo,
    retracted
   FROM dissemination.visible_releases() visible_releases(release_id, domain, period, version, publication_digest, released_at, embargo, retracted);

CREATE VIEW dissemination.public_cell AS
 SELECT r.domain,
    r.period,
    r.version,
    c."position",
    c.cell,
    c.area,
    c.indicator,
    c.value,
    c.obs_status,
    c.conf_status,
    c.rounding_base,
    c.visible_share
   FROM (dissemination.public_release r
     CROSS JOIN LATERAL dissemination.visible_cells(r.domain, r.period, r.version) c("position", cell, area, indicator, value, obs_status, conf_status, rounding_base, visible_share));

CREATE TABLE dissemination.publication (
    domain text NOT NULL,
    period text NOT NULL,
    digest text NOT NULL,
    cells integer NOT NULL
);

COMMENT ON TABLE dissemination.publication IS 'append-only';

CREATE TABLE dissemination.release (
    release_id text NOT NULL,
    domain text NOT NULL,
    period text NOT NULL,
    version integer NOT NULL,
    publication_digest text NOT NULL,
    audit_digest text NOT NULL,
    audit_passed boolean NOT NULL,
    released_at timestamp with time zone NOT NULL,
    embargo timestamp with time zone,
    CONSTRAINT ck_release_audit_passed CHECK (audit_passed),
    CONSTRAINT ck_release_version CHECK ((version >= 1))
);

COMMENT ON TABLE dissemination.release IS 'append-only; exists only with a passed audit of exactly its publication, made for it, and all that its terms ask for';

CREATE TABLE dissemination.retraction (
    release_id text NOT NULL,
    reason text NOT NULL,
    retracted_by text NOT NULL,
    retracted_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_retraction_reason CHECK ((length(TRIM(BOTH FROM reason)) > 0)),
    CONSTRAINT ck_retraction_retracted_by CHECK (((retracted_by = lower(TRIM(BOTH FROM retracted_by))) AND (retracted_by <> ''::text)))
);

COMMENT ON TABLE dissemination.retraction IS 'append-only; releases that the world is no longer shown, and why';

CREATE TABLE operations.alert (
    domain text NOT NULL,
    period text NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    raised_at timestamp with time zone NOT NULL,
    said text NOT NULL
);

COMMENT ON TABLE operations.alert IS 'append-only; what somebody was told of once: a delivery missing, a solver over its budget, an approval pending, a release ready';

CREATE TABLE operations.approval (
    release_id text NOT NULL,
    audit_digest text NOT NULL,
    approver text NOT NULL,
    publication_digest text NOT NULL,
    audit_passed boolean NOT NULL,
    submitter text NOT NULL,
    note text NOT NULL,
    approved_at timestamp with time zone NOT NULL,
    account text,
    without text,
    CONSTRAINT ck_approval_approver CHECK (((approver = lower(TRIM(BOTH FROM approver))) AND (approver <> ''::text))),
    CONSTRAINT ck_approval_audit_passed CHECK (audit_passed),
    CONSTRAINT ck_approval_four_eyes CHECK ((approver <> submitter))
);

COMMENT ON TABLE operations.approval IS 'append-only; who, other than the submitter, agreed to publish exactly this publication on exactly this passed audit';

CREATE TABLE operations.artefact (
    digest text NOT NULL,
    kind text NOT NULL,
    size bigint NOT NULL,
    stored_at timestamp with time zone NOT NULL,
    purged_at timestamp with time zone
);

COMMENT ON TABLE operations.artefact IS 'one row per stored payload, kept when the payload itself is purged';

CREATE TABLE operations.audit (
    release_id text NOT NULL,
    digest text NOT NULL,
    problem_digest text NOT NULL,
    publication_digest text NOT NULL,
    profiles text NOT NULL,
    passed boolean NOT NULL,
    primaries integer NOT NULL,
    broken integer NOT NULL,
    lps integer NOT NULL,
    certificate text NOT NULL,
    audited_at timestamp with time zone NOT NULL,
    printed_digest text,
    CONSTRAINT ck_audit_passed CHECK (((NOT passed) OR (broken = 0)))
);

COMMENT ON TABLE operations.audit IS 'append-only; digest is that of the certificate';

CREATE TABLE operations.check_result (
    domain text NOT NULL,
    period text NOT NULL,
    digest text NOT NULL,
    "check" text NOT NULL,
    severity text NOT NULL,
    passed boolean NOT NULL,
    checked integer NOT NULL,
    failed integer NOT NULL,
    cells text NOT NULL,
    CONSTRAINT ck_check_result_failed CHECK (((failed >= 0) AND (failed <= checked)))
);

COMMENT ON TABLE operations.check_result IS 'content checks of a delivery; cells is a JSON list of cell keys';

CREATE TABLE operations.cycle (
    domain text NOT NULL,
    period text NOT NULL,
    terms_digest text NOT NULL,
    areas text NOT NULL,
    opened_at timestamp with time zone,
    delivery_due timestamp with time zone,
    protection_due timestamp with time zone,
    approval_due timestamp with time zone,
    embargo timestamp with time zone
);

COMMENT ON TABLE operations.cycle IS 'a reference period of a domain: the countries awaited (JSON), and the instants of the release calendar as they stand';

CREATE TABLE operations.dag_run (
    dag_id text NOT NULL,
    run_id text NOT NULL,
    domain text NOT NULL,
    period text NOT NULL,
    release_id text,
    state text NOT NULL,
    triggered_by text NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    reason text
);

COMMENT ON TABLE operations.dag_run IS 'runs of the DAGs as Airflow tells of them; the state is Airflow''s, whether something was published stands in release';

CREATE TABLE operations.delivery (
    domain text NOT NULL,
    period text NOT NULL,
    digest text NOT NULL,
    country text,
    file text NOT NULL,
    received_at timestamp with time zone NOT NULL,
    state text NOT NULL,
    superseded_by text,
    times integer DEFAULT 1 NOT NULL,
    series text DEFAULT ''::text NOT NULL,
    version integer DEFAULT 0 NOT NULL,
    CONSTRAINT ck_delivery_country CHECK (((state <> ALL (ARRAY['accepted'::text, 'superseded'::text])) OR (country IS NOT NULL))),
    CONSTRAINT ck_delivery_state CHECK ((state = ANY (ARRAY['received'::text, 'accepted'::text, 'refused'::text, 'superseded'::text]))),
    CONSTRAINT ck_delivery_superseded CHECK (((state = 'superseded'::text) = (superseded_by IS NOT NULL)))
);

COMMENT ON TABLE operations.delivery IS 'files received, each known by its bytes; those accepted of a country are its delivery; series and version: model/series.py';

CREATE TABLE operations.inbox (
    domain text NOT NULL,
    period text NOT NULL,
    file text NOT NULL,
    digest text NOT NULL
);

COMMENT ON TABLE operations.inbox IS 'the files that lay in the inbox when it was last looked into: one that was not among them has been sent (again)';

CREATE TABLE operations.log (
    number bigint NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    account text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    details text NOT NULL,
    previous text NOT NULL,
    digest text NOT NULL
);

COMMENT ON TABLE operations.log IS 'append-only; who did what: each entry holds the digest of the one before (sdc verify-log)';

CREATE VIEW operations.delivery_now AS
 SELECT domain,
    period,
    digest,
    country,
    file,
    received_at,
    superseded_by,
    times,
        CASE
            WHEN (state <> ALL (ARRAY['received'::text, 'refused'::text])) THEN state
            WHEN (( SELECT l.action
               FROM operations.log l
              WHERE ((l.subject = d.digest) AND (l.action = ANY (ARRAY['keep'::text, 'replace'::text, 'both'::text])) AND (operations.told(l.details, VARIADIC ARRAY['domain'::text]) = d.domain) AND (operations.told(l.details, VARIADIC ARRAY['period'::text]) = d.period) AND (operations.told(l.details, VARIADIC ARRAY['times'::text]) = (d.times)::text))
              ORDER BY l.number DESC
             LIMIT 1) = 'keep'::text) THEN 'kept out'::text
            WHEN ((state = 'received'::text) AND (EXISTS ( SELECT 1
               FROM operations.delivery a
              WHERE ((a.domain = d.domain) AND (a.period = d.period) AND (a.country = d.country) AND (a.state = 'accepted'::text)))) AND (NOT (EXISTS ( SELECT 1
               FROM operations.delivery a
              WHERE ((a.domain = d.domain) AND (a.period = d.period) AND (a.country = d.country) AND (a.state = 'accepted'::text) AND (a.series = d.series))))) AND (NOT (EXISTS ( SELECT 1
               FROM operations.log l
              WHERE ((l.subject = d.digest) AND (l.action = ANY (ARRAY['replace'::text, 'both'::text])) AND (operations.told(l.details, VARIADIC ARRAY['domain'::text]) = d.domain) AND (operations.told(l.details, VARIADIC ARRAY['period'::text]) = d.period) AND (operations.told(l.details, VARIADIC ARRAY['times'::text]) = (d.times)::text)))))) THEN 'waiting'::text
            ELSE state
        END AS state,
    (EXISTS ( SELECT 1
           FROM operations.inbox i
          WHERE ((i.domain = d.domain) AND (i.period = d.period) AND (i.digest = d.digest)))) AS lying
   FROM operations.delivery d;

CREATE TABLE operations.finding (
    domain text NOT NULL,
    period text NOT NULL,
    digest text NOT NULL,
    "position" integer NOT NULL,
    code text NOT NULL,
    severity text NOT NULL,
    line integer,
    cell text,
    message text NOT NULL
);

COMMENT ON TABLE operations.finding IS 'what intake found in a delivery, in the order of the file';

CREATE TABLE operations.profile (
    name text NOT NULL
);

COMMENT ON TABLE operations.profile IS 'the attacker profiles that this warehouse knows; terms and audits name one or more of them, each once';

CREATE TABLE operations.run (
    release_id text NOT NULL,
    domain text NOT NULL,
    period text NOT NULL,
    inputs_digest text,
    state text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT ck_run_state CHECK ((state = ANY (ARRAY['running'::text, 'published'::text, 'blocked'::text, 'waiting'::text, 'failed'::text])))
);

CREATE TABLE operations.rung (
    release_id text NOT NULL,
    "position" integer NOT NULL,
    method text NOT NULL,
    outcome text NOT NULL,
    objective double precision,
    bound double precision,
    gap double precision,
    seconds double precision NOT NULL,
    reason text NOT NULL,
    unprotected integer NOT NULL,
    accepted boolean NOT NULL,
    chosen boolean NOT NULL
);

CREATE TABLE operations.step (
    release_id text NOT NULL,
    step text NOT NULL,
    key text NOT NULL,
    seconds double precision NOT NULL,
    note text NOT NULL,
    artefact_digest text,
    finished_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE operations.step IS 'the last completion of each step; key names the mapped instance (a country, a chunk), empty for the others';

CREATE TABLE operations.submission (
    release_id text NOT NULL,
    domain text NOT NULL,
    period text NOT NULL,
    terms_digest text NOT NULL,
    submitter text NOT NULL,
    embargo timestamp with time zone,
    environment text NOT NULL,
    submitted_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_submission_submitter CHECK (((submitter = lower(TRIM(BOTH FROM submitter))) AND (submitter <> ''::text)))
);

COMMENT ON TABLE operations.submission IS 'append-only; who opened a run, under which terms, with which program (JSON), and before when nobody may see its release';

CREATE TABLE operations.task_run (
    dag_id text NOT NULL,
    run_id text NOT NULL,
    task_id text NOT NULL,
    map_index integer NOT NULL,
    label text NOT NULL,
    state text NOT NULL,
    tries integer NOT NULL,
    seconds double precision,
    said text NOT NULL,
    finished_at timestamp with time zone
);

COMMENT ON TABLE operations.task_run IS 'task instances, with the last that each said: names, counts, reasons, never a value';

CREATE TABLE operations.terms (
    domain text NOT NULL,
    digest text NOT NULL,
    profiles text NOT NULL,
    approvals integer NOT NULL,
    retention_days integer,
    settings text NOT NULL,
    registered_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_terms_approvals CHECK ((approvals >= 0)),
    CONSTRAINT ck_terms_retention_days CHECK ((retention_days >= 0))
);

COMMENT ON TABLE operations.terms IS 'append-only; a domain file as it was: what it asks of a release, and all its settings as JSON';

CREATE TABLE operations.turn (
    name text NOT NULL
);

COMMENT ON TABLE operations.turn IS 'what only one transaction at a time may do: its row is locked by operations.take_turn';

CREATE TABLE operations.unread (
    domain text NOT NULL,
    period text NOT NULL,
    file text NOT NULL,
    why text NOT NULL
);

COMMENT ON TABLE operations.unread IS 'what lay in the inbox when it was last looked into, and is not read; no release is made while there is any';

CREATE TABLE operations.withdrawal (
    release_id text NOT NULL,
    reason text NOT NULL,
    agreed_by text NOT NULL,
    agreed_at timestamp with time zone NOT NULL,
    account text NOT NULL,
    CONSTRAINT ck_withdrawal_agreed_at_bounds CHECK (((agreed_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (agreed_at < '3000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT ck_withdrawal_agreed_by CHECK (((agreed_by = lower(TRIM(BOTH FROM agreed_by))) AND (agreed_by <> ''::text))),
    CONSTRAINT ck_withdrawal_reason CHECK (((length(TRIM(BOTH FROM reason)) > 0) AND (length(reason) <= 400)))
);

COMMENT ON TABLE operations.withdrawal IS 'append-only; who agreed to take exactly this release back for exactly this reason';

CREATE TABLE public.sdc_warehouse_version (
    version_num character varying(32) NOT NULL
);

INSERT INTO confidential.payload VALUES ('b2e59a6fbb87336351c7a2a4311617f37b7f2e8051e883c06c0bb9deac89ff80', '\x1fafa10febd163a1f72991768f3ccacd46afef20c7188109013474cb68f2ae5eff1e', '270c65743328f881');
INSERT INTO confidential.payload VALUES ('9dc4703e6f36e40d4fe83cf1ca19885b947d417c6448aedd0b399ea9c309b948', '\x9e93f0c4870d648657434b9cfe062d666fb919c1935b4aa14d36561c78f0a22bc091d0c40e1d0f5ba592b4bb', '270c65743328f881');
INSERT INTO confidential.payload VALUES ('a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e', '\x1d91d14b0437dd3d1208bef23d92af53c9cd3cc32a012c11a268932417600e8b7062bfdec0', '270c65743328f881');
INSERT INTO confidential.payload VALUES ('e28c99d3d4be00460677489bfa4e686cb9345bf33b1ac9c63eb483c3689f67fb', '\x6f64642e637376', NULL);

INSERT INTO confidential.secret VALUES (1, '\xaf458d52cfce01ad6255f7260cf3ce99162dff9cf096ac9c23c7ee8ae530e8f3d3b28bb25ca5b38df58352d62fe55bf252daa4e637a837b7a9fe4e49', '270c65743328f881', '9e6d45715c4927d3cefff6569410ce423961c332f76474a6906702f0809f21e4', true);

INSERT INTO dissemination.eu_cell VALUES ('sbs', '2024', 'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896', 'EU.TURNOVER.TOTAL', 0, 'EU', 'TURNOVER', 42, 'A', 'F', NULL, NULL);
INSERT INTO dissemination.eu_cell VALUES ('sbs', '2024', 'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896', 'EU.TURNOVER.C10', 1, 'EU', 'TURNOVER', 20, 'E', 'F', 10, NULL);
INSERT INTO dissemination.eu_cell VALUES ('sbs', '2024', 'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896', 'EU.TURNOVER.C11', 2, 'EU', 'TURNOVER', NULL, 'Q', 'S', NULL, NULL);
INSERT INTO dissemination.eu_cell VALUES ('sbs', '2024', 'ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e', 'EU.TURNOVER.TOTAL', 0, 'EU', 'TURNOVER', 42, 'A', 'F', NULL, NULL);
INSERT INTO dissemination.eu_cell VALUES ('sbs', '2024', 'ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e', 'EU.TURNOVER.C10', 1, 'EU', 'TURNOVER', 20, 'E', 'F', 20, NULL);
INSERT INTO dissemination.eu_cell VALUES ('sbs', '2024', 'ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e', 'EU.TURNOVER.C11', 2, 'EU', 'TURNOVER', NULL, 'Q', 'S', NULL, NULL);
INSERT INTO dissemination.eu_cell VALUES ('sbs', '2025', '7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c', 'EU.TURNOVER.TOTAL', 0, 'EU', 'TURNOVER', 42, 'A', 'F', NULL, NULL);
INSERT INTO dissemination.eu_cell VALUES ('sbs', '2025', '7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c', 'EU.TURNOVER.C10', 1, 'EU', 'TURNOVER', 20, 'E', 'F', 5, NULL);
INSERT INTO dissemination.eu_cell VALUES ('sbs', '2025', '7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c', 'EU.TURNOVER.C11', 2, 'EU', 'TURNOVER', 25, 'A', 'F', NULL, NULL);
INSERT INTO dissemination.eu_cell VALUES ('sbs', '2023', 'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896', 'EU.TURNOVER.TOTAL', 0, 'EU', 'TURNOVER', 42, 'A', 'F', NULL, NULL);
INSERT INTO dissemination.eu_cell VALUES ('sbs', '2023', 'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896', 'EU.TURNOVER.C10', 1, 'EU', 'TURNOVER', 20, 'E', 'F', 10, NULL);
INSERT INTO dissemination.eu_cell VALUES ('sbs', '2023', 'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896', 'EU.TURNOVER.C11', 2, 'EU', 'TURNOVER', NULL, 'Q', 'S', NULL, NULL);

INSERT INTO dissemination.publication VALUES ('sbs', '2024', 'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896', 3);
INSERT INTO dissemination.publication VALUES ('sbs', '2024', 'ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e', 3);
INSERT INTO dissemination.publication VALUES ('sbs', '2025', '7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c', 3);
INSERT INTO dissemination.publication VALUES ('sbs', '2023', 'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896', 3);

INSERT INTO dissemination.release VALUES ('r1', 'sbs', '2024', 1, 'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896', '389fe38694fec0a238f84f75040dde09d88cffaefd62a5e77566b3ebdb556424', true, '2026-01-05 09:00:00+00', NULL);
INSERT INTO dissemination.release VALUES ('r2', 'sbs', '2024', 2, 'ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e', '01ceeb233fc451e822557762b413f37974de4319cb96631fd4b8112737c0422d', true, '2026-01-05 09:00:00+00', NULL);
INSERT INTO dissemination.release VALUES ('r3', 'sbs', '2025', 1, '7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c', 'cfbeb94893f6b7471a43f62c46f2136c1c4b077d3b223470c48a3e866d3eccdc', true, '2026-01-05 09:00:00+00', '2999-01-01 00:00:00+00');
INSERT INTO dissemination.release VALUES ('r5', 'sbs', '2023', 1, 'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896', '95d888b23749e57f141e301a5a0b2f98d8c0a6bfc424b6ee755ac8c6c75502e3', true, '2026-11-29 19:26:53.22949+00', NULL);

INSERT INTO dissemination.retraction VALUES ('r2', 'a wrong delivery', 'bert', '2026-01-05 09:00:00+00');

INSERT INTO operations.alert VALUES ('sbs', '2024', 'ready', 'r1', '2026-01-05 09:00:00+00', 'it can go on');

INSERT INTO operations.approval VALUES ('r1', '389fe38694fec0a238f84f75040dde09d88cffaefd62a5e77566b3ebdb556424', 'bert', 'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896', true, 'анна b', 'read', '2026-01-05 09:00:00+00', NULL, NULL);
INSERT INTO operations.approval VALUES ('r5', '95d888b23749e57f141e301a5a0b2f98d8c0a6bfc424b6ee755ac8c6c75502e3', 'anna', 'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896', true, 'tester', '', '2026-11-29 19:26:53.179668+00', 'postgres', NULL);

INSERT INTO operations.artefact VALUES ('b2e59a6fbb87336351c7a2a4311617f37b7f2e8051e883c06c0bb9deac89ff80', 'delivery', 6, '2026-01-05 09:00:00+00', NULL);
INSERT INTO operations.artefact VALUES ('9dc4703e6f36e40d4fe83cf1ca19885b947d417c6448aedd0b399ea9c309b948', 'delivery', 16, '2026-01-05 09:00:00+00', NULL);
INSERT INTO operations.artefact VALUES ('a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e', 'delivery', 9, '2026-01-05 09:00:00+00', NULL);
INSERT INTO operations.artefact VALUES ('e28c99d3d4be00460677489bfa4e686cb9345bf33b1ac9c63eb483c3689f67fb', 'delivery', 7, '2026-01-05 09:00:00+00', NULL);
INSERT INTO operations.artefact VALUES ('97f897def3e6928594a011966113864f62615c44fd118c270ff91d80e6612d32', 'delivery', 8, '2026-01-05 09:00:00+00', '2026-01-05 09:00:00+00');

INSERT INTO operations.audit VALUES ('r1', 'b418c1b6278d90a15c883bd323b3bed8ecd7172f98ac3e253950116e59888aac', 'pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp', 'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896', 'external', false, 2, 1, 4, '{"domain": "sbs", "period": "2024", "verdict": "failed", "profiles": ["external"], "digests": {"domain": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896"}, "counts": {"primaries": 2, "broken_requirements": 1}, "of": ""}', '2026-01-05 09:00:00+00', NULL);
INSERT INTO operations.audit VALUES ('r1', '389fe38694fec0a238f84f75040dde09d88cffaefd62a5e77566b3ebdb556424', 'pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp', 'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896', 'external', true, 2, 0, 4, '{"domain": "sbs", "period": "2024", "verdict": "passed", "profiles": ["external"], "digests": {"domain": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896"}, "counts": {"primaries": 2, "broken_requirements": 0}, "of": ""}', '2026-01-05 09:00:00+00', NULL);
INSERT INTO operations.audit VALUES ('r2', '76a80a65a03932b80a009237e589d06d799e69f1286aa32d93d7e63e79f3a6d5', 'pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp', 'ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e', 'external', false, 2, 1, 4, '{"domain": "sbs", "period": "2024", "verdict": "failed", "profiles": ["external"], "digests": {"domain": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e"}, "counts": {"primaries": 2, "broken_requirements": 1}, "of": ""}', '2026-01-05 09:00:00+00', NULL);
INSERT INTO operations.audit VALUES ('r2', '01ceeb233fc451e822557762b413f37974de4319cb96631fd4b8112737c0422d', 'pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp', 'ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e', 'external', true, 2, 0, 4, '{"domain": "sbs", "period": "2024", "verdict": "passed", "profiles": ["external"], "digests": {"domain": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e"}, "counts": {"primaries": 2, "broken_requirements": 0}, "of": ""}', '2026-01-05 09:00:00+00', NULL);
INSERT INTO operations.audit VALUES ('r3', '6419695dfc859cfc30e95839ff74b4bc7ed801bdc78c84f7907cf29529492cdd', 'pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp', '7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c', 'external', false, 2, 1, 4, '{"domain": "sbs", "period": "2025", "verdict": "failed", "profiles": ["external"], "digests": {"domain": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c"}, "counts": {"primaries": 2, "broken_requirements": 1}, "of": ""}', '2026-01-05 09:00:00+00', NULL);
INSERT INTO operations.audit VALUES ('r3', 'cfbeb94893f6b7471a43f62c46f2136c1c4b077d3b223470c48a3e866d3eccdc', 'pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp', '7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c', 'external', true, 2, 0, 4, '{"domain": "sbs", "period": "2025", "verdict": "passed", "profiles": ["external"], "digests": {"domain": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c"}, "counts": {"primaries": 2, "broken_requirements": 0}, "of": ""}', '2026-01-05 09:00:00+00', NULL);
INSERT INTO operations.audit VALUES ('r4', 'a978fbf15577b008f1290d4b330263d8e9303def4ee8950fd9aad3a5cf5e6965', 'pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp', '7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c', 'external', false, 2, 1, 4, '{"domain": "sbs", "period": "2026", "verdict": "failed", "profiles": ["external"], "digests": {"domain": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c"}, "counts": {"primaries": 2, "broken_requirements": 1}, "of": ""}', '2026-01-05 09:00:00+00', NULL);
INSERT INTO operations.audit VALUES ('r4', '12b31b49a78274fd79887f3d08ee30c1d8c8fcc9e640dcf335a06296f3b41ba3', 'pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp', '7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c', 'external', true, 2, 0, 4, '{"domain": "sbs", "period": "2026", "verdict": "passed", "profiles": ["external"], "digests": {"domain": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c"}, "counts": {"primaries": 2, "broken_requirements": 0}, "of": ""}', '2026-01-05 09:00:00+00', NULL);
INSERT INTO operations.audit VALUES ('r5', '95d888b23749e57f141e301a5a0b2f98d8c0a6bfc424b6ee755ac8c6c75502e3', 'pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp', 'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896', 'external,vintage', true, 2, 0, 4, '{"domain": "sbs", "period": "2023", "verdict": "passed", "profiles": ["external", "vintage"], "digests": {"domain": "tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896"}, "counts": {"primaries": 2, "broken_requirements": 0}, "of": ""}', '2026-11-29 19:26:53.153397+00', 'fd1de99bc8ff83775664825cca60181e05fa4e292cf4e2d1bbcca6ac4c1bc617');

INSERT INTO operations.check_result VALUES ('sbs', '2024', 'e28c99d3d4be00460677489bfa4e686cb9345bf33b1ac9c63eb483c3689f67fb', 'additivity', 'error', false, 3, 1, '["XX"]');

INSERT INTO operations.cycle VALUES ('sbs', '2024', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '["AT", "BE"]', '2026-01-05 09:00:00+00', NULL, NULL, NULL, '2026-01-05 09:00:00+00');

INSERT INTO operations.dag_run VALUES ('eu_release_sbs', 'manual', 'sbs', '2024', 'r1', 'success', 'scheduled', '2026-01-05 09:00:00+00', '2026-01-05 09:00:00+00', 'a wrong delivery');

INSERT INTO operations.delivery VALUES ('sbs', '2024', '9dc4703e6f36e40d4fe83cf1ca19885b947d417c6448aedd0b399ea9c309b948', 'AT', 'at_corrected.csv', '2026-01-05 09:00:01+00', 'accepted', NULL, 1, 'at_corrected.csv', 0);
INSERT INTO operations.delivery VALUES ('sbs', '2024', 'b2e59a6fbb87336351c7a2a4311617f37b7f2e8051e883c06c0bb9deac89ff80', 'AT', 'at.csv', '2026-01-05 09:00:00+00', 'superseded', '9dc4703e6f36e40d4fe83cf1ca19885b947d417c6448aedd0b399ea9c309b948', 1, 'at_corrected.csv', 0);
INSERT INTO operations.delivery VALUES ('sbs', '2024', 'a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e', 'BE', 'be_v3.csv', '2026-01-05 09:00:02+00', 'accepted', NULL, 2, 'be.csv', 3);
INSERT INTO operations.delivery VALUES ('sbs', '2024', 'e28c99d3d4be00460677489bfa4e686cb9345bf33b1ac9c63eb483c3689f67fb', NULL, 'odd.csv', '2026-01-05 09:00:03+00', 'refused', NULL, 1, 'odd.csv', 0);
INSERT INTO operations.delivery VALUES ('sbs', '2024', '97f897def3e6928594a011966113864f62615c44fd118c270ff91d80e6612d32', NULL, 'gone.csv', '2026-01-05 09:00:04+00', 'received', NULL, 1, 'gone.csv', 0);

INSERT INTO operations.finding VALUES ('sbs', '2024', 'e28c99d3d4be00460677489bfa4e686cb9345bf33b1ac9c63eb483c3689f67fb', 0, '150/904-2', 'error', 3, 'XX', 'no such area');

INSERT INTO operations.inbox VALUES ('sbs', '2024', 'at_corrected.csv', '9dc4703e6f36e40d4fe83cf1ca19885b947d417c6448aedd0b399ea9c309b948');
INSERT INTO operations.inbox VALUES ('sbs', '2024', 'at.csv', 'b2e59a6fbb87336351c7a2a4311617f37b7f2e8051e883c06c0bb9deac89ff80');
INSERT INTO operations.inbox VALUES ('sbs', '2024', 'be_v3.csv', 'a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e');
INSERT INTO operations.inbox VALUES ('sbs', '2024', 'odd.csv', 'e28c99d3d4be00460677489bfa4e686cb9345bf33b1ac9c63eb483c3689f67fb');
INSERT INTO operations.inbox VALUES ('sbs', '2024', 'gone.csv', '97f897def3e6928594a011966113864f62615c44fd118c270ff91d80e6612d32');

INSERT INTO operations.log VALUES (1, '2026-01-05 09:00:00+00', 'tester', 'postgres', 'receive', '9dc4703e6f36e40d4fe83cf1ca19885b947d417c6448aedd0b399ea9c309b948', '{"domain": "sbs", "file": "at_corrected.csv", "period": "2024", "times": 1}', '', '851ffdb321b1387d1ee0cb6d2dbba4a79152c0b570cc67ce14f9f5a9378bbbb5');
INSERT INTO operations.log VALUES (2, '2026-01-05 10:00:00+00', 'tester', 'postgres', 'receive', 'b2e59a6fbb87336351c7a2a4311617f37b7f2e8051e883c06c0bb9deac89ff80', '{"domain": "sbs", "file": "at.csv", "period": "2024", "times": 1}', '851ffdb321b1387d1ee0cb6d2dbba4a79152c0b570cc67ce14f9f5a9378bbbb5', 'a27bd525bae73a0e470a6f492c1e8c0dd65392ed0838d7d298df5cc3b2979906');
INSERT INTO operations.log VALUES (3, '2026-01-05 11:00:00+00', 'tester', 'postgres', 'receive', 'a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e', '{"domain": "sbs", "file": "be_v3.csv", "period": "2024", "times": 2}', 'a27bd525bae73a0e470a6f492c1e8c0dd65392ed0838d7d298df5cc3b2979906', '2a21b96da5390dc70ed17e0a3e4116c2b0c93edb50a9b895acf4f2d44ea6a0d6');
INSERT INTO operations.log VALUES (4, '2026-01-05 12:00:00+00', 'tester', 'postgres', 'receive', 'e28c99d3d4be00460677489bfa4e686cb9345bf33b1ac9c63eb483c3689f67fb', '{"domain": "sbs", "file": "odd.csv", "period": "2024", "times": 1}', '2a21b96da5390dc70ed17e0a3e4116c2b0c93edb50a9b895acf4f2d44ea6a0d6', '59b1b8b98091b2c530f8330792839aa15e145cb7711877b8ce5dcf34a2a9ec06');
INSERT INTO operations.log VALUES (5, '2026-01-05 13:00:00+00', 'tester', 'postgres', 'receive', '97f897def3e6928594a011966113864f62615c44fd118c270ff91d80e6612d32', '{"domain": "sbs", "file": "gone.csv", "period": "2024", "times": 1}', '59b1b8b98091b2c530f8330792839aa15e145cb7711877b8ce5dcf34a2a9ec06', '3eb9009dd51b18441af91b4309364041b82fb54651264200692c5ff7edc1831d');
INSERT INTO operations.log VALUES (6, '2026-01-05 14:00:00+00', 'tester', 'postgres', 'accept', 'b2e59a6fbb87336351c7a2a4311617f37b7f2e8051e883c06c0bb9deac89ff80', '{"country": "AT", "domain": "sbs", "instead_of": null, "period": "2024"}', '3eb9009dd51b18441af91b4309364041b82fb54651264200692c5ff7edc1831d', 'e59ee05e1041393b71532c67db3dad55c6a066b8592e1bdbb5109bac55e03d68');
INSERT INTO operations.log VALUES (7, '2026-01-05 15:00:00+00', 'tester', 'postgres', 'accept', '9dc4703e6f36e40d4fe83cf1ca19885b947d417c6448aedd0b399ea9c309b948', '{"country": "AT", "domain": "sbs", "instead_of": "b2e59a6fbb87336351c7a2a4311617f37b7f2e8051e883c06c0bb9deac89ff80", "period": "2024"}', 'e59ee05e1041393b71532c67db3dad55c6a066b8592e1bdbb5109bac55e03d68', '681768402d289262b8542a8f5cffb065fd040893f8b82072eed8024eb459a5f6');
INSERT INTO operations.log VALUES (8, '2026-01-05 16:00:00+00', 'tester', 'postgres', 'accept', 'a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e', '{"country": "BE", "domain": "sbs", "instead_of": null, "period": "2024"}', '681768402d289262b8542a8f5cffb065fd040893f8b82072eed8024eb459a5f6', 'dcff252f803dedccbef2bfb356a7bd4b994694bed9a9c3403d4752cb3c9fc1be');
INSERT INTO operations.log VALUES (9, '2026-01-05 17:00:00+00', 'tester', 'postgres', 'refuse', 'e28c99d3d4be00460677489bfa4e686cb9345bf33b1ac9c63eb483c3689f67fb', '{"country": null, "domain": "sbs", "period": "2024"}', 'dcff252f803dedccbef2bfb356a7bd4b994694bed9a9c3403d4752cb3c9fc1be', 'a3a75707c14ff07ca31d98e8e1b517e4ee1a3e7da54bbbcc7ef6e95c85adc877');
INSERT INTO operations.log VALUES (10, '2026-01-05 18:00:00+00', 'анна b', 'postgres', 'submit', 'r1', '{"embargo": null, "environment": "95aa2ab9c89304e18a8155140ca9982b3b03b45b6db768bd89986090f7753dce", "terms": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}', 'a3a75707c14ff07ca31d98e8e1b517e4ee1a3e7da54bbbcc7ef6e95c85adc877', '8056f281553fe207d0796f63ffc622fda15b658d7567e098cb122590a7aa0b47');
INSERT INTO operations.log VALUES (11, '2026-01-05 19:00:00+00', 'tester', 'postgres', 'audit', 'r1', '{"audit": "b418c1b6278d90a15c883bd323b3bed8ecd7172f98ac3e253950116e59888aac", "passed": false, "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896"}', '8056f281553fe207d0796f63ffc622fda15b658d7567e098cb122590a7aa0b47', 'cabcc0de1f979c2da81a0d2ef8679ec4dd5401d213e89974bf82315c8e82a72a');
INSERT INTO operations.log VALUES (12, '2026-01-05 20:00:00+00', 'tester', 'postgres', 'audit', 'r1', '{"audit": "389fe38694fec0a238f84f75040dde09d88cffaefd62a5e77566b3ebdb556424", "passed": true, "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896"}', 'cabcc0de1f979c2da81a0d2ef8679ec4dd5401d213e89974bf82315c8e82a72a', '639809ee2f639f45078bf00d49b6e691b7cc29020f9d55f1467f9ce78073598c');
INSERT INTO operations.log VALUES (13, '2026-01-05 21:00:00+00', 'bert', 'postgres', 'approve', 'r1', '{"audit": "389fe38694fec0a238f84f75040dde09d88cffaefd62a5e77566b3ebdb556424", "note": "read", "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896"}', '639809ee2f639f45078bf00d49b6e691b7cc29020f9d55f1467f9ce78073598c', 'dd73c66531e304a3434196864550bdff88ebe1d605e485b20ffa3013f79e6a74');
INSERT INTO operations.log VALUES (14, '2026-01-05 22:00:00+00', 'tester', 'postgres', 'release', 'r1', '{"audit": "389fe38694fec0a238f84f75040dde09d88cffaefd62a5e77566b3ebdb556424", "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896", "version": 1}', 'dd73c66531e304a3434196864550bdff88ebe1d605e485b20ffa3013f79e6a74', 'ec0c0831e71271ab1f556088f0293c7133cd1e2d26311fb89dc2be1fc5e57084');
INSERT INTO operations.log VALUES (15, '2026-01-05 23:00:00+00', 'анна b', 'postgres', 'submit', 'r2', '{"embargo": null, "environment": "95aa2ab9c89304e18a8155140ca9982b3b03b45b6db768bd89986090f7753dce", "terms": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}', 'ec0c0831e71271ab1f556088f0293c7133cd1e2d26311fb89dc2be1fc5e57084', '7d4acb0a92c473681c77461156c332be80dd9f0cb02646b95083154cb660b45a');
INSERT INTO operations.log VALUES (16, '2026-01-06 00:00:00+00', 'tester', 'postgres', 'audit', 'r2', '{"audit": "76a80a65a03932b80a009237e589d06d799e69f1286aa32d93d7e63e79f3a6d5", "passed": false, "publication": "ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e"}', '7d4acb0a92c473681c77461156c332be80dd9f0cb02646b95083154cb660b45a', '6677b000c80affc450cc41fc4bac780ab1f38cb8b6d9b78150e5ade8249ffe1d');
INSERT INTO operations.log VALUES (17, '2026-01-06 01:00:00+00', 'tester', 'postgres', 'audit', 'r2', '{"audit": "01ceeb233fc451e822557762b413f37974de4319cb96631fd4b8112737c0422d", "passed": true, "publication": "ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e"}', '6677b000c80affc450cc41fc4bac780ab1f38cb8b6d9b78150e5ade8249ffe1d', 'f14085425c48d4a7c0b6a046989f22f54c234602b8508239ecb40012f1698256');
INSERT INTO operations.log VALUES (18, '2026-01-06 02:00:00+00', 'tester', 'postgres', 'release', 'r2', '{"audit": "01ceeb233fc451e822557762b413f37974de4319cb96631fd4b8112737c0422d", "publication": "ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e", "version": 2}', 'f14085425c48d4a7c0b6a046989f22f54c234602b8508239ecb40012f1698256', 'b729c71a85b3eff03d6928bd18ea714ca4c36ec201857758465383728b8b2158');
INSERT INTO operations.log VALUES (19, '2026-01-06 03:00:00+00', 'bert', 'postgres', 'retract', 'r2', '{"reason": "a wrong delivery"}', 'b729c71a85b3eff03d6928bd18ea714ca4c36ec201857758465383728b8b2158', '1ccdefe68d103b71918169719906549039cb5f112ab4416d43e47ac28c1e7470');
INSERT INTO operations.log VALUES (20, '2026-01-06 04:00:00+00', 'анна b', 'postgres', 'submit', 'r3', '{"embargo": "2999-01-01T00:00:00+00:00", "environment": "95aa2ab9c89304e18a8155140ca9982b3b03b45b6db768bd89986090f7753dce", "terms": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}', '1ccdefe68d103b71918169719906549039cb5f112ab4416d43e47ac28c1e7470', 'ac3d20df6250bb67e97eefd601c505260b438dfed3a7cb59a396410460d17e9c');
INSERT INTO operations.log VALUES (21, '2026-01-06 05:00:00+00', 'tester', 'postgres', 'audit', 'r3', '{"audit": "6419695dfc859cfc30e95839ff74b4bc7ed801bdc78c84f7907cf29529492cdd", "passed": false, "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c"}', 'ac3d20df6250bb67e97eefd601c505260b438dfed3a7cb59a396410460d17e9c', '494fe2bb9546a5ce9f41e6f06473a6dd3383eb3e4dbfea5f1a84f44b76a23213');
INSERT INTO operations.log VALUES (22, '2026-01-06 06:00:00+00', 'tester', 'postgres', 'audit', 'r3', '{"audit": "cfbeb94893f6b7471a43f62c46f2136c1c4b077d3b223470c48a3e866d3eccdc", "passed": true, "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c"}', '494fe2bb9546a5ce9f41e6f06473a6dd3383eb3e4dbfea5f1a84f44b76a23213', 'dd5a3b84cf481927ec3be2b1739ab998ca926f38e171d05587f08ce1bc3a0057');
INSERT INTO operations.log VALUES (23, '2026-01-06 07:00:00+00', 'tester', 'postgres', 'release', 'r3', '{"audit": "cfbeb94893f6b7471a43f62c46f2136c1c4b077d3b223470c48a3e866d3eccdc", "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c", "version": 1}', 'dd5a3b84cf481927ec3be2b1739ab998ca926f38e171d05587f08ce1bc3a0057', '5f161f4a09e661b7706aa760af74cd6877e09cea313382337bb2b19f56a524b4');
INSERT INTO operations.log VALUES (24, '2026-01-06 08:00:00+00', 'анна b', 'postgres', 'submit', 'r4', '{"embargo": null, "environment": "95aa2ab9c89304e18a8155140ca9982b3b03b45b6db768bd89986090f7753dce", "terms": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}', '5f161f4a09e661b7706aa760af74cd6877e09cea313382337bb2b19f56a524b4', '47d0f288f20be29cfe8987cb2d58d27f3c2af67b107e7496e3dcc55e341603dc');
INSERT INTO operations.log VALUES (25, '2026-01-06 09:00:00+00', 'tester', 'postgres', 'audit', 'r4', '{"audit": "a978fbf15577b008f1290d4b330263d8e9303def4ee8950fd9aad3a5cf5e6965", "passed": false, "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c"}', '47d0f288f20be29cfe8987cb2d58d27f3c2af67b107e7496e3dcc55e341603dc', 'e50188b276d57fb9e35d714fcb5d2a8b333ecd1c7bccc031778ffd173542e404');
INSERT INTO operations.log VALUES (26, '2026-01-06 10:00:00+00', 'tester', 'postgres', 'audit', 'r4', '{"audit": "12b31b49a78274fd79887f3d08ee30c1d8c8fcc9e640dcf335a06296f3b41ba3", "passed": true, "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c"}', 'e50188b276d57fb9e35d714fcb5d2a8b333ecd1c7bccc031778ffd173542e404', '7c191cf3e98314979bf5c855bf69689250190f6337ff17c2ef3ec943e2e828da');
INSERT INTO operations.log VALUES (27, '2026-11-29 19:26:53.029526+00', 'tester', 'postgres', 'make', 'confidential.secret', '{"fingerprint": "9e6d45715c4927d3cefff6569410ce423961c332f76474a6906702f0809f21e4", "kept": true, "key": "270c65743328f881"}', '7c191cf3e98314979bf5c855bf69689250190f6337ff17c2ef3ec943e2e828da', '0d1e17d13940559b5c6ede69200ea9d6169b0233159a9455eb9ad955a7907044');
INSERT INTO operations.log VALUES (28, '2026-11-29 19:26:53.09404+00', 'anna', 'postgres', 'agree', 'r1', '{"reason": "a wrong delivery"}', '0d1e17d13940559b5c6ede69200ea9d6169b0233159a9455eb9ad955a7907044', 'b3bc2fffed0a37831b4132a9036734508d24dc764cb2d418a02d87434e688ced');
INSERT INTO operations.log VALUES (29, '2026-11-29 19:26:53.128206+00', 'tester', 'postgres', 'submit', 'r5', '{"asks": "8eb9626c3600c22387d60bb8f3236aaa9d48575b8774c4971d5d9ace6e7aca27", "embargo": null, "environment": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", "inputs": null, "terms": "tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt"}', 'b3bc2fffed0a37831b4132a9036734508d24dc764cb2d418a02d87434e688ced', 'a5e88ab1cd11d520c9e6da4c2fc3ab4ddb83d3bf8680427a4b5dd397d58d457b');
INSERT INTO operations.log VALUES (30, '2026-11-29 19:26:53.157755+00', 'tester', 'postgres', 'audit', 'r5', '{"audit": "95d888b23749e57f141e301a5a0b2f98d8c0a6bfc424b6ee755ac8c6c75502e3", "lps": 4, "passed": true, "printed": "fd1de99bc8ff83775664825cca60181e05fa4e292cf4e2d1bbcca6ac4c1bc617", "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896"}', 'a5e88ab1cd11d520c9e6da4c2fc3ab4ddb83d3bf8680427a4b5dd397d58d457b', 'b59d8507c295966b2b6d88008718a143c373a628e974a0cdca6939ff76006fe0');
INSERT INTO operations.log VALUES (31, '2026-11-29 19:26:53.180865+00', 'anna', 'postgres', 'approve', 'r5', '{"audit": "95d888b23749e57f141e301a5a0b2f98d8c0a6bfc424b6ee755ac8c6c75502e3", "by": "database account postgres, account root on this machine", "note": "", "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896"}', 'b59d8507c295966b2b6d88008718a143c373a628e974a0cdca6939ff76006fe0', '639931e20037a125070c0c4a4a965dd6a03fd7f690083d4f99db2b2eaf73228f');
INSERT INTO operations.log VALUES (32, '2026-11-29 19:26:53.248378+00', 'tester', 'postgres', 'release', 'r5', '{"audit": "95d888b23749e57f141e301a5a0b2f98d8c0a6bfc424b6ee755ac8c6c75502e3", "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896", "version": 1}', '639931e20037a125070c0c4a4a965dd6a03fd7f690083d4f99db2b2eaf73228f', 'd250e93015bfcfee3b543684a7822a30cbd7dc88ecd698046ebef79912671079');

INSERT INTO operations.profile VALUES ('external');
INSERT INTO operations.profile VALUES ('internal');
INSERT INTO operations.profile VALUES ('coalition');
INSERT INTO operations.profile VALUES ('vintage');
INSERT INTO operations.profile VALUES ('revision');

INSERT INTO operations.run VALUES ('r1', 'sbs', '2024', 'iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii', 'published', '2026-01-05 09:00:00+00', '2026-01-05 09:00:00+00');
INSERT INTO operations.run VALUES ('r2', 'sbs', '2024', 'iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii', 'published', '2026-01-05 09:00:00+00', '2026-01-05 09:00:00+00');
INSERT INTO operations.run VALUES ('r3', 'sbs', '2025', 'iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii', 'published', '2026-01-05 09:00:00+00', '2026-01-05 09:00:00+00');
INSERT INTO operations.run VALUES ('r4', 'sbs', '2026', 'iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii', 'published', '2026-01-05 09:00:00+00', '2026-01-05 09:00:00+00');
INSERT INTO operations.run VALUES ('r5', 'sbs', '2023', NULL, 'running', '2026-11-29 19:26:53.102011+00', NULL);

INSERT INTO operations.rung VALUES ('r1', 0, 'auto', 'optimal', 1, 1, 0, 2, 'proven, at its time limit', 0, true, true);
INSERT INTO operations.rung VALUES ('r2', 0, 'auto', 'optimal', 1, 1, 0, 2, 'proven, at its time limit', 0, true, true);
INSERT INTO operations.rung VALUES ('r3', 0, 'auto', 'optimal', 1, 1, 0, 2, 'proven, at its time limit', 0, true, true);
INSERT INTO operations.rung VALUES ('r4', 0, 'auto', 'optimal', 1, 1, 0, 2, 'proven, at its time limit', 0, true, true);

INSERT INTO operations.step VALUES ('r1', 'assemble', '', 0.5, '', 'a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e', '2026-01-05 09:00:00+00');
INSERT INTO operations.step VALUES ('r2', 'assemble', '', 0.5, '', 'a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e', '2026-01-05 09:00:00+00');
INSERT INTO operations.step VALUES ('r3', 'assemble', '', 0.5, '', 'a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e', '2026-01-05 09:00:00+00');
INSERT INTO operations.step VALUES ('r4', 'assemble', '', 0.5, '', 'a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e', '2026-01-05 09:00:00+00');

INSERT INTO operations.submission VALUES ('r1', 'sbs', '2024', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'анна b', NULL, '{"python": "3.11"}', '2026-01-05 09:00:00+00');
INSERT INTO operations.submission VALUES ('r2', 'sbs', '2024', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 'анна b', NULL, '{"python": "3.11"}', '2026-01-05 09:00:00+00');
INSERT INTO operations.submission VALUES ('r3', 'sbs', '2025', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 'анна b', '2999-01-01 00:00:00+00', '{"python": "3.11"}', '2026-01-05 09:00:00+00');
INSERT INTO operations.submission VALUES ('r4', 'sbs', '2026', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 'анна b', NULL, '{"python": "3.11"}', '2026-01-05 09:00:00+00');
INSERT INTO operations.submission VALUES ('r5', 'sbs', '2023', 'tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt', 'tester', NULL, '{}', '2026-11-29 19:26:53.127421+00');

INSERT INTO operations.task_run VALUES ('eu_release_sbs', 'manual', 'ingest', 0, 'AT', 'success', 1, 0.5, '3 files', '2026-01-05 09:00:00+00');

INSERT INTO operations.terms VALUES ('sbs', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'external', 1, 90000, '{"id": "sbs"}', '2026-01-05 09:00:00+00');
INSERT INTO operations.terms VALUES ('sbs', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 'external', 0, 90000, '{"id": "sbs"}', '2026-01-05 09:00:00+00');
INSERT INTO operations.terms VALUES ('sbs', 'tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt', 'external', 0, NULL, '{}', '2026-11-29 19:26:53.124402+00');

INSERT INTO operations.turn VALUES ('''secret''');
INSERT INTO operations.turn VALUES ('log');
INSERT INTO operations.turn VALUES ('''retraction'' ''r1''');
INSERT INTO operations.turn VALUES ('''submission'' ''r5''');
INSERT INTO operations.turn VALUES ('''audit'' ''r5''');
INSERT INTO operations.turn VALUES ('''approval'' ''r5''');
INSERT INTO operations.turn VALUES ('''release'' ''sbs'' ''2023''');
INSERT INTO operations.turn VALUES ('release sbs 2023');
INSERT INTO operations.turn VALUES ('figures 2023');
INSERT INTO operations.turn VALUES ('related figures');

INSERT INTO operations.unread VALUES ('sbs', '2024', 'notes.docx', 'no table');

INSERT INTO operations.withdrawal VALUES ('r1', 'a wrong delivery', 'anna', '2026-11-29 19:26:53.092777+00', 'postgres');

INSERT INTO public.sdc_warehouse_version VALUES ('0023');

ALTER TABLE ONLY confidential.payload
    ADD CONSTRAINT pk_payload PRIMARY KEY (digest);

ALTER TABLE ONLY confidential.secret
    ADD CONSTRAINT pk_secret PRIMARY KEY (number);

ALTER TABLE dissemination.release
    ADD CONSTRAINT ck_release_embargo_bounds CHECK (((embargo >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (embargo < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE dissemination.release
    ADD CONSTRAINT ck_release_released_at_bounds CHECK (((released_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (released_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE dissemination.retraction
    ADD CONSTRAINT ck_retraction_retracted_at_bounds CHECK (((retracted_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (retracted_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE ONLY dissemination.eu_cell
    ADD CONSTRAINT pk_eu_cell PRIMARY KEY (domain, period, publication_digest, cell);

ALTER TABLE ONLY dissemination.publication
    ADD CONSTRAINT pk_publication PRIMARY KEY (domain, period, digest);

ALTER TABLE ONLY dissemination.release
    ADD CONSTRAINT pk_release PRIMARY KEY (release_id);

ALTER TABLE ONLY dissemination.retraction
    ADD CONSTRAINT pk_retraction PRIMARY KEY (release_id);

ALTER TABLE ONLY dissemination.release
    ADD CONSTRAINT uq_release_domain_period_version UNIQUE (domain, period, version);

ALTER TABLE operations.alert
    ADD CONSTRAINT ck_alert_raised_at_bounds CHECK (((raised_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (raised_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.approval
    ADD CONSTRAINT ck_approval_approved_at_bounds CHECK (((approved_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (approved_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.artefact
    ADD CONSTRAINT ck_artefact_purged_at_bounds CHECK (((purged_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (purged_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.artefact
    ADD CONSTRAINT ck_artefact_stored_at_bounds CHECK (((stored_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (stored_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.audit
    ADD CONSTRAINT ck_audit_audited_at_bounds CHECK (((audited_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (audited_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.cycle
    ADD CONSTRAINT ck_cycle_approval_due_bounds CHECK (((approval_due >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (approval_due < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.cycle
    ADD CONSTRAINT ck_cycle_delivery_due_bounds CHECK (((delivery_due >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (delivery_due < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.cycle
    ADD CONSTRAINT ck_cycle_embargo_bounds CHECK (((embargo >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (embargo < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.cycle
    ADD CONSTRAINT ck_cycle_opened_at_bounds CHECK (((opened_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (opened_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.cycle
    ADD CONSTRAINT ck_cycle_protection_due_bounds CHECK (((protection_due >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (protection_due < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.dag_run
    ADD CONSTRAINT ck_dag_run_finished_at_bounds CHECK (((finished_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (finished_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.dag_run
    ADD CONSTRAINT ck_dag_run_started_at_bounds CHECK (((started_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (started_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.delivery
    ADD CONSTRAINT ck_delivery_received_at_bounds CHECK (((received_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (received_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.log
    ADD CONSTRAINT ck_log_recorded_at_bounds CHECK (((recorded_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (recorded_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.run
    ADD CONSTRAINT ck_run_finished_at_bounds CHECK (((finished_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (finished_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.run
    ADD CONSTRAINT ck_run_started_at_bounds CHECK (((started_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (started_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.step
    ADD CONSTRAINT ck_step_finished_at_bounds CHECK (((finished_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (finished_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.submission
    ADD CONSTRAINT ck_submission_embargo_bounds CHECK (((embargo >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (embargo < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.submission
    ADD CONSTRAINT ck_submission_submitted_at_bounds CHECK (((submitted_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (submitted_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.task_run
    ADD CONSTRAINT ck_task_run_finished_at_bounds CHECK (((finished_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (finished_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE operations.terms
    ADD CONSTRAINT ck_terms_registered_at_bounds CHECK (((registered_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (registered_at < '3000-01-01 00:00:00+00'::timestamp with time zone))) NOT VALID;

ALTER TABLE ONLY operations.alert
    ADD CONSTRAINT pk_alert PRIMARY KEY (domain, period, kind, subject);

ALTER TABLE ONLY operations.approval
    ADD CONSTRAINT pk_approval PRIMARY KEY (release_id, audit_digest, approver);

ALTER TABLE ONLY operations.artefact
    ADD CONSTRAINT pk_artefact PRIMARY KEY (digest);

ALTER TABLE ONLY operations.audit
    ADD CONSTRAINT pk_audit PRIMARY KEY (release_id, digest);

ALTER TABLE ONLY operations.check_result
    ADD CONSTRAINT pk_check_result PRIMARY KEY (domain, period, digest, "check");

ALTER TABLE ONLY operations.cycle
    ADD CONSTRAINT pk_cycle PRIMARY KEY (domain, period);

ALTER TABLE ONLY operations.dag_run
    ADD CONSTRAINT pk_dag_run PRIMARY KEY (dag_id, run_id);

ALTER TABLE ONLY operations.delivery
    ADD CONSTRAINT pk_delivery PRIMARY KEY (domain, period, digest);

ALTER TABLE ONLY operations.finding
    ADD CONSTRAINT pk_finding PRIMARY KEY (domain, period, digest, "position");

ALTER TABLE ONLY operations.inbox
    ADD CONSTRAINT pk_inbox PRIMARY KEY (domain, period, file, digest);

ALTER TABLE ONLY operations.log
    ADD CONSTRAINT pk_log PRIMARY KEY (number);

ALTER TABLE ONLY operations.profile
    ADD CONSTRAINT pk_profile PRIMARY KEY (name);

ALTER TABLE ONLY operations.run
    ADD CONSTRAINT pk_run PRIMARY KEY (release_id);

ALTER TABLE ONLY operations.rung
    ADD CONSTRAINT pk_rung PRIMARY KEY (release_id, "position");

ALTER TABLE ONLY operations.step
    ADD CONSTRAINT pk_step PRIMARY KEY (release_id, step, key);

ALTER TABLE ONLY operations.submission
    ADD CONSTRAINT pk_submission PRIMARY KEY (release_id);

ALTER TABLE ONLY operations.task_run
    ADD CONSTRAINT pk_task_run PRIMARY KEY (dag_id, run_id, task_id, map_index);

ALTER TABLE ONLY operations.terms
    ADD CONSTRAINT pk_terms PRIMARY KEY (domain, digest);

ALTER TABLE ONLY operations.turn
    ADD CONSTRAINT pk_turn PRIMARY KEY (name);

ALTER TABLE ONLY operations.unread
    ADD CONSTRAINT pk_unread PRIMARY KEY (domain, period, file);

ALTER TABLE ONLY operations.withdrawal
    ADD CONSTRAINT pk_withdrawal PRIMARY KEY (release_id, reason, agreed_by);

ALTER TABLE ONLY operations.audit
    ADD CONSTRAINT uq_audit_release_id_digest_publication_digest_passed UNIQUE (release_id, digest, publication_digest, passed);

ALTER TABLE ONLY operations.run
    ADD CONSTRAINT uq_run_release_id_domain_period UNIQUE (release_id, domain, period);

ALTER TABLE ONLY operations.submission
    ADD CONSTRAINT uq_submission_release_id_submitter UNIQUE (release_id, submitter);

ALTER TABLE ONLY public.sdc_warehouse_version
    ADD CONSTRAINT sdc_warehouse_version_pkc PRIMARY KEY (version_num);

CREATE INDEX ix_dag_run_domain_period ON operations.dag_run USING btree (domain, period);

CREATE UNIQUE INDEX ux_delivery_accepted ON operations.delivery USING btree (domain, period, country, series) WHERE (state = 'accepted'::text);

CREATE TRIGGER payload_gate BEFORE DELETE ON confidential.payload FOR EACH ROW EXECUTE FUNCTION confidential.payload_gate();

CREATE TRIGGER payload_truncate BEFORE TRUNCATE ON confidential.payload FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER secret_gate BEFORE INSERT OR UPDATE ON confidential.secret FOR EACH ROW EXECUTE FUNCTION confidential.secret_gate();

CREATE TRIGGER secret_stays BEFORE DELETE OR TRUNCATE ON confidential.secret FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER eu_cell_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON dissemination.eu_cell FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER eu_cell_gate AFTER INSERT ON dissemination.eu_cell REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION dissemination.eu_cell_gate();

CREATE TRIGGER publication_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON dissemination.publication FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER release_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON dissemination.release FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER release_asked_before BEFORE INSERT ON dissemination.release FOR EACH ROW EXECUTE FUNCTION dissemination.asked_before();

CREATE TRIGGER release_beside BEFORE INSERT ON dissemination.release FOR EACH ROW EXECUTE FUNCTION dissemination.beside_gate();

CREATE TRIGGER release_dated BEFORE INSERT ON dissemination.release FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER release_gate BEFORE INSERT ON dissemination.release FOR EACH ROW EXECUTE FUNCTION dissemination.release_gate();

CREATE TRIGGER release_one_domain BEFORE INSERT ON dissemination.release FOR EACH ROW EXECUTE FUNCTION dissemination.one_domain_gate();

CREATE TRIGGER release_people BEFORE INSERT ON dissemination.release FOR EACH ROW EXECUTE FUNCTION dissemination.release_people();

CREATE TRIGGER release_printed BEFORE INSERT ON dissemination.release FOR EACH ROW EXECUTE FUNCTION dissemination.release_printed();

CREATE TRIGGER release_profiles BEFORE INSERT ON dissemination.release FOR EACH ROW EXECUTE FUNCTION dissemination.release_profiles();

CREATE TRIGGER release_program BEFORE INSERT ON dissemination.release FOR EACH ROW EXECUTE FUNCTION dissemination.program_gate();

CREATE TRIGGER release_related BEFORE INSERT ON dissemination.release FOR EACH ROW EXECUTE FUNCTION dissemination.related_gate();

CREATE TRIGGER release_secret BEFORE INSERT ON dissemination.release FOR EACH ROW EXECUTE FUNCTION dissemination.secret_named();

CREATE TRIGGER release_vintage BEFORE INSERT ON dissemination.release FOR EACH ROW EXECUTE FUNCTION dissemination.vintage_gate();

CREATE TRIGGER retraction_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON dissemination.retraction FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER retraction_dated BEFORE INSERT ON dissemination.retraction FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER retraction_people BEFORE INSERT ON dissemination.retraction FOR EACH ROW EXECUTE FUNCTION dissemination.retraction_people();

CREATE TRIGGER alert_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON operations.alert FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER alert_dated BEFORE INSERT ON operations.alert FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER approval_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON operations.approval FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER approval_by_others BEFORE INSERT ON operations.approval FOR EACH ROW EXECUTE FUNCTION operations.approval_by_others();

CREATE TRIGGER approval_dated BEFORE INSERT ON operations.approval FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER approval_gate BEFORE INSERT ON operations.approval FOR EACH ROW EXECUTE FUNCTION operations.approval_gate();

CREATE TRIGGER audit_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON operations.audit FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER audit_dated BEFORE INSERT ON operations.audit FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER audit_gate BEFORE INSERT ON operations.audit FOR EACH ROW EXECUTE FUNCTION operations.audit_gate();

CREATE TRIGGER audit_profiles BEFORE INSERT ON operations.audit FOR EACH ROW EXECUTE FUNCTION operations.profiles_gate();

CREATE TRIGGER audit_told BEFORE INSERT ON operations.audit FOR EACH ROW EXECUTE FUNCTION operations.audit_told();

CREATE TRIGGER check_result_json BEFORE INSERT OR UPDATE ON operations.check_result FOR EACH ROW EXECUTE FUNCTION operations.json_gate();

CREATE TRIGGER cycle_json BEFORE INSERT OR UPDATE ON operations.cycle FOR EACH ROW EXECUTE FUNCTION operations.json_gate();

CREATE TRIGGER log_agreed BEFORE INSERT ON operations.log FOR EACH ROW EXECUTE FUNCTION operations.log_agreed();

CREATE TRIGGER log_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON operations.log FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER log_gate BEFORE INSERT ON operations.log FOR EACH ROW EXECUTE FUNCTION operations.log_gate();

CREATE TRIGGER log_told BEFORE INSERT ON operations.log FOR EACH ROW EXECUTE FUNCTION operations.log_told();

CREATE TRIGGER submission_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON operations.submission FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER submission_dated BEFORE INSERT ON operations.submission FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER submission_gate BEFORE INSERT ON operations.submission FOR EACH ROW EXECUTE FUNCTION operations.submission_gate();

CREATE TRIGGER submission_json BEFORE INSERT ON operations.submission FOR EACH ROW EXECUTE FUNCTION operations.json_gate();

CREATE TRIGGER terms_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON operations.terms FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER terms_dated BEFORE INSERT ON operations.terms FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER terms_json BEFORE INSERT ON operations.terms FOR EACH ROW EXECUTE FUNCTION operations.json_gate();

CREATE TRIGGER terms_profiles BEFORE INSERT ON operations.terms FOR EACH ROW EXECUTE FUNCTION operations.profiles_gate();

CREATE TRIGGER withdrawal_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON operations.withdrawal FOR EACH STATEMENT EXECUTE FUNCTION dissemination.append_only();

CREATE TRIGGER withdrawal_gate BEFORE INSERT ON operations.withdrawal FOR EACH ROW EXECUTE FUNCTION operations.withdrawal_gate();

ALTER TABLE ONLY confidential.payload
    ADD CONSTRAINT fk_payload_artefact FOREIGN KEY (digest) REFERENCES operations.artefact(digest);

ALTER TABLE ONLY dissemination.release
    ADD CONSTRAINT fk_release_audit FOREIGN KEY (release_id, audit_digest, publication_digest, audit_passed) REFERENCES operations.audit(release_id, digest, publication_digest, passed);

ALTER TABLE ONLY dissemination.release
    ADD CONSTRAINT fk_release_publication FOREIGN KEY (domain, period, publication_digest) REFERENCES dissemination.publication(domain, period, digest);

ALTER TABLE ONLY dissemination.release
    ADD CONSTRAINT fk_release_run FOREIGN KEY (release_id, domain, period) REFERENCES operations.run(release_id, domain, period);

ALTER TABLE ONLY dissemination.retraction
    ADD CONSTRAINT fk_retraction_release FOREIGN KEY (release_id) REFERENCES dissemination.release(release_id);

ALTER TABLE ONLY operations.approval
    ADD CONSTRAINT fk_approval_audit FOREIGN KEY (release_id, audit_digest, publication_digest, audit_passed) REFERENCES operations.audit(release_id, digest, publication_digest, passed);

ALTER TABLE ONLY operations.approval
    ADD CONSTRAINT fk_approval_submission FOREIGN KEY (release_id, submitter) REFERENCES operations.submission(release_id, submitter);

ALTER TABLE ONLY operations.audit
    ADD CONSTRAINT fk_audit_run FOREIGN KEY (release_id) REFERENCES operations.run(release_id);

ALTER TABLE ONLY operations.check_result
    ADD CONSTRAINT fk_check_result_delivery FOREIGN KEY (domain, period, digest) REFERENCES operations.delivery(domain, period, digest);

ALTER TABLE ONLY operations.cycle
    ADD CONSTRAINT fk_cycle_terms FOREIGN KEY (domain, terms_digest) REFERENCES operations.terms(domain, digest);

ALTER TABLE ONLY operations.dag_run
    ADD CONSTRAINT fk_dag_run_run FOREIGN KEY (release_id) REFERENCES operations.run(release_id);

ALTER TABLE ONLY operations.delivery
    ADD CONSTRAINT fk_delivery_artefact FOREIGN KEY (digest) REFERENCES operations.artefact(digest);

ALTER TABLE ONLY operations.delivery
    ADD CONSTRAINT fk_delivery_superseded_by FOREIGN KEY (domain, period, superseded_by) REFERENCES operations.delivery(domain, period, digest);

ALTER TABLE ONLY operations.finding
    ADD CONSTRAINT fk_finding_delivery FOREIGN KEY (domain, period, digest) REFERENCES operations.delivery(domain, period, digest);

ALTER TABLE ONLY operations.inbox
    ADD CONSTRAINT fk_inbox_delivery FOREIGN KEY (domain, period, digest) REFERENCES operations.delivery(domain, period, digest);

ALTER TABLE ONLY operations.rung
    ADD CONSTRAINT fk_rung_run FOREIGN KEY (release_id) REFERENCES operations.run(release_id);

ALTER TABLE ONLY operations.step
    ADD CONSTRAINT fk_step_artefact FOREIGN KEY (artefact_digest) REFERENCES operations.artefact(digest);

ALTER TABLE ONLY operations.step
    ADD CONSTRAINT fk_step_run FOREIGN KEY (release_id) REFERENCES operations.run(release_id);

ALTER TABLE ONLY operations.submission
    ADD CONSTRAINT fk_submission_run FOREIGN KEY (release_id, domain, period) REFERENCES operations.run(release_id, domain, period);

ALTER TABLE ONLY operations.submission
    ADD CONSTRAINT fk_submission_terms FOREIGN KEY (domain, terms_digest) REFERENCES operations.terms(domain, digest);

ALTER TABLE ONLY operations.withdrawal
    ADD CONSTRAINT fk_withdrawal_release FOREIGN KEY (release_id) REFERENCES dissemination.release(release_id);

GRANT USAGE ON SCHEMA confidential TO sdc_pipeline;

GRANT USAGE ON SCHEMA dissemination TO sdc_pipeline;
GRANT USAGE ON SCHEMA dissemination TO sdc_publisher;
GRANT USAGE ON SCHEMA dissemination TO sdc_approver;
GRANT USAGE ON SCHEMA dissemination TO sdc_ui;
GRANT USAGE ON SCHEMA dissemination TO sdc_public;
GRANT USAGE ON SCHEMA dissemination TO sdc_desk;

GRANT USAGE ON SCHEMA operations TO sdc_pipeline;
GRANT USAGE ON SCHEMA operations TO sdc_publisher;
GRANT USAGE ON SCHEMA operations TO sdc_approver;
GRANT USAGE ON SCHEMA operations TO sdc_ui;
GRANT USAGE ON SCHEMA operations TO sdc_desk;

REVOKE ALL ON FUNCTION confidential.payload_gate() FROM PUBLIC;

REVOKE ALL ON FUNCTION confidential.secret_gate() FROM PUBLIC;

REVOKE ALL ON FUNCTION dissemination.append_only() FROM PUBLIC;

REVOKE ALL ON FUNCTION dissemination.asked_before() FROM PUBLIC;

REVOKE ALL ON FUNCTION dissemination.beside_gate() FROM PUBLIC;

REVOKE ALL ON FUNCTION dissemination.eu_cell_gate() FROM PUBLIC;

REVOKE ALL ON FUNCTION dissemination.one_domain_gate() FROM PUBLIC;

REVOKE ALL ON FUNCTION dissemination.printed_digest(of_domain text, of_period text, of_publication text) FROM PUBLIC;
GRANT ALL ON FUNCTION dissemination.printed_digest(of_domain text, of_period text, of_publication text) TO sdc_pipeline;
GRANT ALL ON FUNCTION dissemination.printed_digest(of_domain text, of_period text, of_publication text) TO sdc_publisher;
GRANT ALL ON FUNCTION dissemination.printed_digest(of_domain text, of_period text, of_publication text) TO sdc_approver;
GRANT ALL ON FUNCTION dissemination.printed_digest(of_domain text, of_period text, of_publication text) TO sdc_desk;
GRANT ALL ON FUNCTION dissemination.printed_digest(of_domain text, of_period text, of_publication text) TO sdc_ui;

REVOKE ALL ON FUNCTION dissemination.program_gate() FROM PUBLIC;

REVOKE ALL ON FUNCTION dissemination.related_gate() FROM PUBLIC;

REVOKE ALL ON FUNCTION dissemination.release_gate() FROM PUBLIC;

REVOKE ALL ON FUNCTION dissemination.release_people() FROM PUBLIC;

REVOKE ALL ON FUNCTION dissemination.release_printed() FROM PUBLIC;

REVOKE ALL ON FUNCTION dissemination.release_profiles() FROM PUBLIC;

REVOKE ALL ON FUNCTION dissemination.retraction_people() FROM PUBLIC;

REVOKE ALL ON FUNCTION dissemination.secret_named() FROM PUBLIC;

REVOKE ALL ON FUNCTION dissemination.vintage_gate() FROM PUBLIC;

REVOKE ALL ON FUNCTION dissemination.visible_cells(of_domain text, of_period text, of_version integer) FROM PUBLIC;
GRANT ALL ON FUNCTION dissemination.visible_cells(of_domain text, of_period text, of_version integer) TO sdc_pipeline;
GRANT ALL ON FUNCTION dissemination.visible_cells(of_domain text, of_period text, of_version integer) TO sdc_publisher;
GRANT ALL ON FUNCTION dissemination.visible_cells(of_domain text, of_period text, of_version integer) TO sdc_approver;
GRANT ALL ON FUNCTION dissemination.visible_cells(of_domain text, of_period text, of_version integer) TO sdc_desk;
GRANT ALL ON FUNCTION dissemination.visible_cells(of_domain text, of_period text, of_version integer) TO sdc_ui;
GRANT ALL ON FUNCTION dissemination.visible_cells(of_domain text, of_period text, of_version integer) TO sdc_public;

REVOKE ALL ON FUNCTION dissemination.visible_releases() FROM PUBLIC;
GRANT ALL ON FUNCTION dissemination.visible_releases() TO sdc_pipeline;
GRANT ALL ON FUNCTION dissemination.visible_releases() TO sdc_publisher;
GRANT ALL ON FUNCTION dissemination.visible_releases() TO sdc_approver;
GRANT ALL ON FUNCTION dissemination.visible_releases() TO sdc_desk;
GRANT ALL ON FUNCTION dissemination.visible_releases() TO sdc_ui;
GRANT ALL ON FUNCTION dissemination.visible_releases() TO sdc_public;

REVOKE ALL ON FUNCTION operations.agency(settings text) FROM PUBLIC;
GRANT ALL ON FUNCTION operations.agency(settings text) TO sdc_pipeline;
GRANT ALL ON FUNCTION operations.agency(settings text) TO sdc_publisher;
GRANT ALL ON FUNCTION operations.agency(settings text) TO sdc_approver;
GRANT ALL ON FUNCTION operations.agency(settings text) TO sdc_desk;
GRANT ALL ON FUNCTION operations.agency(settings text) TO sdc_ui;

REVOKE ALL ON FUNCTION operations.akin(one text, other text) FROM PUBLIC;
GRANT ALL ON FUNCTION operations.akin(one text, other text) TO sdc_pipeline;
GRANT ALL ON FUNCTION operations.akin(one text, other text) TO sdc_publisher;
GRANT ALL ON FUNCTION operations.akin(one text, other text) TO sdc_approver;
GRANT ALL ON FUNCTION operations.akin(one text, other text) TO sdc_desk;
GRANT ALL ON FUNCTION operations.akin(one text, other text) TO sdc_ui;

REVOKE ALL ON FUNCTION operations.approval_by_others() FROM PUBLIC;

REVOKE ALL ON FUNCTION operations.approval_gate() FROM PUBLIC;

REVOKE ALL ON FUNCTION operations.areas(settings text) FROM PUBLIC;
GRANT ALL ON FUNCTION operations.areas(settings text) TO sdc_pipeline;
GRANT ALL ON FUNCTION operations.areas(settings text) TO sdc_publisher;
GRANT ALL ON FUNCTION operations.areas(settings text) TO sdc_approver;
GRANT ALL ON FUNCTION operations.areas(settings text) TO sdc_desk;
GRANT ALL ON FUNCTION operations.areas(settings text) TO sdc_ui;

REVOKE ALL ON FUNCTION operations.audit_gate() FROM PUBLIC;

REVOKE ALL ON FUNCTION operations.audit_told() FROM PUBLIC;

REVOKE ALL ON FUNCTION operations.dated() FROM PUBLIC;

REVOKE ALL ON FUNCTION operations.days(period text) FROM PUBLIC;
GRANT ALL ON FUNCTION operations.days(period text) TO sdc_pipeline;
GRANT ALL ON FUNCTION operations.days(period text) TO sdc_publisher;
GRANT ALL ON FUNCTION operations.days(period text) TO sdc_approver;
GRANT ALL ON FUNCTION operations.days(period text) TO sdc_desk;
GRANT ALL ON FUNCTION operations.days(period text) TO sdc_ui;

REVOKE ALL ON FUNCTION operations.instant(at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION operations.instant(at timestamp with time zone) TO sdc_pipeline;
GRANT ALL ON FUNCTION operations.instant(at timestamp with time zone) TO sdc_publisher;
GRANT ALL ON FUNCTION operations.instant(at timestamp with time zone) TO sdc_approver;
GRANT ALL ON FUNCTION operations.instant(at timestamp with time zone) TO sdc_desk;
GRANT ALL ON FUNCTION operations.instant(at timestamp with time zone) TO sdc_ui;

REVOKE ALL ON FUNCTION operations.is_list(document text) FROM PUBLIC;

REVOKE ALL ON FUNCTION operations.is_person(name text) FROM PUBLIC;

REVOKE ALL ON FUNCTION operations.json_gate() FROM PUBLIC;

REVOKE ALL ON FUNCTION operations.known_profiles(profiles text) FROM PUBLIC;

REVOKE ALL ON FUNCTION operations.log_agreed() FROM PUBLIC;

REVOKE ALL ON FUNCTION operations.log_gate() FROM PUBLIC;

REVOKE ALL ON FUNCTION operations.log_told() FROM PUBLIC;

REVOKE ALL ON FUNCTION operations.profiles_gate() FROM PUBLIC;

REVOKE ALL ON FUNCTION operations.same_time(one text, other text) FROM PUBLIC;
GRANT ALL ON FUNCTION operations.same_time(one text, other text) TO sdc_pipeline;
GRANT ALL ON FUNCTION operations.same_time(one text, other text) TO sdc_publisher;
GRANT ALL ON FUNCTION operations.same_time(one text, other text) TO sdc_approver;
GRANT ALL ON FUNCTION operations.same_time(one text, other text) TO sdc_desk;
GRANT ALL ON FUNCTION operations.same_time(one text, other text) TO sdc_ui;

REVOKE ALL ON FUNCTION operations.sha256_hex(told text) FROM PUBLIC;
GRANT ALL ON FUNCTION operations.sha256_hex(told text) TO sdc_pipeline;
GRANT ALL ON FUNCTION operations.sha256_hex(told text) TO sdc_publisher;
GRANT ALL ON FUNCTION operations.sha256_hex(told text) TO sdc_approver;
GRANT ALL ON FUNCTION operations.sha256_hex(told text) TO sdc_desk;
GRANT ALL ON FUNCTION operations.sha256_hex(told text) TO sdc_ui;

REVOKE ALL ON FUNCTION operations.submission_gate() FROM PUBLIC;

REVOKE ALL ON FUNCTION operations.take_turn(wanted text) FROM PUBLIC;
GRANT ALL ON FUNCTION operations.take_turn(wanted text) TO sdc_pipeline;
GRANT ALL ON FUNCTION operations.take_turn(wanted text) TO sdc_publisher;
GRANT ALL ON FUNCTION operations.take_turn(wanted text) TO sdc_approver;
GRANT ALL ON FUNCTION operations.take_turn(wanted text) TO sdc_desk;

REVOKE ALL ON FUNCTION operations.tells(document text, keys text) FROM PUBLIC;
GRANT ALL ON FUNCTION operations.tells(document text, keys text) TO sdc_pipeline;
GRANT ALL ON FUNCTION operations.tells(document text, keys text) TO sdc_publisher;
GRANT ALL ON FUNCTION operations.tells(document text, keys text) TO sdc_approver;
GRANT ALL ON FUNCTION operations.tells(document text, keys text) TO sdc_desk;
GRANT ALL ON FUNCTION operations.tells(document text, keys text) TO sdc_ui;

REVOKE ALL ON FUNCTION operations.told(document text, VARIADIC path text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION operations.told(document text, VARIADIC path text[]) TO sdc_pipeline;
GRANT ALL ON FUNCTION operations.told(document text, VARIADIC path text[]) TO sdc_publisher;
GRANT ALL ON FUNCTION operations.told(document text, VARIADIC path text[]) TO sdc_approver;
GRANT ALL ON FUNCTION operations.told(document text, VARIADIC path text[]) TO sdc_desk;
GRANT ALL ON FUNCTION operations.told(document text, VARIADIC path text[]) TO sdc_ui;

REVOKE ALL ON FUNCTION operations.withdrawal_gate() FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE confidential.payload TO sdc_pipeline;

GRANT SELECT,INSERT ON TABLE confidential.secret TO sdc_pipeline;

GRANT UPDATE(content) ON TABLE confidential.secret TO sdc_pipeline;

GRANT UPDATE(key_id) ON TABLE confidential.secret TO sdc_pipeline;

GRANT UPDATE(fingerprint) ON TABLE confidential.secret TO sdc_pipeline;

GRANT UPDATE(kept) ON TABLE confidential.secret TO sdc_pipeline;

GRANT SELECT ON TABLE dissemination.eu_cell TO sdc_pipeline;
GRANT SELECT,INSERT ON TABLE dissemination.eu_cell TO sdc_publisher;
GRANT SELECT ON TABLE dissemination.eu_cell TO sdc_approver;
GRANT SELECT ON TABLE dissemination.eu_cell TO sdc_ui;
GRANT SELECT ON TABLE dissemination.eu_cell TO sdc_desk;

GRANT SELECT ON TABLE dissemination.public_release TO sdc_pipeline;
GRANT SELECT ON TABLE dissemination.public_release TO sdc_publisher;
GRANT SELECT ON TABLE dissemination.public_release TO sdc_approver;
GRANT SELECT ON TABLE dissemination.public_release TO sdc_desk;
GRANT SELECT ON TABLE dissemination.public_release TO sdc_ui;
GRANT SELECT ON TABLE dissemination.public_release TO sdc_public;

GRANT SELECT ON TABLE dissemination.public_cell TO sdc_pipeline;
GRANT SELECT ON TABLE dissemination.public_cell TO sdc_publisher;
GRANT SELECT ON TABLE dissemination.public_cell TO sdc_approver;
GRANT SELECT ON TABLE dissemination.public_cell TO sdc_desk;
GRANT SELECT ON TABLE dissemination.public_cell TO sdc_ui;
GRANT SELECT ON TABLE dissemination.public_cell TO sdc_public;

GRANT SELECT ON TABLE dissemination.publication TO sdc_pipeline;
GRANT SELECT,INSERT ON TABLE dissemination.publication TO sdc_publisher;
GRANT SELECT ON TABLE dissemination.publication TO sdc_approver;
GRANT SELECT ON TABLE dissemination.publication TO sdc_ui;
GRANT SELECT ON TABLE dissemination.publication TO sdc_desk;

GRANT SELECT ON TABLE dissemination.release TO sdc_pipeline;
GRANT SELECT,INSERT ON TABLE dissemination.release TO sdc_publisher;
GRANT SELECT ON TABLE dissemination.release TO sdc_approver;
GRANT SELECT ON TABLE dissemination.release TO sdc_ui;
GRANT SELECT ON TABLE dissemination.release TO sdc_desk;

GRANT SELECT ON TABLE dissemination.retraction TO sdc_pipeline;
GRANT SELECT,INSERT ON TABLE dissemination.retraction TO sdc_publisher;
GRANT SELECT ON TABLE dissemination.retraction TO sdc_approver;
GRANT SELECT ON TABLE dissemination.retraction TO sdc_ui;
GRANT SELECT ON TABLE dissemination.retraction TO sdc_desk;

GRANT SELECT,INSERT ON TABLE operations.alert TO sdc_pipeline;
GRANT SELECT ON TABLE operations.alert TO sdc_approver;
GRANT SELECT ON TABLE operations.alert TO sdc_ui;
GRANT SELECT ON TABLE operations.alert TO sdc_desk;

GRANT SELECT ON TABLE operations.approval TO sdc_pipeline;
GRANT SELECT ON TABLE operations.approval TO sdc_publisher;
GRANT SELECT,INSERT ON TABLE operations.approval TO sdc_approver;
GRANT SELECT ON TABLE operations.approval TO sdc_ui;
GRANT SELECT,INSERT ON TABLE operations.approval TO sdc_desk;

GRANT SELECT,INSERT ON TABLE operations.artefact TO sdc_pipeline;
GRANT SELECT ON TABLE operations.artefact TO sdc_approver;
GRANT SELECT ON TABLE operations.artefact TO sdc_ui;
GRANT SELECT ON TABLE operations.artefact TO sdc_desk;

GRANT UPDATE(stored_at) ON TABLE operations.artefact TO sdc_pipeline;

GRANT UPDATE(purged_at) ON TABLE operations.artefact TO sdc_pipeline;

GRANT SELECT,INSERT ON TABLE operations.audit TO sdc_pipeline;
GRANT SELECT ON TABLE operations.audit TO sdc_publisher;
GRANT SELECT ON TABLE operations.audit TO sdc_approver;
GRANT SELECT ON TABLE operations.audit TO sdc_ui;
GRANT SELECT ON TABLE operations.audit TO sdc_desk;

GRANT SELECT,INSERT,DELETE ON TABLE operations.check_result TO sdc_pipeline;
GRANT SELECT ON TABLE operations.check_result TO sdc_approver;
GRANT SELECT ON TABLE operations.check_result TO sdc_ui;
GRANT SELECT ON TABLE operations.check_result TO sdc_desk;

GRANT SELECT,INSERT ON TABLE operations.cycle TO sdc_pipeline;
GRANT SELECT ON TABLE operations.cycle TO sdc_approver;
GRANT SELECT ON TABLE operations.cycle TO sdc_ui;
GRANT SELECT ON TABLE operations.cycle TO sdc_desk;

GRANT UPDATE(terms_digest) ON TABLE operations.cycle TO sdc_pipeline;

GRANT UPDATE(areas) ON TABLE operations.cycle TO sdc_pipeline;

GRANT UPDATE(opened_at) ON TABLE operations.cycle TO sdc_pipeline;

GRANT UPDATE(delivery_due) ON TABLE operations.cycle TO sdc_pipeline;

GRANT UPDATE(protection_due) ON TABLE operations.cycle TO sdc_pipeline;

GRANT UPDATE(approval_due) ON TABLE operations.cycle TO sdc_pipeline;

GRANT UPDATE(embargo) ON TABLE operations.cycle TO sdc_pipeline;

GRANT SELECT,INSERT ON TABLE operations.dag_run TO sdc_pipeline;
GRANT SELECT ON TABLE operations.dag_run TO sdc_approver;
GRANT SELECT ON TABLE operations.dag_run TO sdc_ui;
GRANT SELECT ON TABLE operations.dag_run TO sdc_desk;

GRANT UPDATE(domain) ON TABLE operations.dag_run TO sdc_pipeline;

GRANT UPDATE(period) ON TABLE operations.dag_run TO sdc_pipeline;

GRANT UPDATE(release_id) ON TABLE operations.dag_run TO sdc_pipeline;

GRANT UPDATE(state) ON TABLE operations.dag_run TO sdc_pipeline;

GRANT UPDATE(triggered_by) ON TABLE operations.dag_run TO sdc_pipeline;

GRANT UPDATE(started_at) ON TABLE operations.dag_run TO sdc_pipeline;

GRANT UPDATE(finished_at) ON TABLE operations.dag_run TO sdc_pipeline;

GRANT UPDATE(reason) ON TABLE operations.dag_run TO sdc_pipeline;

GRANT SELECT,INSERT ON TABLE operations.delivery TO sdc_pipeline;
GRANT SELECT ON TABLE operations.delivery TO sdc_approver;
GRANT SELECT ON TABLE operations.delivery TO sdc_ui;
GRANT SELECT ON TABLE operations.delivery TO sdc_desk;

GRANT UPDATE(country) ON TABLE operations.delivery TO sdc_pipeline;

GRANT UPDATE(file) ON TABLE operations.delivery TO sdc_pipeline;

GRANT UPDATE(received_at) ON TABLE operations.delivery TO sdc_pipeline;

GRANT UPDATE(state) ON TABLE operations.delivery TO sdc_pipeline;

GRANT UPDATE(superseded_by) ON TABLE operations.delivery TO sdc_pipeline;

GRANT UPDATE(times) ON TABLE operations.delivery TO sdc_pipeline;

GRANT UPDATE(series) ON TABLE operations.delivery TO sdc_pipeline;

GRANT UPDATE(version) ON TABLE operations.delivery TO sdc_pipeline;

GRANT SELECT,INSERT,DELETE ON TABLE operations.inbox TO sdc_pipeline;
GRANT SELECT ON TABLE operations.inbox TO sdc_approver;
GRANT SELECT ON TABLE operations.inbox TO sdc_ui;
GRANT SELECT ON TABLE operations.inbox TO sdc_desk;

GRANT SELECT,INSERT ON TABLE operations.log TO sdc_pipeline;
GRANT SELECT,INSERT ON TABLE operations.log TO sdc_publisher;
GRANT SELECT,INSERT ON TABLE operations.log TO sdc_approver;
GRANT SELECT ON TABLE operations.log TO sdc_ui;
GRANT SELECT,INSERT ON TABLE operations.log TO sdc_desk;

GRANT SELECT ON TABLE operations.delivery_now TO sdc_pipeline;
GRANT SELECT ON TABLE operations.delivery_now TO sdc_approver;
GRANT SELECT ON TABLE operations.delivery_now TO sdc_desk;
GRANT SELECT ON TABLE operations.delivery_now TO sdc_ui;

GRANT SELECT,INSERT,DELETE ON TABLE operations.finding TO sdc_pipeline;
GRANT SELECT ON TABLE operations.finding TO sdc_approver;
GRANT SELECT ON TABLE operations.finding TO sdc_ui;
GRANT SELECT ON TABLE operations.finding TO sdc_desk;

GRANT SELECT ON TABLE operations.profile TO sdc_pipeline;
GRANT SELECT ON TABLE operations.profile TO sdc_approver;
GRANT SELECT ON TABLE operations.profile TO sdc_ui;
GRANT SELECT ON TABLE operations.profile TO sdc_desk;

GRANT SELECT,INSERT ON TABLE operations.run TO sdc_pipeline;
GRANT SELECT ON TABLE operations.run TO sdc_publisher;
GRANT SELECT ON TABLE operations.run TO sdc_approver;
GRANT SELECT ON TABLE operations.run TO sdc_ui;
GRANT SELECT ON TABLE operations.run TO sdc_desk;

GRANT UPDATE(inputs_digest) ON TABLE operations.run TO sdc_pipeline;

GRANT UPDATE(state) ON TABLE operations.run TO sdc_pipeline;

GRANT UPDATE(finished_at) ON TABLE operations.run TO sdc_pipeline;

GRANT SELECT,INSERT,DELETE ON TABLE operations.rung TO sdc_pipeline;
GRANT SELECT ON TABLE operations.rung TO sdc_approver;
GRANT SELECT ON TABLE operations.rung TO sdc_ui;
GRANT SELECT ON TABLE operations.rung TO sdc_desk;

GRANT SELECT,INSERT ON TABLE operations.step TO sdc_pipeline;
GRANT SELECT ON TABLE operations.step TO sdc_approver;
GRANT SELECT ON TABLE operations.step TO sdc_ui;
GRANT SELECT ON TABLE operations.step TO sdc_desk;

GRANT UPDATE(seconds) ON TABLE operations.step TO sdc_pipeline;

GRANT UPDATE(note) ON TABLE operations.step TO sdc_pipeline;

GRANT UPDATE(artefact_digest) ON TABLE operations.step TO sdc_pipeline;

GRANT UPDATE(finished_at) ON TABLE operations.step TO sdc_pipeline;

GRANT SELECT,INSERT ON TABLE operations.submission TO sdc_pipeline;
GRANT SELECT ON TABLE operations.submission TO sdc_publisher;
GRANT SELECT ON TABLE operations.submission TO sdc_approver;
GRANT SELECT ON TABLE operations.submission TO sdc_ui;
GRANT SELECT ON TABLE operations.submission TO sdc_desk;

GRANT SELECT,INSERT ON TABLE operations.task_run TO sdc_pipeline;
GRANT SELECT ON TABLE operations.task_run TO sdc_approver;
GRANT SELECT ON TABLE operations.task_run TO sdc_ui;
GRANT SELECT ON TABLE operations.task_run TO sdc_desk;

GRANT UPDATE(label) ON TABLE operations.task_run TO sdc_pipeline;

GRANT UPDATE(state) ON TABLE operations.task_run TO sdc_pipeline;

GRANT UPDATE(tries) ON TABLE operations.task_run TO sdc_pipeline;

GRANT UPDATE(seconds) ON TABLE operations.task_run TO sdc_pipeline;

GRANT UPDATE(said) ON TABLE operations.task_run TO sdc_pipeline;

GRANT UPDATE(finished_at) ON TABLE operations.task_run TO sdc_pipeline;

GRANT SELECT,INSERT ON TABLE operations.terms TO sdc_pipeline;
GRANT SELECT ON TABLE operations.terms TO sdc_publisher;
GRANT SELECT ON TABLE operations.terms TO sdc_approver;
GRANT SELECT ON TABLE operations.terms TO sdc_ui;
GRANT SELECT ON TABLE operations.terms TO sdc_desk;

GRANT SELECT,INSERT,DELETE ON TABLE operations.unread TO sdc_pipeline;
GRANT SELECT ON TABLE operations.unread TO sdc_approver;
GRANT SELECT ON TABLE operations.unread TO sdc_desk;
GRANT SELECT ON TABLE operations.unread TO sdc_ui;

GRANT SELECT ON TABLE operations.withdrawal TO sdc_pipeline;
GRANT SELECT ON TABLE operations.withdrawal TO sdc_publisher;
GRANT SELECT,INSERT ON TABLE operations.withdrawal TO sdc_approver;
GRANT SELECT,INSERT ON TABLE operations.withdrawal TO sdc_desk;
GRANT SELECT ON TABLE operations.withdrawal TO sdc_ui;

GRANT SELECT ON TABLE public.sdc_warehouse_version TO sdc_pipeline;
GRANT SELECT ON TABLE public.sdc_warehouse_version TO sdc_publisher;
GRANT SELECT ON TABLE public.sdc_warehouse_version TO sdc_approver;
GRANT SELECT ON TABLE public.sdc_warehouse_version TO sdc_ui;
GRANT SELECT ON TABLE public.sdc_warehouse_version TO sdc_desk;
