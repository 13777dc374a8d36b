-- Attacker profiles that this warehouse knows, one or more, each once.
CREATE FUNCTION operations.known_profiles(profiles text) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT count(*) = array_length(string_to_array(profiles, ','), 1)
    FROM operations.profile p WHERE p.name = ANY (string_to_array(profiles, ','))
$$;

CREATE FUNCTION operations.profiles_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF operations.known_profiles(NEW.profiles) IS NOT TRUE THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = TG_TABLE_NAME || ' refused: attacker profiles that are unknown here, named twice, or none at all';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER terms_profiles BEFORE INSERT ON operations.terms
FOR EACH ROW EXECUTE FUNCTION operations.profiles_gate();

CREATE TRIGGER audit_profiles BEFORE INSERT ON operations.audit
FOR EACH ROW EXECUTE FUNCTION operations.profiles_gate();

-- What lies here from before may ask for nothing, or for what nobody knows: it is not released.
CREATE FUNCTION dissemination.release_profiles() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

CREATE TRIGGER release_profiles BEFORE INSERT ON dissemination.release
FOR EACH ROW EXECUTE FUNCTION dissemination.release_profiles();

REVOKE ALL ON operations.profile FROM PUBLIC;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA operations, dissemination FROM PUBLIC;

GRANT SELECT ON operations.profile TO sdc_pipeline, sdc_approver, sdc_ui;
