-- What a JSON document says at a path, as text; nothing where it is no JSON, or says nothing there. Checks go by it, so it never fails.
CREATE FUNCTION operations.told(document text, VARIADIC path text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN document::jsonb #>> path;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN NULL;
END $$;

-- Whether it is a JSON object that has all these keys, separated by commas.
CREATE FUNCTION operations.tells(document text, keys text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN jsonb_typeof(document::jsonb) = 'object' AND document::jsonb ?& string_to_array(keys, ',');
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN FALSE;
END $$;

-- Whether it is a JSON list of texts.
CREATE FUNCTION operations.is_list(document text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN jsonb_typeof(document::jsonb) = 'array'
        AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements(document::jsonb) each(item) WHERE jsonb_typeof(each.item) <> 'string');
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN FALSE;
END $$;

CREATE FUNCTION operations.sha256_hex(told text) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN encode(sha256(convert_to(told, 'UTF8')), 'hex');
END $$;

-- An instant as the log writes it.
CREATE FUNCTION operations.instant(at timestamptz) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
END $$;

-- An entry of the log tells what its kind must tell: checks compare it with what is stored. Older entries told less.
CREATE FUNCTION operations.log_told() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

CREATE TRIGGER log_told BEFORE INSERT ON operations.log
FOR EACH ROW EXECUTE FUNCTION operations.log_told();

-- An audit is stored as its certificate has it, and the certificate is of its run.
CREATE FUNCTION operations.audit_told() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

CREATE TRIGGER audit_told BEFORE INSERT ON operations.audit
FOR EACH ROW EXECUTE FUNCTION operations.audit_told();

-- JSON that pages and reports read is JSON; terms ask for what their settings say.
CREATE FUNCTION operations.json_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

CREATE TRIGGER terms_json BEFORE INSERT ON operations.terms
FOR EACH ROW EXECUTE FUNCTION operations.json_gate();

CREATE TRIGGER submission_json BEFORE INSERT ON operations.submission
FOR EACH ROW EXECUTE FUNCTION operations.json_gate();

CREATE TRIGGER cycle_json BEFORE INSERT OR UPDATE ON operations.cycle
FOR EACH ROW EXECUTE FUNCTION operations.json_gate();

CREATE TRIGGER check_result_json BEFORE INSERT OR UPDATE ON operations.check_result
FOR EACH ROW EXECUTE FUNCTION operations.json_gate();

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA operations FROM PUBLIC;
