-- Whether two reference periods have a day in common; yes where one of them is no period. As sdc_tasks/warehouse/forms/related.py.
CREATE FUNCTION operations.days(period text) RETURNS daterange LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
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
END $$;

CREATE FUNCTION operations.same_time(one text, other text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN coalesce(operations.days(one) && operations.days(other), TRUE);
END $$;

-- The agency of a domain and the codes of its countries and compositions; nothing for what its settings do not tell.
CREATE FUNCTION operations.agency(settings text) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    whole text := operations.told(settings, 'structure_id');
BEGIN
    RETURN nullif(upper(split_part(split_part(CASE WHEN strpos(whole, ':') > 0 THEN whole END, ':', 1), '.', 1)), '');
END $$;

CREATE FUNCTION operations.areas(settings text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
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

-- Whether two domains are of one agency, with an area in common (AT11 is a part of AT); yes for what is not told.
CREATE FUNCTION operations.akin(one text, other text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
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

-- Figures that may be those of another domain or frequency that are out, or sums or parts of them, stay in: no audit attacks both together.
-- A domain file may say of another domain why they are unrelated; the certificate names the reason.
CREATE FUNCTION dissemination.related_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

CREATE TRIGGER release_related BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.related_gate();

-- A warehouse has one secret: where the log tells of one, no other is stored, and what it is called by does not change.
CREATE FUNCTION confidential.secret_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

CREATE TRIGGER secret_gate BEFORE INSERT OR UPDATE ON confidential.secret
FOR EACH ROW EXECUTE FUNCTION confidential.secret_gate();

-- What is drawn by the secret goes out with a certificate that names it, and where the office has the secret elsewhere too: a restored
-- warehouse, or another one, would draw other tables of the same period, and two of them tell what each alone does not.
CREATE FUNCTION dissemination.secret_named() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

CREATE TRIGGER release_secret BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.secret_named();

-- What an earlier version of the period asked for, a later one needs too: whoever loosens the domain file does not decide alone, and what is
-- out was promised against attackers whom the later version must withstand as well.
CREATE FUNCTION dissemination.asked_before() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

CREATE TRIGGER release_asked_before BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.asked_before();

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA confidential, operations, dissemination FROM PUBLIC;
