-- Releases beside others of another domain or frequency that may be the same figures, or sums or parts of
-- them, and no audit attacked both together. They came out before the gate refused it. Not listed are domains
-- of which one says why the other is unrelated, and releases whose certificate names the earlier one.
WITH known AS (
    SELECT r.release_id, r.domain, r.period, r.version, r.publication_digest, r.released_at, t.settings,
        u.certificate
    FROM dissemination.release r
    LEFT JOIN operations.audit u ON u.release_id = r.release_id AND u.digest = r.audit_digest
    LEFT JOIN operations.submission s ON s.release_id = r.release_id
    LEFT JOIN operations.terms t ON t.domain = s.domain AND t.digest = s.terms_digest
)
SELECT a.release_id, b.release_id AS beside, a.domain, a.period, b.domain AS beside_domain,
    b.period AS beside_period
FROM known a
JOIN known b ON (b.released_at, b.release_id) < (a.released_at, a.release_id)
    AND (b.domain <> a.domain OR b.period <> a.period)
WHERE operations.same_time(a.period, b.period)
    AND NOT operations.knew(a.certificate, b.domain, b.period, b.version, b.publication_digest)
    AND CASE
        WHEN a.domain = b.domain THEN TRUE
        WHEN EXISTS (
            SELECT 1 FROM operations.terms t
            WHERE (t.domain = a.domain AND trim(operations.told(t.settings, 'unrelated', b.domain)) <> '')
                OR (t.domain = b.domain AND trim(operations.told(t.settings, 'unrelated', a.domain)) <> '')
        ) THEN FALSE
        ELSE operations.akin(a.settings, b.settings)
    END
    AND EXISTS (
        SELECT 1
        FROM (
            SELECT DISTINCT upper(c.indicator) AS indicator FROM dissemination.eu_cell c
            WHERE c.domain = a.domain AND c.period = a.period AND c.publication_digest = a.publication_digest
        ) ours
        WHERE EXISTS (
            SELECT 1 FROM dissemination.eu_cell c
            WHERE c.domain = b.domain AND c.period = b.period AND c.publication_digest = b.publication_digest
                AND upper(c.indicator) = ours.indicator
        )
    )
