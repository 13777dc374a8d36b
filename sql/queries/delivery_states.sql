-- For every period, country and state of a delivery, whether in the inbox or not: how many, and when the last
-- one was received.
SELECT domain, period, country, state, lying, count(*) AS files, max(received_at) AS received_at
FROM operations.delivery_now
GROUP BY domain, period, country, state, lying
