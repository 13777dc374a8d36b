-- Who may do what in a PostgreSQL warehouse. Six roles without login; an account is given one of them:
--     CREATE ROLE release_worker LOGIN PASSWORD '…' IN ROLE sdc_pipeline;
-- What is not granted here is refused. The owner of the tables, who migrates them, stands above all this.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY[
        'sdc_pipeline', 'sdc_publisher', 'sdc_approver', 'sdc_desk', 'sdc_ui', 'sdc_public'
    ] LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = wanted) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL;  -- another database of this server was quicker
            END;
        END IF;
    END LOOP;
END $$;

REVOKE ALL ON SCHEMA confidential, operations, dissemination FROM PUBLIC;

REVOKE ALL ON ALL TABLES IN SCHEMA confidential, operations, dissemination FROM PUBLIC;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA confidential, operations, dissemination FROM PUBLIC;

-- Nobody makes objects of his own here, not even temporary ones. Only the owner of the database can take that
-- away: where another account migrates, the check account_too_mighty tells.
DO $$
BEGIN
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
EXCEPTION WHEN insufficient_privilege THEN
    NULL;
END $$;

GRANT SELECT ON sdc_warehouse_version TO sdc_pipeline, sdc_publisher, sdc_approver, sdc_desk, sdc_ui;

-- The pipeline: takes in, computes, audits, purges. It publishes nothing and approves nothing.
GRANT USAGE ON SCHEMA confidential, operations, dissemination TO sdc_pipeline;

GRANT SELECT ON ALL TABLES IN SCHEMA confidential, operations, dissemination TO sdc_pipeline;

GRANT INSERT, UPDATE, DELETE ON confidential.payload TO sdc_pipeline;

GRANT INSERT, UPDATE (content, key_id, fingerprint, kept) ON confidential.secret TO sdc_pipeline;

GRANT INSERT ON
    operations.artefact, operations.delivery, operations.finding, operations.check_result, operations.run,
    operations.step, operations.rung, operations.audit, operations.inbox, operations.terms,
    operations.submission, operations.log, operations.cycle, operations.dag_run, operations.task_run,
    operations.alert, operations.unread
TO sdc_pipeline;

GRANT UPDATE (stored_at, purged_at) ON operations.artefact TO sdc_pipeline;

GRANT UPDATE (country, file, state, superseded_by, received_at, times, series, version)
ON operations.delivery TO sdc_pipeline;

GRANT UPDATE (inputs_digest, state, finished_at) ON operations.run TO sdc_pipeline;

GRANT UPDATE (seconds, note, artefact_digest, finished_at) ON operations.step TO sdc_pipeline;

GRANT UPDATE (terms_digest, areas, opened_at, delivery_due, protection_due, approval_due, embargo)
ON operations.cycle TO sdc_pipeline;

GRANT UPDATE (domain, period, release_id, state, triggered_by, reason, started_at, finished_at)
ON operations.dag_run TO sdc_pipeline;

GRANT UPDATE (label, state, tries, seconds, said, finished_at) ON operations.task_run TO sdc_pipeline;

GRANT DELETE ON
    operations.finding, operations.check_result, operations.rung, operations.inbox, operations.unread
TO sdc_pipeline;

-- The publisher: takes no confidential byte, and can write only what the gate lets through.
GRANT USAGE ON SCHEMA operations, dissemination TO sdc_publisher;

GRANT SELECT ON
    operations.run, operations.audit, operations.terms, operations.submission, operations.approval,
    operations.withdrawal, operations.log
TO sdc_publisher;

GRANT SELECT ON ALL TABLES IN SCHEMA dissemination TO sdc_publisher;

GRANT INSERT ON
    dissemination.publication, dissemination.eu_cell, dissemination.release, dissemination.retraction,
    operations.log
TO sdc_publisher;

-- Whoever writes takes turns.
GRANT EXECUTE ON FUNCTION operations.take_turn(text) TO sdc_pipeline, sdc_publisher, sdc_approver, sdc_desk;

-- Who may see the rows may ask for their digest.
GRANT EXECUTE ON FUNCTION dissemination.printed_digest(text, text, text)
TO sdc_pipeline, sdc_publisher, sdc_approver, sdc_desk, sdc_ui;

-- What the checks compare by.
GRANT EXECUTE ON FUNCTION
    operations.told(text, text[]), operations.tells(text, text), operations.sha256_hex(text),
    operations.instant(timestamptz), operations.same_time(text, text), operations.akin(text, text),
    operations.days(text), operations.agency(text), operations.areas(text),
    operations.knew(text, text, text, text), operations.links(text, text, text)
TO sdc_pipeline, sdc_publisher, sdc_approver, sdc_desk, sdc_ui;

-- Those who agree: see all but what is confidential, and say yes. An account of sdc_approver agrees in its
-- own name. One of sdc_desk is that of a program which knows its people, as Airflow's API server does, and
-- vouches for them.
GRANT USAGE ON SCHEMA operations, dissemination TO sdc_approver, sdc_desk;

GRANT SELECT ON ALL TABLES IN SCHEMA operations, dissemination TO sdc_approver, sdc_desk;

GRANT INSERT ON operations.approval, operations.withdrawal, operations.log TO sdc_approver, sdc_desk;

-- Pages and reports: read.
GRANT USAGE ON SCHEMA operations, dissemination TO sdc_ui;

GRANT SELECT ON ALL TABLES IN SCHEMA operations, dissemination TO sdc_ui;

-- The turns are taken by the function alone.
REVOKE ALL ON operations.turn FROM sdc_pipeline, sdc_publisher, sdc_approver, sdc_desk, sdc_ui, sdc_public;

-- The world: what is out.
GRANT USAGE ON SCHEMA dissemination TO sdc_public;

GRANT SELECT ON dissemination.public_release, dissemination.public_cell TO sdc_public;

-- What the two views are made of. All others may see more, and read the same views.
GRANT EXECUTE ON FUNCTION dissemination.visible_releases(), dissemination.visible_cells(text, text, integer)
TO sdc_pipeline, sdc_publisher, sdc_approver, sdc_desk, sdc_ui, sdc_public;
