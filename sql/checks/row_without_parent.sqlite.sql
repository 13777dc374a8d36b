-- Rows of which the row that they refer to is not there: somebody deleted it at a prompt, where foreign keys
-- are off.
SELECT "table" AS in_table, "parent" AS of_table, count(*) AS number
FROM pragma_foreign_key_check
GROUP BY "table", "parent"
ORDER BY "table", "parent"
