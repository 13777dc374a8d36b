-- Domains and periods whose versions are not 1, 2, 3, …
SELECT domain, period, count(*) AS releases, min(version) AS first, max(version) AS last
FROM dissemination.release
GROUP BY domain, period
HAVING min(version) <> 1 OR max(version) <> count(*)
