CREATE TRIGGER alert_update BEFORE UPDATE ON alert BEGIN SELECT raise(ABORT, 'alert is append-only'); END;

CREATE TRIGGER alert_delete BEFORE DELETE ON alert BEGIN SELECT raise(ABORT, 'alert is append-only'); END;
