-- Countries with more than one accepted delivery for a domain and period.
SELECT domain, period, country, count(*) AS accepted
FROM operations.delivery
WHERE state = 'accepted'
GROUP BY domain, period, country
HAVING count(*) > 1
