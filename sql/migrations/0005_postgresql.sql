-- A search_path that does not name pg_temp searches it first, for tables and types: a caller's domain pg_temp.text would be code that
-- runs with the rights of the owner. Last of all it hides nothing.
ALTER FUNCTION dissemination.release_gate() SET search_path = pg_catalog, pg_temp;

ALTER FUNCTION dissemination.append_only() SET search_path = pg_catalog, pg_temp;

ALTER FUNCTION operations.audit_gate() SET search_path = pg_catalog, pg_temp;

ALTER FUNCTION confidential.payload_gate() SET search_path = pg_catalog, pg_temp;

-- An older snapshot would not see that the publication is released meanwhile.
CREATE OR REPLACE FUNCTION dissemination.eu_cell_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'eu_cell refused: the transaction must be READ COMMITTED';
    END IF;
    IF EXISTS (SELECT 1 FROM dissemination.release JOIN added USING (domain, period, publication_digest)) THEN
        RAISE integrity_constraint_violation USING MESSAGE = 'eu_cell refused: the publication is released';
    END IF;
    RETURN NULL;
END $$;

-- Who writes takes turns by rows of a table that nobody else can lock; an advisory lock can be held by every account of the database.
CREATE FUNCTION operations.take_turn(wanted text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO operations.turn (name) VALUES (wanted) ON CONFLICT DO NOTHING;
    PERFORM 1 FROM operations.turn t WHERE t.name = wanted FOR UPDATE;
END $$;

-- The log: who writes says who did what, to what. Number, instant, account and digests are the database's.
CREATE OR REPLACE FUNCTION operations.log_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

-- What cannot be changed is dated by the clock of this server, whatever the writer says.
CREATE FUNCTION operations.dated() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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

CREATE TRIGGER terms_dated BEFORE INSERT ON operations.terms FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER submission_dated BEFORE INSERT ON operations.submission FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER audit_dated BEFORE INSERT ON operations.audit FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER approval_dated BEFORE INSERT ON operations.approval FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER release_dated BEFORE INSERT ON dissemination.release FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER retraction_dated BEFORE INSERT ON dissemination.retraction FOR EACH ROW EXECUTE FUNCTION operations.dated();

CREATE TRIGGER alert_dated BEFORE INSERT ON operations.alert FOR EACH ROW EXECUTE FUNCTION operations.dated();
