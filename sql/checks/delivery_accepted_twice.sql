-- Countries with more than one accepted file of a series for a domain and period.
SELECT domain, period, country, series, count(*) AS accepted
FROM operations.delivery
WHERE state = 'accepted'
GROUP BY domain, period, country, series
HAVING count(*) > 1
