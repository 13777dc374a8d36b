-- Accounts of the warehouse that may make objects of their own, even temporary ones, or that hold two roles:
-- four eyes need two accounts.
WITH holds AS (
    SELECT a.oid AS account, a.rolname AS name, r.rolname AS role
    FROM pg_catalog.pg_roles a
    JOIN pg_catalog.pg_roles r ON r.rolname IN ('sdc_pipeline', 'sdc_publisher', 'sdc_approver', 'sdc_desk',
        'sdc_ui', 'sdc_public')
    WHERE a.rolcanlogin AND NOT a.rolsuper AND pg_has_role(a.oid, r.oid, 'USAGE')
        AND a.oid <> (SELECT c.relowner FROM pg_catalog.pg_class c
            WHERE c.oid = 'dissemination.release'::pg_catalog.regclass)
)
SELECT name, 'temporary objects' AS what FROM holds
WHERE has_database_privilege(account, current_database(), 'TEMPORARY')
UNION
SELECT name, 'new schemas' FROM holds WHERE has_database_privilege(account, current_database(), 'CREATE')
UNION
SELECT h.name, 'objects in schema ' || s.schema
FROM holds h
JOIN (VALUES ('public'), ('confidential'), ('operations'), ('dissemination')) s(schema)
    ON has_schema_privilege(h.account, s.schema, 'CREATE')
UNION
SELECT name, 'the roles ' || string_agg(role, ', ' ORDER BY role) FROM holds GROUP BY name
HAVING count(DISTINCT CASE role WHEN 'sdc_desk' THEN 'sdc_approver' ELSE role END) > 1
