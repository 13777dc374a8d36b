-- Figures that may be those of another domain or frequency that are out, or sums or parts of them, stay in
-- unless the audit attacked both together: its certificate names every publication of what its domain file
-- links to it, and that reaches its period through periods that overlap. A domain file may say why another
-- domain is unrelated; the certificate names the reason.

-- Whether a certificate says that its audit knew this version of a related release.
CREATE FUNCTION operations.knew(certificate text, domain text, period text, version integer, publication text)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    named jsonb := certificate::jsonb -> 'linked';
BEGIN
    RETURN coalesce(jsonb_typeof(named) = 'array' AND named @> jsonb_build_array(jsonb_build_object(
        'domain', domain, 'period', period, 'version', version, 'publication', publication)), FALSE);
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN FALSE;
END $$;

-- Whether settings say that releases of a domain are attacked together with those of this other one, or, of
-- the domain itself, with those of its other periods.
CREATE FUNCTION operations.links(settings text, own text, other text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said jsonb := settings::jsonb -> 'linked';
BEGIN
    RETURN CASE WHEN own = other THEN coalesce(said ->> 'periods', '') <> ''
        ELSE coalesce(jsonb_typeof(said -> 'tables') = 'array' AND said -> 'tables' ? other, FALSE) END;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN FALSE;
END $$;

CREATE OR REPLACE FUNCTION dissemination.related_gate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked text;
    shown text;
    linked text[];
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
    -- The domains that this one links, and those that these link, and so on.
    WITH RECURSIVE domains AS (
        SELECT r.domain FROM dissemination.release r WHERE operations.links(asked, NEW.domain, r.domain)
        UNION
        SELECT o.domain
        FROM domains d
        JOIN operations.submission s ON s.domain = d.domain
        JOIN dissemination.release r ON r.release_id = s.release_id
        JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        JOIN dissemination.release o ON operations.links(t.settings, d.domain, o.domain)
    )
    SELECT coalesce(array_agg(d.domain), '{}') INTO linked FROM domains d;
    IF EXISTS (
        WITH RECURSIVE family AS (
            SELECT r.domain, r.period, r.version, r.publication_digest
            FROM dissemination.release r
            WHERE r.domain = ANY (linked) AND (r.domain <> NEW.domain OR r.period <> NEW.period)
        ), near AS (
            SELECT NEW.period AS period
            UNION
            SELECT f.period FROM family f JOIN near n ON operations.same_time(f.period, n.period)
        )
        SELECT 1 FROM family f JOIN near n ON n.period = f.period
        WHERE NOT operations.knew(shown, f.domain, f.period, f.version, f.publication_digest)
    ) THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = 'release refused: its audit did not know a related publication that is out';
    END IF;
    IF EXISTS (
        SELECT 1
        FROM (
            SELECT DISTINCT r.domain, r.period, r.publication_digest, s.terms_digest
            FROM dissemination.release r LEFT JOIN operations.submission s ON s.release_id = r.release_id
            WHERE (r.domain <> NEW.domain OR r.period <> NEW.period)
                AND operations.same_time(r.period, NEW.period)
                AND r.domain <> ALL (linked)
        ) b
        LEFT JOIN operations.terms bt ON bt.domain = b.domain AND bt.digest = b.terms_digest
        WHERE CASE
            WHEN b.domain = NEW.domain THEN TRUE
            WHEN trim(operations.told(asked, 'unrelated', b.domain)) <> ''
                THEN operations.links(bt.settings, b.domain, NEW.domain)
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
