-- Functions of the warehouse that somebody could lead astray by objects of his own (their search_path must be
-- fixed, pg_temp last), or that everybody may call.
SELECT p.oid::pg_catalog.regprocedure::text AS function, p.proconfig::text AS settings
FROM pg_catalog.pg_proc p
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname IN ('confidential', 'operations', 'dissemination')
    AND (
        NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), FALSE)
        OR has_function_privilege('public', p.oid, 'EXECUTE')
    )
