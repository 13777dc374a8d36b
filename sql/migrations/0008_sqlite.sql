-- Where a version of the period is out, the next was attacked by somebody who kept it, whatever its terms ask for.
CREATE TRIGGER release_vintage BEFORE INSERT ON release
WHEN EXISTS (SELECT 1 FROM release WHERE domain = NEW.domain AND period = NEW.period) BEGIN
    SELECT raise(ABORT, 'release refused: not audited beside the version that is out')
    WHERE NOT EXISTS (
        SELECT 1 FROM audit
        WHERE release_id = NEW.release_id AND digest = NEW.audit_digest AND instr(',' || profiles || ',', ',vintage,') > 0
    );
END;
