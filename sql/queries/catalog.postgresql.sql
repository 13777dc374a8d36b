-- What the schemas hold, as (name, definition): what a gate stands on, without comments and rights.
-- Constraints NOT NULL stand beside their column; only newer servers list them as constraints too.
WITH ours AS (
    SELECT n.oid, n.nspname AS name FROM pg_catalog.pg_namespace n
    WHERE n.nspname IN ('confidential', 'operations', 'dissemination')
), relations AS (
    SELECT
        c.oid, c.relkind, c.relrowsecurity, c.relpersistence, c.relowner,
        ours.name || '.' || c.relname AS name
    FROM ours JOIN pg_catalog.pg_class c ON c.relnamespace = ours.oid
)
SELECT 'relation ' || r.name AS name,
    concat_ws(
        ' ', r.relkind, r.relpersistence, r.relrowsecurity,
        CASE r.relkind WHEN 'v' THEN pg_get_viewdef(r.oid) END
    ) AS told
FROM relations r WHERE r.relkind <> 'i'
UNION ALL
SELECT 'column ' || r.name || '.' || a.attname, concat_ws(
    ' ', row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum), format_type(a.atttypid, a.atttypmod),
    CASE WHEN a.attnotnull THEN 'NOT NULL' END, pg_get_expr(d.adbin, d.adrelid)
)
FROM relations r
JOIN pg_catalog.pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE r.relkind <> 'i'
UNION ALL
SELECT 'constraint ' || r.name || '.' || c.conname, pg_get_constraintdef(c.oid)
FROM relations r
JOIN pg_catalog.pg_constraint c ON c.conrelid = r.oid AND c.contype IN ('c', 'f', 'p', 'u', 'x')
UNION ALL
SELECT 'index ' || r.name, pg_get_indexdef(r.oid) FROM relations r WHERE r.relkind = 'i'
UNION ALL
SELECT 'trigger ' || r.name || '.' || t.tgname, concat_ws(' ', t.tgenabled, pg_get_triggerdef(t.oid))
FROM relations r JOIN pg_catalog.pg_trigger t ON t.tgrelid = r.oid AND NOT t.tgisinternal
UNION ALL
SELECT 'function ' || p.oid::pg_catalog.regprocedure::text, pg_get_functiondef(p.oid)
FROM ours JOIN pg_catalog.pg_proc p ON p.pronamespace = ours.oid
UNION ALL
-- What takes strength away without a change of what is there: rows in a child pass no trigger of their
-- parent, a rule takes a statement's place, a trigger of a foreign key may be off, a policy hides rows.
SELECT 'child of ' || r.name, i.inhrelid::pg_catalog.regclass::text
FROM relations r JOIN pg_catalog.pg_inherits i ON i.inhparent = r.oid
UNION ALL
SELECT 'rule of ' || r.name || '.' || w.rulename, pg_get_ruledef(w.oid)
FROM relations r JOIN pg_catalog.pg_rewrite w ON w.ev_class = r.oid AND w.rulename <> '_RETURN'
UNION ALL
SELECT 'trigger of ' || r.name || ' that is off', count(*)::text
FROM relations r JOIN pg_catalog.pg_trigger t ON t.tgrelid = r.oid AND t.tgisinternal AND t.tgenabled <> 'O'
GROUP BY r.name
UNION ALL
SELECT
    'policy of ' || r.name || '.' || p.polname,
    concat_ws(' ', p.polcmd, pg_get_expr(p.polqual, p.polrelid))
FROM relations r JOIN pg_catalog.pg_policy p ON p.polrelid = r.oid
UNION ALL
SELECT 'owners', count(DISTINCT owner)::text
FROM (
    SELECT relowner AS owner FROM relations
    UNION ALL
    SELECT p.proowner FROM ours JOIN pg_catalog.pg_proc p ON p.pronamespace = ours.oid
    UNION ALL
    SELECT n.nspowner FROM ours JOIN pg_catalog.pg_namespace n ON n.oid = ours.oid
) owned
