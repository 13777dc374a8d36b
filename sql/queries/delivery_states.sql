-- For every period, country and state of a delivery, when the last one in that state was received.
SELECT domain, period, country, state, count(*) AS files, max(received_at) AS received_at
FROM operations.delivery
GROUP BY domain, period, country, state
