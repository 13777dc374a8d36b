-- Published cells of an area that delivers: no national value may stand in dissemination.
SELECT DISTINCT c.domain, c.period, c.area
FROM dissemination.eu_cell c
JOIN operations.delivery d ON d.domain = c.domain AND d.country = c.area
