-- A warehouse of revision 0023, the last of the development versions, with rows in every table: filled at
-- revision 0004 and upgraded step by step, then released from once more. Frozen: such a warehouse is compared
-- with it. Written by sqlite3 (iterdump).

BEGIN TRANSACTION;
CREATE TABLE alert (
	domain TEXT NOT NULL, 
	period TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	raised_at DATETIME NOT NULL, 
	said TEXT NOT NULL, 
	CONSTRAINT pk_alert PRIMARY KEY (domain, period, kind, subject)
);
INSERT INTO "alert" VALUES('sbs','2024','ready','r1','2026-01-05 09:00:00.000000','it can go on');
CREATE TABLE approval (
	release_id TEXT NOT NULL, 
	audit_digest TEXT NOT NULL, 
	approver TEXT NOT NULL, 
	publication_digest TEXT NOT NULL, 
	audit_passed BOOLEAN NOT NULL, 
	submitter TEXT NOT NULL, 
	note TEXT NOT NULL, 
	approved_at DATETIME NOT NULL, account TEXT, without TEXT, 
	CONSTRAINT pk_approval PRIMARY KEY (release_id, audit_digest, approver), 
	CONSTRAINT ck_approval_audit_passed CHECK (audit_passed), 
	CONSTRAINT ck_approval_four_eyes CHECK (approver <> submitter), 
	CONSTRAINT ck_approval_approver CHECK (approver = lower(trim(approver)) AND approver <> ''), 
	CONSTRAINT fk_approval_submission FOREIGN KEY(release_id, submitter) REFERENCES submission (release_id, submitter), 
	CONSTRAINT fk_approval_audit FOREIGN KEY(release_id, audit_digest, publication_digest, audit_passed) REFERENCES audit (release_id, digest, publication_digest, passed)
);
INSERT INTO "approval" VALUES('r1','389fe38694fec0a238f84f75040dde09d88cffaefd62a5e77566b3ebdb556424','bert','c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896',1,'анна b','read','2026-01-05 09:00:00.000000',NULL,NULL);
INSERT INTO "approval" VALUES('r5','95d888b23749e57f141e301a5a0b2f98d8c0a6bfc424b6ee755ac8c6c75502e3','anna','c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896',1,'tester','','2026-11-29 19:26:49.028027','file',NULL);
CREATE TABLE artefact (
	digest TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	size BIGINT NOT NULL, 
	stored_at DATETIME NOT NULL, purged_at DATETIME, 
	CONSTRAINT pk_artefact PRIMARY KEY (digest)
);
INSERT INTO "artefact" VALUES('b2e59a6fbb87336351c7a2a4311617f37b7f2e8051e883c06c0bb9deac89ff80','delivery',6,'2026-01-05 09:00:00.000000',NULL);
INSERT INTO "artefact" VALUES('9dc4703e6f36e40d4fe83cf1ca19885b947d417c6448aedd0b399ea9c309b948','delivery',16,'2026-01-05 09:00:00.000000',NULL);
INSERT INTO "artefact" VALUES('a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e','delivery',9,'2026-01-05 09:00:00.000000',NULL);
INSERT INTO "artefact" VALUES('e28c99d3d4be00460677489bfa4e686cb9345bf33b1ac9c63eb483c3689f67fb','delivery',7,'2026-01-05 09:00:00.000000',NULL);
INSERT INTO "artefact" VALUES('97f897def3e6928594a011966113864f62615c44fd118c270ff91d80e6612d32','delivery',8,'2026-01-05 09:00:00.000000','2026-01-05 09:00:00.000000');
CREATE TABLE audit (
	release_id TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	problem_digest TEXT NOT NULL, 
	publication_digest TEXT NOT NULL, 
	profiles TEXT NOT NULL, 
	passed BOOLEAN NOT NULL, 
	primaries INTEGER NOT NULL, 
	broken INTEGER NOT NULL, 
	lps INTEGER NOT NULL, 
	certificate TEXT NOT NULL, 
	audited_at DATETIME NOT NULL, printed_digest TEXT, 
	CONSTRAINT pk_audit PRIMARY KEY (release_id, digest), 
	CONSTRAINT fk_audit_run FOREIGN KEY(release_id) REFERENCES run (release_id), 
	CONSTRAINT uq_audit_release_id_digest_publication_digest_passed UNIQUE (release_id, digest, publication_digest, passed), 
	CONSTRAINT ck_audit_passed CHECK (NOT passed OR broken = 0)
);
INSERT INTO "audit" VALUES('r1','b418c1b6278d90a15c883bd323b3bed8ecd7172f98ac3e253950116e59888aac','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896','external',0,2,1,4,'{"domain": "sbs", "period": "2024", "verdict": "failed", "profiles": ["external"], "digests": {"domain": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896"}, "counts": {"primaries": 2, "broken_requirements": 1}, "of": ""}','2026-01-05 09:00:00.000000',NULL);
INSERT INTO "audit" VALUES('r1','389fe38694fec0a238f84f75040dde09d88cffaefd62a5e77566b3ebdb556424','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896','external',1,2,0,4,'{"domain": "sbs", "period": "2024", "verdict": "passed", "profiles": ["external"], "digests": {"domain": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896"}, "counts": {"primaries": 2, "broken_requirements": 0}, "of": ""}','2026-01-05 09:00:00.000000',NULL);
INSERT INTO "audit" VALUES('r2','76a80a65a03932b80a009237e589d06d799e69f1286aa32d93d7e63e79f3a6d5','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e','external',0,2,1,4,'{"domain": "sbs", "period": "2024", "verdict": "failed", "profiles": ["external"], "digests": {"domain": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e"}, "counts": {"primaries": 2, "broken_requirements": 1}, "of": ""}','2026-01-05 09:00:00.000000',NULL);
INSERT INTO "audit" VALUES('r2','01ceeb233fc451e822557762b413f37974de4319cb96631fd4b8112737c0422d','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e','external',1,2,0,4,'{"domain": "sbs", "period": "2024", "verdict": "passed", "profiles": ["external"], "digests": {"domain": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e"}, "counts": {"primaries": 2, "broken_requirements": 0}, "of": ""}','2026-01-05 09:00:00.000000',NULL);
INSERT INTO "audit" VALUES('r3','6419695dfc859cfc30e95839ff74b4bc7ed801bdc78c84f7907cf29529492cdd','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c','external',0,2,1,4,'{"domain": "sbs", "period": "2025", "verdict": "failed", "profiles": ["external"], "digests": {"domain": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c"}, "counts": {"primaries": 2, "broken_requirements": 1}, "of": ""}','2026-01-05 09:00:00.000000',NULL);
INSERT INTO "audit" VALUES('r3','cfbeb94893f6b7471a43f62c46f2136c1c4b077d3b223470c48a3e866d3eccdc','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c','external',1,2,0,4,'{"domain": "sbs", "period": "2025", "verdict": "passed", "profiles": ["external"], "digests": {"domain": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c"}, "counts": {"primaries": 2, "broken_requirements": 0}, "of": ""}','2026-01-05 09:00:00.000000',NULL);
INSERT INTO "audit" VALUES('r4','a978fbf15577b008f1290d4b330263d8e9303def4ee8950fd9aad3a5cf5e6965','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c','external',0,2,1,4,'{"domain": "sbs", "period": "2026", "verdict": "failed", "profiles": ["external"], "digests": {"domain": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c"}, "counts": {"primaries": 2, "broken_requirements": 1}, "of": ""}','2026-01-05 09:00:00.000000',NULL);
INSERT INTO "audit" VALUES('r4','12b31b49a78274fd79887f3d08ee30c1d8c8fcc9e640dcf335a06296f3b41ba3','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c','external',1,2,0,4,'{"domain": "sbs", "period": "2026", "verdict": "passed", "profiles": ["external"], "digests": {"domain": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c"}, "counts": {"primaries": 2, "broken_requirements": 0}, "of": ""}','2026-01-05 09:00:00.000000',NULL);
INSERT INTO "audit" VALUES('r5','95d888b23749e57f141e301a5a0b2f98d8c0a6bfc424b6ee755ac8c6c75502e3','pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp','c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896','external,vintage',1,2,0,4,'{"domain": "sbs", "period": "2023", "verdict": "passed", "profiles": ["external", "vintage"], "digests": {"domain": "tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt", "problem": "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp", "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896"}, "counts": {"primaries": 2, "broken_requirements": 0}, "of": ""}','2026-11-29 19:26:49.016125','fd1de99bc8ff83775664825cca60181e05fa4e292cf4e2d1bbcca6ac4c1bc617');
CREATE TABLE check_result (
	domain TEXT NOT NULL, 
	period TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	"check" TEXT NOT NULL, 
	severity TEXT NOT NULL, 
	passed BOOLEAN NOT NULL, 
	checked INTEGER NOT NULL, 
	failed INTEGER NOT NULL, 
	cells TEXT NOT NULL, 
	CONSTRAINT pk_check_result PRIMARY KEY (domain, period, digest, "check"), 
	CONSTRAINT fk_check_result_delivery FOREIGN KEY(domain, period, digest) REFERENCES delivery (domain, period, digest), 
	CONSTRAINT ck_check_result_failed CHECK (failed BETWEEN 0 AND checked)
);
INSERT INTO "check_result" VALUES('sbs','2024','e28c99d3d4be00460677489bfa4e686cb9345bf33b1ac9c63eb483c3689f67fb','additivity','error',0,3,1,'["XX"]');
CREATE TABLE cycle (
	domain TEXT NOT NULL, 
	period TEXT NOT NULL, 
	terms_digest TEXT NOT NULL, 
	areas TEXT NOT NULL, 
	opened_at DATETIME, 
	delivery_due DATETIME, 
	protection_due DATETIME, 
	approval_due DATETIME, 
	embargo DATETIME, 
	CONSTRAINT pk_cycle PRIMARY KEY (domain, period), 
	CONSTRAINT fk_cycle_terms FOREIGN KEY(domain, terms_digest) REFERENCES terms (domain, digest)
);
INSERT INTO "cycle" VALUES('sbs','2024','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','["AT", "BE"]','2026-01-05 09:00:00.000000',NULL,NULL,NULL,'2026-01-05 09:00:00.000000');
CREATE TABLE dag_run (
	dag_id TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	domain TEXT NOT NULL, 
	period TEXT NOT NULL, 
	release_id TEXT, 
	state TEXT NOT NULL, 
	triggered_by TEXT NOT NULL, 
	started_at DATETIME, 
	finished_at DATETIME, reason TEXT, 
	CONSTRAINT pk_dag_run PRIMARY KEY (dag_id, run_id), 
	CONSTRAINT fk_dag_run_run FOREIGN KEY(release_id) REFERENCES run (release_id)
);
INSERT INTO "dag_run" VALUES('eu_release_sbs','manual','sbs','2024','r1','success','scheduled','2026-01-05 09:00:00.000000','2026-01-05 09:00:00.000000','a wrong delivery');
CREATE TABLE delivery (
	domain TEXT NOT NULL, 
	period TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	country TEXT, 
	file TEXT NOT NULL, 
	received_at DATETIME NOT NULL, 
	state TEXT NOT NULL, 
	superseded_by TEXT, times INTEGER DEFAULT '1' NOT NULL, series TEXT DEFAULT '' NOT NULL, version INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_delivery PRIMARY KEY (domain, period, digest), 
	CONSTRAINT fk_delivery_artefact FOREIGN KEY(digest) REFERENCES artefact (digest), 
	CONSTRAINT fk_delivery_superseded_by FOREIGN KEY(domain, period, superseded_by) REFERENCES delivery (domain, period, digest), 
	CONSTRAINT ck_delivery_state CHECK (state IN ('received', 'accepted', 'refused', 'superseded')), 
	CONSTRAINT ck_delivery_superseded CHECK ((state = 'superseded') = (superseded_by IS NOT NULL)), 
	CONSTRAINT ck_delivery_country CHECK (state NOT IN ('accepted', 'superseded') OR country IS NOT NULL)
);
INSERT INTO "delivery" VALUES('sbs','2024','9dc4703e6f36e40d4fe83cf1ca19885b947d417c6448aedd0b399ea9c309b948','AT','at_corrected.csv','2026-01-05 09:00:01.000000','accepted',NULL,1,'at_corrected.csv',0);
INSERT INTO "delivery" VALUES('sbs','2024','b2e59a6fbb87336351c7a2a4311617f37b7f2e8051e883c06c0bb9deac89ff80','AT','at.csv','2026-01-05 09:00:00.000000','superseded','9dc4703e6f36e40d4fe83cf1ca19885b947d417c6448aedd0b399ea9c309b948',1,'at_corrected.csv',0);
INSERT INTO "delivery" VALUES('sbs','2024','a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e','BE','be_v3.csv','2026-01-05 09:00:02.000000','accepted',NULL,2,'be.csv',3);
INSERT INTO "delivery" VALUES('sbs','2024','e28c99d3d4be00460677489bfa4e686cb9345bf33b1ac9c63eb483c3689f67fb',NULL,'odd.csv','2026-01-05 09:00:03.000000','refused',NULL,1,'odd.csv',0);
INSERT INTO "delivery" VALUES('sbs','2024','97f897def3e6928594a011966113864f62615c44fd118c270ff91d80e6612d32',NULL,'gone.csv','2026-01-05 09:00:04.000000','received',NULL,1,'gone.csv',0);
CREATE TABLE eu_cell (
	domain TEXT NOT NULL, 
	period TEXT NOT NULL, 
	publication_digest TEXT NOT NULL, 
	cell TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	area TEXT NOT NULL, 
	indicator TEXT NOT NULL, 
	value FLOAT, 
	obs_status TEXT NOT NULL, 
	conf_status TEXT NOT NULL, 
	rounding_base FLOAT, visible_share FLOAT(53) CONSTRAINT ck_eu_cell_visible_share CHECK (visible_share IS NULL OR (visible_share > 0 AND visible_share <= 1 AND value IS NOT NULL AND rounding_base IS NULL)), 
	CONSTRAINT pk_eu_cell PRIMARY KEY (domain, period, publication_digest, cell), 
	CONSTRAINT fk_eu_cell_publication FOREIGN KEY(domain, period, publication_digest) REFERENCES publication (domain, period, digest), 
	CONSTRAINT ck_eu_cell_rounding_base CHECK (rounding_base > 0), 
	CONSTRAINT ck_eu_cell_withheld CHECK (value IS NOT NULL OR rounding_base IS NULL)
);
INSERT INTO "eu_cell" VALUES('sbs','2024','c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896','EU.TURNOVER.TOTAL',0,'EU','TURNOVER',42.0,'A','F',NULL,NULL);
INSERT INTO "eu_cell" VALUES('sbs','2024','c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896','EU.TURNOVER.C10',1,'EU','TURNOVER',20.0,'E','F',10.0,NULL);
INSERT INTO "eu_cell" VALUES('sbs','2024','c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896','EU.TURNOVER.C11',2,'EU','TURNOVER',NULL,'Q','S',NULL,NULL);
INSERT INTO "eu_cell" VALUES('sbs','2024','ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e','EU.TURNOVER.TOTAL',0,'EU','TURNOVER',42.0,'A','F',NULL,NULL);
INSERT INTO "eu_cell" VALUES('sbs','2024','ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e','EU.TURNOVER.C10',1,'EU','TURNOVER',20.0,'E','F',20.0,NULL);
INSERT INTO "eu_cell" VALUES('sbs','2024','ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e','EU.TURNOVER.C11',2,'EU','TURNOVER',NULL,'Q','S',NULL,NULL);
INSERT INTO "eu_cell" VALUES('sbs','2025','7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c','EU.TURNOVER.TOTAL',0,'EU','TURNOVER',42.0,'A','F',NULL,NULL);
INSERT INTO "eu_cell" VALUES('sbs','2025','7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c','EU.TURNOVER.C10',1,'EU','TURNOVER',20.0,'E','F',5.0,NULL);
INSERT INTO "eu_cell" VALUES('sbs','2025','7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c','EU.TURNOVER.C11',2,'EU','TURNOVER',25.0,'A','F',NULL,NULL);
INSERT INTO "eu_cell" VALUES('sbs','2023','c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896','EU.TURNOVER.TOTAL',0,'EU','TURNOVER',42.0,'A','F',NULL,NULL);
INSERT INTO "eu_cell" VALUES('sbs','2023','c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896','EU.TURNOVER.C10',1,'EU','TURNOVER',20.0,'E','F',10.0,NULL);
INSERT INTO "eu_cell" VALUES('sbs','2023','c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896','EU.TURNOVER.C11',2,'EU','TURNOVER',NULL,'Q','S',NULL,NULL);
CREATE TABLE finding (
	domain TEXT NOT NULL, 
	period TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	code TEXT NOT NULL, 
	severity TEXT NOT NULL, 
	line INTEGER, 
	cell TEXT, 
	message TEXT NOT NULL, 
	CONSTRAINT pk_finding PRIMARY KEY (domain, period, digest, position), 
	CONSTRAINT fk_finding_delivery FOREIGN KEY(domain, period, digest) REFERENCES delivery (domain, period, digest)
);
INSERT INTO "finding" VALUES('sbs','2024','e28c99d3d4be00460677489bfa4e686cb9345bf33b1ac9c63eb483c3689f67fb',0,'150/904-2','error',3,'XX','no such area');
CREATE TABLE inbox (
	domain TEXT NOT NULL, 
	period TEXT NOT NULL, 
	file TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	CONSTRAINT pk_inbox PRIMARY KEY (domain, period, file, digest), 
	CONSTRAINT fk_inbox_delivery FOREIGN KEY(domain, period, digest) REFERENCES delivery (domain, period, digest)
);
INSERT INTO "inbox" VALUES('sbs','2024','at_corrected.csv','9dc4703e6f36e40d4fe83cf1ca19885b947d417c6448aedd0b399ea9c309b948');
INSERT INTO "inbox" VALUES('sbs','2024','at.csv','b2e59a6fbb87336351c7a2a4311617f37b7f2e8051e883c06c0bb9deac89ff80');
INSERT INTO "inbox" VALUES('sbs','2024','be_v3.csv','a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e');
INSERT INTO "inbox" VALUES('sbs','2024','odd.csv','e28c99d3d4be00460677489bfa4e686cb9345bf33b1ac9c63eb483c3689f67fb');
INSERT INTO "inbox" VALUES('sbs','2024','gone.csv','97f897def3e6928594a011966113864f62615c44fd118c270ff91d80e6612d32');
CREATE TABLE log (
	number BIGINT NOT NULL, 
	recorded_at DATETIME NOT NULL, 
	actor TEXT NOT NULL, 
	account TEXT NOT NULL, 
	action TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	details TEXT NOT NULL, 
	previous TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	CONSTRAINT pk_log PRIMARY KEY (number)
);
INSERT INTO "log" VALUES(1,'2026-01-05 09:00:00.000000','tester','file','receive','9dc4703e6f36e40d4fe83cf1ca19885b947d417c6448aedd0b399ea9c309b948','{"domain": "sbs", "file": "at_corrected.csv", "period": "2024", "times": 1}','','781cd68d25a1068462f9934be20e7c8218b2f5a663b36110824c29b0f0271419');
INSERT INTO "log" VALUES(2,'2026-01-05 10:00:00.000000','tester','file','receive','b2e59a6fbb87336351c7a2a4311617f37b7f2e8051e883c06c0bb9deac89ff80','{"domain": "sbs", "file": "at.csv", "period": "2024", "times": 1}','781cd68d25a1068462f9934be20e7c8218b2f5a663b36110824c29b0f0271419','c5307203a7bfa70ae5bf836e6c9335901e6a1b0de93899a2ad395a2f3e6214ff');
INSERT INTO "log" VALUES(3,'2026-01-05 11:00:00.000000','tester','file','receive','a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e','{"domain": "sbs", "file": "be_v3.csv", "period": "2024", "times": 2}','c5307203a7bfa70ae5bf836e6c9335901e6a1b0de93899a2ad395a2f3e6214ff','b825ad9fa308dfac48578773020ea5eb0ee74796e78ede0ec7229d4c326a4e3d');
INSERT INTO "log" VALUES(4,'2026-01-05 12:00:00.000000','tester','file','receive','e28c99d3d4be00460677489bfa4e686cb9345bf33b1ac9c63eb483c3689f67fb','{"domain": "sbs", "file": "odd.csv", "period": "2024", "times": 1}','b825ad9fa308dfac48578773020ea5eb0ee74796e78ede0ec7229d4c326a4e3d','414846ca80bfb39d37e22eb82261c5a4269fe992f198d706c5507cbf1cfe4447');
INSERT INTO "log" VALUES(5,'2026-01-05 13:00:00.000000','tester','file','receive','97f897def3e6928594a011966113864f62615c44fd118c270ff91d80e6612d32','{"domain": "sbs", "file": "gone.csv", "period": "2024", "times": 1}','414846ca80bfb39d37e22eb82261c5a4269fe992f198d706c5507cbf1cfe4447','b0bbaaef4c9477f079543c7fc36358321ec95179adec60c19c9376658323c0ec');
INSERT INTO "log" VALUES(6,'2026-01-05 14:00:00.000000','tester','file','accept','b2e59a6fbb87336351c7a2a4311617f37b7f2e8051e883c06c0bb9deac89ff80','{"country": "AT", "domain": "sbs", "instead_of": null, "period": "2024"}','b0bbaaef4c9477f079543c7fc36358321ec95179adec60c19c9376658323c0ec','4fee0a1d84048fe527db452465b0106af294fd4ef343ec65b3c77c0e93b9d9ca');
INSERT INTO "log" VALUES(7,'2026-01-05 15:00:00.000000','tester','file','accept','9dc4703e6f36e40d4fe83cf1ca19885b947d417c6448aedd0b399ea9c309b948','{"country": "AT", "domain": "sbs", "instead_of": "b2e59a6fbb87336351c7a2a4311617f37b7f2e8051e883c06c0bb9deac89ff80", "period": "2024"}','4fee0a1d84048fe527db452465b0106af294fd4ef343ec65b3c77c0e93b9d9ca','6a588f1393fcdd24d84257b6e683a98d366b1bfc2746a40958786270fff09408');
INSERT INTO "log" VALUES(8,'2026-01-05 16:00:00.000000','tester','file','accept','a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e','{"country": "BE", "domain": "sbs", "instead_of": null, "period": "2024"}','6a588f1393fcdd24d84257b6e683a98d366b1bfc2746a40958786270fff09408','34442bf83fcdb031e5a33201d3af2b4d097108f5042e92f312ff756c81945006');
INSERT INTO "log" VALUES(9,'2026-01-05 17:00:00.000000','tester','file','refuse','e28c99d3d4be00460677489bfa4e686cb9345bf33b1ac9c63eb483c3689f67fb','{"country": null, "domain": "sbs", "period": "2024"}','34442bf83fcdb031e5a33201d3af2b4d097108f5042e92f312ff756c81945006','a1df936374b516f06d9246072fcf5bc94e998b8a9c5f332742505208191ff31f');
INSERT INTO "log" VALUES(10,'2026-01-05 18:00:00.000000','анна b','file','submit','r1','{"embargo": null, "environment": "95aa2ab9c89304e18a8155140ca9982b3b03b45b6db768bd89986090f7753dce", "terms": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}','a1df936374b516f06d9246072fcf5bc94e998b8a9c5f332742505208191ff31f','25e1e9b8b5299589158b2c6836acff3d3a28875b6b32cb785abda715810ebed7');
INSERT INTO "log" VALUES(11,'2026-01-05 19:00:00.000000','tester','file','audit','r1','{"audit": "b418c1b6278d90a15c883bd323b3bed8ecd7172f98ac3e253950116e59888aac", "passed": false, "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896"}','25e1e9b8b5299589158b2c6836acff3d3a28875b6b32cb785abda715810ebed7','9c1959b0b98d1f4e17aac6e2308f5de202672819dfaaba58aa5340d47777953e');
INSERT INTO "log" VALUES(12,'2026-01-05 20:00:00.000000','tester','file','audit','r1','{"audit": "389fe38694fec0a238f84f75040dde09d88cffaefd62a5e77566b3ebdb556424", "passed": true, "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896"}','9c1959b0b98d1f4e17aac6e2308f5de202672819dfaaba58aa5340d47777953e','7efd2962ad72bf68c49b7a2c2b388684c6559c7f41d036a80dbc229601f62a42');
INSERT INTO "log" VALUES(13,'2026-01-05 21:00:00.000000','bert','file','approve','r1','{"audit": "389fe38694fec0a238f84f75040dde09d88cffaefd62a5e77566b3ebdb556424", "note": "read", "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896"}','7efd2962ad72bf68c49b7a2c2b388684c6559c7f41d036a80dbc229601f62a42','dae31f876adfdb6f16dbf117e6cfa4b135f0821963fa5cad2f98a5e30fc0daf8');
INSERT INTO "log" VALUES(14,'2026-01-05 22:00:00.000000','tester','file','release','r1','{"audit": "389fe38694fec0a238f84f75040dde09d88cffaefd62a5e77566b3ebdb556424", "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896", "version": 1}','dae31f876adfdb6f16dbf117e6cfa4b135f0821963fa5cad2f98a5e30fc0daf8','d667ad12fe920f7acad376e026d2d48c2b41308ec4d8add2e22e5690181fca04');
INSERT INTO "log" VALUES(15,'2026-01-05 23:00:00.000000','анна b','file','submit','r2','{"embargo": null, "environment": "95aa2ab9c89304e18a8155140ca9982b3b03b45b6db768bd89986090f7753dce", "terms": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}','d667ad12fe920f7acad376e026d2d48c2b41308ec4d8add2e22e5690181fca04','b892484929176c3e8651984e4892769362f328e56d37921cd1db7095ed43049f');
INSERT INTO "log" VALUES(16,'2026-01-06 00:00:00.000000','tester','file','audit','r2','{"audit": "76a80a65a03932b80a009237e589d06d799e69f1286aa32d93d7e63e79f3a6d5", "passed": false, "publication": "ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e"}','b892484929176c3e8651984e4892769362f328e56d37921cd1db7095ed43049f','14e466cfa222b9cd8b56ebc1fdbd1011e87b7bd745d6022ea39d6ffebcce5b8b');
INSERT INTO "log" VALUES(17,'2026-01-06 01:00:00.000000','tester','file','audit','r2','{"audit": "01ceeb233fc451e822557762b413f37974de4319cb96631fd4b8112737c0422d", "passed": true, "publication": "ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e"}','14e466cfa222b9cd8b56ebc1fdbd1011e87b7bd745d6022ea39d6ffebcce5b8b','09b09e07897203971a04eba099ee3010d845384dd689ce7ad8f951ae6c0d58a5');
INSERT INTO "log" VALUES(18,'2026-01-06 02:00:00.000000','tester','file','release','r2','{"audit": "01ceeb233fc451e822557762b413f37974de4319cb96631fd4b8112737c0422d", "publication": "ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e", "version": 2}','09b09e07897203971a04eba099ee3010d845384dd689ce7ad8f951ae6c0d58a5','97ad044111d8bbef12095288e4e3d6e30f371cfdd52c7ae41378e9ccd338b989');
INSERT INTO "log" VALUES(19,'2026-01-06 03:00:00.000000','bert','file','retract','r2','{"reason": "a wrong delivery"}','97ad044111d8bbef12095288e4e3d6e30f371cfdd52c7ae41378e9ccd338b989','a025e235c39232c8f7ca31854c40b79bddd4e94700b56d24254032d70c43f509');
INSERT INTO "log" VALUES(20,'2026-01-06 04:00:00.000000','анна b','file','submit','r3','{"embargo": "2999-01-01T00:00:00+00:00", "environment": "95aa2ab9c89304e18a8155140ca9982b3b03b45b6db768bd89986090f7753dce", "terms": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}','a025e235c39232c8f7ca31854c40b79bddd4e94700b56d24254032d70c43f509','b30bb19968ffb9069ba181447a92cc2a33af77a6d34b2354967c9b5f5c2e80be');
INSERT INTO "log" VALUES(21,'2026-01-06 05:00:00.000000','tester','file','audit','r3','{"audit": "6419695dfc859cfc30e95839ff74b4bc7ed801bdc78c84f7907cf29529492cdd", "passed": false, "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c"}','b30bb19968ffb9069ba181447a92cc2a33af77a6d34b2354967c9b5f5c2e80be','1457a1f5225c30e89487a6d860ec7c54261d62b592d68c7db97b59519752dbc6');
INSERT INTO "log" VALUES(22,'2026-01-06 06:00:00.000000','tester','file','audit','r3','{"audit": "cfbeb94893f6b7471a43f62c46f2136c1c4b077d3b223470c48a3e866d3eccdc", "passed": true, "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c"}','1457a1f5225c30e89487a6d860ec7c54261d62b592d68c7db97b59519752dbc6','f5af9f1ab3f43a71bfea0c9ce21cf882a1ca153a20cebc56e6014a2cd5f2a2f2');
INSERT INTO "log" VALUES(23,'2026-01-06 07:00:00.000000','tester','file','release','r3','{"audit": "cfbeb94893f6b7471a43f62c46f2136c1c4b077d3b223470c48a3e866d3eccdc", "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c", "version": 1}','f5af9f1ab3f43a71bfea0c9ce21cf882a1ca153a20cebc56e6014a2cd5f2a2f2','ddf5e3454a9832f35a4e19eac3328dc49791d8b55423bb58725221438b8bcf3d');
INSERT INTO "log" VALUES(24,'2026-01-06 08:00:00.000000','анна b','file','submit','r4','{"embargo": null, "environment": "95aa2ab9c89304e18a8155140ca9982b3b03b45b6db768bd89986090f7753dce", "terms": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}','ddf5e3454a9832f35a4e19eac3328dc49791d8b55423bb58725221438b8bcf3d','757b344815de2771d3594364f93e5d7f1e25c5be0a7ba8a9b85a529d8c50ba69');
INSERT INTO "log" VALUES(25,'2026-01-06 09:00:00.000000','tester','file','audit','r4','{"audit": "a978fbf15577b008f1290d4b330263d8e9303def4ee8950fd9aad3a5cf5e6965", "passed": false, "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c"}','757b344815de2771d3594364f93e5d7f1e25c5be0a7ba8a9b85a529d8c50ba69','3103391b6142ca6d03d0fe9bbc82621acfcf20d845a5e1a365f3fdfa941dde13');
INSERT INTO "log" VALUES(26,'2026-01-06 10:00:00.000000','tester','file','audit','r4','{"audit": "12b31b49a78274fd79887f3d08ee30c1d8c8fcc9e640dcf335a06296f3b41ba3", "passed": true, "publication": "7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c"}','3103391b6142ca6d03d0fe9bbc82621acfcf20d845a5e1a365f3fdfa941dde13','260d536b47028bfd3d8cebf343adb2a8b9ebc7f4b17f2094e59e7d00b6e08ec3');
INSERT INTO "log" VALUES(27,'2026-11-29 19:26:48.956786','tester','file','make','confidential.secret','{"fingerprint": "9e6d45715c4927d3cefff6569410ce423961c332f76474a6906702f0809f21e4", "kept": true, "key": "270c65743328f881"}','260d536b47028bfd3d8cebf343adb2a8b9ebc7f4b17f2094e59e7d00b6e08ec3','d350a062bef35f8b12548140cc27744e10a601b0408e3a9d624f448cd045e398');
INSERT INTO "log" VALUES(28,'2026-11-29 19:26:48.990408','anna','file','agree','r1','{"reason": "a wrong delivery"}','d350a062bef35f8b12548140cc27744e10a601b0408e3a9d624f448cd045e398','5661fc3261aeacfeb5f3390854132c11a836fc3cae4abc350d75fdc9733de02b');
INSERT INTO "log" VALUES(29,'2026-11-29 19:26:49.011374','tester','file','submit','r5','{"asks": "8eb9626c3600c22387d60bb8f3236aaa9d48575b8774c4971d5d9ace6e7aca27", "embargo": null, "environment": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", "inputs": null, "terms": "tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt"}','5661fc3261aeacfeb5f3390854132c11a836fc3cae4abc350d75fdc9733de02b','7d630c49421bbf1c3e72e5d38cb2e08dbe12b1310f8b56eb6e911e9f916c004c');
INSERT INTO "log" VALUES(30,'2026-11-29 19:26:49.021657','tester','file','audit','r5','{"audit": "95d888b23749e57f141e301a5a0b2f98d8c0a6bfc424b6ee755ac8c6c75502e3", "lps": 4, "passed": true, "printed": "fd1de99bc8ff83775664825cca60181e05fa4e292cf4e2d1bbcca6ac4c1bc617", "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896"}','7d630c49421bbf1c3e72e5d38cb2e08dbe12b1310f8b56eb6e911e9f916c004c','3ff5c854b422502e86f8d04de3a5e21754dac4f0660eda7951bdcbf0ec69e0c0');
INSERT INTO "log" VALUES(31,'2026-11-29 19:26:49.029149','anna','file','approve','r5','{"audit": "95d888b23749e57f141e301a5a0b2f98d8c0a6bfc424b6ee755ac8c6c75502e3", "by": "account root on this machine", "note": "", "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896"}','3ff5c854b422502e86f8d04de3a5e21754dac4f0660eda7951bdcbf0ec69e0c0','d2634afa548a6c9af4259533d2724bdec32dfe1d419e4dbce72dbeb34e7dd3c5');
INSERT INTO "log" VALUES(32,'2026-11-29 19:26:49.044110','tester','file','release','r5','{"audit": "95d888b23749e57f141e301a5a0b2f98d8c0a6bfc424b6ee755ac8c6c75502e3", "publication": "c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896", "version": 1}','d2634afa548a6c9af4259533d2724bdec32dfe1d419e4dbce72dbeb34e7dd3c5','6aaca93db3cca9063e83e46c46b931f413ea0affc7f2091b30b623cc8ac95266');
CREATE TABLE payload (
	digest TEXT NOT NULL, 
	content BLOB NOT NULL, key_id TEXT, 
	CONSTRAINT pk_payload PRIMARY KEY (digest), 
	CONSTRAINT fk_payload_artefact FOREIGN KEY(digest) REFERENCES artefact (digest)
);
INSERT INTO "payload" VALUES('b2e59a6fbb87336351c7a2a4311617f37b7f2e8051e883c06c0bb9deac89ff80',X'54BC2CA81D877BF812E6884E408E9A32DC9AB3FACA5D860F66E3D5743F307C06D6D1','270c65743328f881');
INSERT INTO "payload" VALUES('9dc4703e6f36e40d4fe83cf1ca19885b947d417c6448aedd0b399ea9c309b948',X'D4F4C7DA1E5B982E4903EC5A83F4D1346D08DBF8ECDD30862009FE418CE8B36FB0436FF8C44C4C71D7DA67AA','270c65743328f881');
INSERT INTO "payload" VALUES('a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e',X'5E7CDCC04D32C25E52E1AB710AA29D028C8BC620463E0CDA1A4E493DAE35B7E18CD997E0AF','270c65743328f881');
INSERT INTO "payload" VALUES('e28c99d3d4be00460677489bfa4e686cb9345bf33b1ac9c63eb483c3689f67fb',X'6F64642E637376',NULL);
CREATE TABLE profile (
	name TEXT NOT NULL, 
	CONSTRAINT pk_profile PRIMARY KEY (name)
);
INSERT INTO "profile" VALUES('external');
INSERT INTO "profile" VALUES('internal');
INSERT INTO "profile" VALUES('coalition');
INSERT INTO "profile" VALUES('vintage');
INSERT INTO "profile" VALUES('revision');
CREATE TABLE publication (
	domain TEXT NOT NULL, 
	period TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	cells INTEGER NOT NULL, 
	CONSTRAINT pk_publication PRIMARY KEY (domain, period, digest)
);
INSERT INTO "publication" VALUES('sbs','2024','c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896',3);
INSERT INTO "publication" VALUES('sbs','2024','ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e',3);
INSERT INTO "publication" VALUES('sbs','2025','7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c',3);
INSERT INTO "publication" VALUES('sbs','2023','c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896',3);
CREATE TABLE release (
	release_id TEXT NOT NULL, 
	domain TEXT NOT NULL, 
	period TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	publication_digest TEXT NOT NULL, 
	audit_digest TEXT NOT NULL, 
	audit_passed BOOLEAN NOT NULL, 
	released_at DATETIME NOT NULL, embargo DATETIME, 
	CONSTRAINT pk_release PRIMARY KEY (release_id), 
	CONSTRAINT uq_release_domain_period_version UNIQUE (domain, period, version), 
	CONSTRAINT ck_release_audit_passed CHECK (audit_passed), 
	CONSTRAINT ck_release_version CHECK (version >= 1), 
	CONSTRAINT fk_release_run FOREIGN KEY(release_id, domain, period) REFERENCES run (release_id, domain, period), 
	CONSTRAINT fk_release_audit FOREIGN KEY(release_id, audit_digest, publication_digest, audit_passed) REFERENCES audit (release_id, digest, publication_digest, passed), 
	CONSTRAINT fk_release_publication FOREIGN KEY(domain, period, publication_digest) REFERENCES publication (domain, period, digest)
);
INSERT INTO "release" VALUES('r1','sbs','2024',1,'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896','389fe38694fec0a238f84f75040dde09d88cffaefd62a5e77566b3ebdb556424',1,'2026-01-05 09:00:00.000000',NULL);
INSERT INTO "release" VALUES('r2','sbs','2024',2,'ed5b52e2b7fcf0034909d6e0fd7c5b6720c7265800889173c4c852d7118c4b0e','01ceeb233fc451e822557762b413f37974de4319cb96631fd4b8112737c0422d',1,'2026-01-05 09:00:00.000000',NULL);
INSERT INTO "release" VALUES('r3','sbs','2025',1,'7d673d9fbe8b3120b1f4dd41079ad8640fda24b391ed5aab4ac41603536d501c','cfbeb94893f6b7471a43f62c46f2136c1c4b077d3b223470c48a3e866d3eccdc',1,'2026-01-05 09:00:00.000000','2999-01-01 00:00:00.000000');
INSERT INTO "release" VALUES('r5','sbs','2023',1,'c5c3ed582c4ecfcff4f6f88eaa46e927967c42851b6492fbcb03470d36e55896','95d888b23749e57f141e301a5a0b2f98d8c0a6bfc424b6ee755ac8c6c75502e3',1,'2026-11-29 19:26:49.035181',NULL);
CREATE TABLE retraction (
	release_id TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	retracted_by TEXT NOT NULL, 
	retracted_at DATETIME NOT NULL, 
	CONSTRAINT pk_retraction PRIMARY KEY (release_id), 
	CONSTRAINT fk_retraction_release FOREIGN KEY(release_id) REFERENCES release (release_id), 
	CONSTRAINT ck_retraction_retracted_by CHECK (retracted_by = lower(trim(retracted_by)) AND retracted_by <> ''), 
	CONSTRAINT ck_retraction_reason CHECK (length(trim(reason)) > 0)
);
INSERT INTO "retraction" VALUES('r2','a wrong delivery','bert','2026-01-05 09:00:00.000000');
CREATE TABLE run (
	release_id TEXT NOT NULL, 
	domain TEXT NOT NULL, 
	period TEXT NOT NULL, 
	inputs_digest TEXT, 
	state TEXT NOT NULL, 
	started_at DATETIME NOT NULL, 
	finished_at DATETIME, 
	CONSTRAINT pk_run PRIMARY KEY (release_id), 
	CONSTRAINT uq_run_release_id_domain_period UNIQUE (release_id, domain, period), 
	CONSTRAINT ck_run_state CHECK (state IN ('running', 'published', 'blocked', 'waiting', 'failed'))
);
INSERT INTO "run" VALUES('r1','sbs','2024','iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii','published','2026-01-05 09:00:00.000000','2026-01-05 09:00:00.000000');
INSERT INTO "run" VALUES('r2','sbs','2024','iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii','published','2026-01-05 09:00:00.000000','2026-01-05 09:00:00.000000');
INSERT INTO "run" VALUES('r3','sbs','2025','iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii','published','2026-01-05 09:00:00.000000','2026-01-05 09:00:00.000000');
INSERT INTO "run" VALUES('r4','sbs','2026','iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii','published','2026-01-05 09:00:00.000000','2026-01-05 09:00:00.000000');
INSERT INTO "run" VALUES('r5','sbs','2023',NULL,'running','2026-11-29 19:26:48.997873',NULL);
CREATE TABLE rung (
	release_id TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	method TEXT NOT NULL, 
	outcome TEXT NOT NULL, 
	objective FLOAT, 
	bound FLOAT, 
	gap FLOAT, 
	seconds FLOAT NOT NULL, 
	reason TEXT NOT NULL, 
	unprotected INTEGER NOT NULL, 
	accepted BOOLEAN NOT NULL, 
	chosen BOOLEAN NOT NULL, 
	CONSTRAINT pk_rung PRIMARY KEY (release_id, position), 
	CONSTRAINT fk_rung_run FOREIGN KEY(release_id) REFERENCES run (release_id)
);
INSERT INTO "rung" VALUES('r1',0,'auto','optimal',1.0,1.0,0.0,2.0,'proven, at its time limit',0,1,1);
INSERT INTO "rung" VALUES('r2',0,'auto','optimal',1.0,1.0,0.0,2.0,'proven, at its time limit',0,1,1);
INSERT INTO "rung" VALUES('r3',0,'auto','optimal',1.0,1.0,0.0,2.0,'proven, at its time limit',0,1,1);
INSERT INTO "rung" VALUES('r4',0,'auto','optimal',1.0,1.0,0.0,2.0,'proven, at its time limit',0,1,1);
CREATE TABLE sdc_warehouse_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT sdc_warehouse_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "sdc_warehouse_version" VALUES('0023');
CREATE TABLE secret (
	number INTEGER NOT NULL, 
	content BLOB NOT NULL, 
	key_id TEXT NOT NULL, fingerprint TEXT, kept BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_secret PRIMARY KEY (number), 
	CONSTRAINT ck_secret_number CHECK (number = 1)
);
INSERT INTO "secret" VALUES(1,X'74528479C5253B0F9FAB107C7AB54C6E46E12D1706E4EBE6F6136380F9D6B5D2FE139381B8DCF64CC267B3AC610A2B6383DCAA07C51C86B5C5F22025','270c65743328f881','9e6d45715c4927d3cefff6569410ce423961c332f76474a6906702f0809f21e4',1);
CREATE TABLE step (
	release_id TEXT NOT NULL, 
	step TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	seconds FLOAT NOT NULL, 
	note TEXT NOT NULL, 
	artefact_digest TEXT, 
	finished_at DATETIME NOT NULL, 
	CONSTRAINT pk_step PRIMARY KEY (release_id, step, "key"), 
	CONSTRAINT fk_step_run FOREIGN KEY(release_id) REFERENCES run (release_id), 
	CONSTRAINT fk_step_artefact FOREIGN KEY(artefact_digest) REFERENCES artefact (digest)
);
INSERT INTO "step" VALUES('r1','assemble','',0.5,'','a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e','2026-01-05 09:00:00.000000');
INSERT INTO "step" VALUES('r2','assemble','',0.5,'','a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e','2026-01-05 09:00:00.000000');
INSERT INTO "step" VALUES('r3','assemble','',0.5,'','a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e','2026-01-05 09:00:00.000000');
INSERT INTO "step" VALUES('r4','assemble','',0.5,'','a275cdb52c7d05e1a561102b486fbecb84083b267ed179980ec8ed286b76ba2e','2026-01-05 09:00:00.000000');
CREATE TABLE submission (
	release_id TEXT NOT NULL, 
	domain TEXT NOT NULL, 
	period TEXT NOT NULL, 
	terms_digest TEXT NOT NULL, 
	submitter TEXT NOT NULL, 
	embargo DATETIME, 
	environment TEXT NOT NULL, 
	submitted_at DATETIME NOT NULL, 
	CONSTRAINT pk_submission PRIMARY KEY (release_id), 
	CONSTRAINT uq_submission_release_id_submitter UNIQUE (release_id, submitter), 
	CONSTRAINT fk_submission_run FOREIGN KEY(release_id, domain, period) REFERENCES run (release_id, domain, period), 
	CONSTRAINT fk_submission_terms FOREIGN KEY(domain, terms_digest) REFERENCES terms (domain, digest), 
	CONSTRAINT ck_submission_submitter CHECK (submitter = lower(trim(submitter)) AND submitter <> '')
);
INSERT INTO "submission" VALUES('r1','sbs','2024','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','анна b',NULL,'{"python": "3.11"}','2026-01-05 09:00:00.000000');
INSERT INTO "submission" VALUES('r2','sbs','2024','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','анна b',NULL,'{"python": "3.11"}','2026-01-05 09:00:00.000000');
INSERT INTO "submission" VALUES('r3','sbs','2025','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','анна b','2999-01-01 00:00:00.000000','{"python": "3.11"}','2026-01-05 09:00:00.000000');
INSERT INTO "submission" VALUES('r4','sbs','2026','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','анна b',NULL,'{"python": "3.11"}','2026-01-05 09:00:00.000000');
INSERT INTO "submission" VALUES('r5','sbs','2023','tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt','tester',NULL,'{}','2026-11-29 19:26:49.010345');
CREATE TABLE task_run (
	dag_id TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	task_id TEXT NOT NULL, 
	map_index INTEGER NOT NULL, 
	label TEXT NOT NULL, 
	state TEXT NOT NULL, 
	tries INTEGER NOT NULL, 
	seconds FLOAT, 
	said TEXT NOT NULL, 
	finished_at DATETIME, 
	CONSTRAINT pk_task_run PRIMARY KEY (dag_id, run_id, task_id, map_index)
);
INSERT INTO "task_run" VALUES('eu_release_sbs','manual','ingest',0,'AT','success',1,0.5,'3 files','2026-01-05 09:00:00.000000');
CREATE TABLE terms (
	domain TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	profiles TEXT NOT NULL, 
	approvals INTEGER NOT NULL, 
	retention_days INTEGER, 
	settings TEXT NOT NULL, 
	registered_at DATETIME NOT NULL, 
	CONSTRAINT pk_terms PRIMARY KEY (domain, digest), 
	CONSTRAINT ck_terms_approvals CHECK (approvals >= 0), 
	CONSTRAINT ck_terms_retention_days CHECK (retention_days >= 0)
);
INSERT INTO "terms" VALUES('sbs','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','external',1,90000,'{"id": "sbs"}','2026-01-05 09:00:00.000000');
INSERT INTO "terms" VALUES('sbs','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','external',0,90000,'{"id": "sbs"}','2026-01-05 09:00:00.000000');
INSERT INTO "terms" VALUES('sbs','tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt','external',0,NULL,'{}','2026-11-29 19:26:49.008188');
CREATE TABLE unread (
	domain TEXT NOT NULL, 
	period TEXT NOT NULL, 
	file TEXT NOT NULL, 
	why TEXT NOT NULL, 
	CONSTRAINT pk_unread PRIMARY KEY (domain, period, file)
);
INSERT INTO "unread" VALUES('sbs','2024','notes.docx','no table');
CREATE TABLE withdrawal (
	release_id TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	agreed_by TEXT NOT NULL, 
	agreed_at DATETIME NOT NULL, 
	account TEXT NOT NULL, 
	CONSTRAINT pk_withdrawal PRIMARY KEY (release_id, reason, agreed_by), 
	CONSTRAINT fk_withdrawal_release FOREIGN KEY(release_id) REFERENCES release (release_id), 
	CONSTRAINT ck_withdrawal_reason CHECK (length(trim(reason)) > 0 AND length(reason) <= 400), 
	CONSTRAINT ck_withdrawal_agreed_by CHECK (agreed_by = lower(trim(agreed_by)) AND agreed_by <> '')
);
INSERT INTO "withdrawal" VALUES('r1','a wrong delivery','anna','2026-11-29 19:26:48.980887','file');
CREATE TRIGGER release_update BEFORE UPDATE ON release BEGIN SELECT raise(ABORT, 'release is append-only'); END;
CREATE TRIGGER release_delete BEFORE DELETE ON release BEGIN SELECT raise(ABORT, 'release is append-only'); END;
CREATE TRIGGER publication_update BEFORE UPDATE ON publication BEGIN SELECT raise(ABORT, 'publication is append-only'); END;
CREATE TRIGGER publication_delete BEFORE DELETE ON publication BEGIN SELECT raise(ABORT, 'publication is append-only'); END;
CREATE TRIGGER eu_cell_update BEFORE UPDATE ON eu_cell BEGIN SELECT raise(ABORT, 'eu_cell is append-only'); END;
CREATE TRIGGER eu_cell_delete BEFORE DELETE ON eu_cell BEGIN SELECT raise(ABORT, 'eu_cell is append-only'); END;
CREATE TRIGGER audit_update BEFORE UPDATE ON audit BEGIN SELECT raise(ABORT, 'audit is append-only'); END;
CREATE TRIGGER audit_delete BEFORE DELETE ON audit BEGIN SELECT raise(ABORT, 'audit is append-only'); END;
CREATE TRIGGER release_gate BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: no passed audit of this publication')
    WHERE NOT EXISTS (
        SELECT 1 FROM audit
        WHERE release_id = NEW.release_id AND digest = NEW.audit_digest AND publication_digest = NEW.publication_digest AND passed
    );
    SELECT raise(ABORT, 'release refused: the publication is not complete')
    WHERE (
        SELECT count(*) FROM eu_cell
        WHERE domain = NEW.domain AND period = NEW.period AND publication_digest = NEW.publication_digest
    ) IS NOT (
        SELECT cells FROM publication WHERE domain = NEW.domain AND period = NEW.period AND digest = NEW.publication_digest
    );
    SELECT raise(ABORT, 'release refused: not the next version')
    WHERE NEW.version <> (SELECT coalesce(max(version), 0) + 1 FROM release WHERE domain = NEW.domain AND period = NEW.period);
    SELECT raise(ABORT, 'release refused: this publication is the current version already')
    FROM release r
    WHERE r.domain = NEW.domain AND r.period = NEW.period AND r.version = NEW.version - 1
        AND r.publication_digest = NEW.publication_digest
        AND NOT EXISTS (SELECT 1 FROM retraction t WHERE t.release_id = r.release_id);
    SELECT raise(ABORT, 'release refused: the run was not submitted under any terms')
    WHERE NOT EXISTS (
        SELECT 1 FROM submission s JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        WHERE s.release_id = NEW.release_id
    );
    SELECT raise(ABORT, 'release refused: a profile that the terms ask for was not audited')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    JOIN json_each('["' || replace(t.profiles, ',', '","') || '"]') AS asked
    WHERE s.release_id = NEW.release_id AND NOT EXISTS (
        SELECT 1 FROM audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
            AND instr(',' || a.profiles || ',', ',' || asked.value || ',') > 0
    );
    SELECT raise(ABORT, 'release refused: approvals are missing')
    FROM submission s JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    WHERE s.release_id = NEW.release_id AND t.approvals > (
        SELECT count(*) FROM approval a
        WHERE a.release_id = NEW.release_id AND a.audit_digest = NEW.audit_digest AND a.publication_digest = NEW.publication_digest
            AND a.approver <> s.submitter
    );
    SELECT raise(ABORT, 'release refused: not the embargo under which it was submitted')
    FROM submission s
    WHERE s.release_id = NEW.release_id AND s.embargo IS NOT NEW.embargo;
END;
CREATE TRIGGER payload_gate BEFORE DELETE ON payload
WHEN NOT EXISTS (SELECT 1 FROM artefact WHERE digest = OLD.digest AND purged_at IS NOT NULL) BEGIN
    SELECT raise(ABORT, 'payload refused: it is not marked as purged');
END;
CREATE TRIGGER log_gate BEFORE INSERT ON log
WHEN NEW.number <> coalesce((SELECT max(number) FROM log), 0) + 1
    OR NEW.previous <> coalesce((SELECT digest FROM log ORDER BY number DESC LIMIT 1), '') BEGIN
    SELECT raise(ABORT, 'log refused: not the next entry');
END;
CREATE TRIGGER log_update BEFORE UPDATE ON log BEGIN SELECT raise(ABORT, 'log is append-only'); END;
CREATE TRIGGER log_delete BEFORE DELETE ON log BEGIN SELECT raise(ABORT, 'log is append-only'); END;
CREATE TRIGGER terms_update BEFORE UPDATE ON terms BEGIN SELECT raise(ABORT, 'terms is append-only'); END;
CREATE TRIGGER terms_delete BEFORE DELETE ON terms BEGIN SELECT raise(ABORT, 'terms is append-only'); END;
CREATE TRIGGER submission_update BEFORE UPDATE ON submission BEGIN SELECT raise(ABORT, 'submission is append-only'); END;
CREATE TRIGGER submission_delete BEFORE DELETE ON submission BEGIN SELECT raise(ABORT, 'submission is append-only'); END;
CREATE TRIGGER approval_update BEFORE UPDATE ON approval BEGIN SELECT raise(ABORT, 'approval is append-only'); END;
CREATE TRIGGER approval_delete BEFORE DELETE ON approval BEGIN SELECT raise(ABORT, 'approval is append-only'); END;
CREATE TRIGGER retraction_update BEFORE UPDATE ON retraction BEGIN SELECT raise(ABORT, 'retraction is append-only'); END;
CREATE TRIGGER retraction_delete BEFORE DELETE ON retraction BEGIN SELECT raise(ABORT, 'retraction is append-only'); END;
CREATE VIEW public_release AS
SELECT r.release_id, r.domain, r.period, r.version, r.publication_digest, r.released_at, r.embargo, t.reason AS retracted
FROM release r
LEFT JOIN retraction t ON t.release_id = r.release_id
WHERE r.embargo IS NULL OR r.embargo <= CURRENT_TIMESTAMP;
CREATE VIEW public_cell AS
SELECT r.domain, r.period, r.version, c.position, c.cell, c.area, c.indicator, c.value, c.obs_status, c.conf_status, c.rounding_base,
    c.visible_share
FROM public_release r
JOIN eu_cell c ON c.domain = r.domain AND c.period = r.period AND c.publication_digest = r.publication_digest
WHERE r.retracted IS NULL;
CREATE INDEX ix_dag_run_domain_period ON dag_run (domain, period);
CREATE TRIGGER alert_update BEFORE UPDATE ON alert BEGIN SELECT raise(ABORT, 'alert is append-only'); END;
CREATE TRIGGER alert_delete BEFORE DELETE ON alert BEGIN SELECT raise(ABORT, 'alert is append-only'); END;
CREATE TRIGGER artefact_instants_insert BEFORE INSERT ON artefact WHEN (NEW.stored_at IS NOT NULL AND (NEW.stored_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.stored_at) IS NULL OR NEW.stored_at < '1970' OR NEW.stored_at >= '3000')) OR (NEW.purged_at IS NOT NULL AND (NEW.purged_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.purged_at) IS NULL OR NEW.purged_at < '1970' OR NEW.purged_at >= '3000')) BEGIN SELECT raise(ABORT, 'artefact refused: an instant out of bounds'); END;
CREATE TRIGGER artefact_instants_update BEFORE UPDATE ON artefact WHEN (NEW.stored_at IS NOT NULL AND (NEW.stored_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.stored_at) IS NULL OR NEW.stored_at < '1970' OR NEW.stored_at >= '3000')) OR (NEW.purged_at IS NOT NULL AND (NEW.purged_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.purged_at) IS NULL OR NEW.purged_at < '1970' OR NEW.purged_at >= '3000')) BEGIN SELECT raise(ABORT, 'artefact refused: an instant out of bounds'); END;
CREATE TRIGGER delivery_instants_insert BEFORE INSERT ON delivery WHEN (NEW.received_at IS NOT NULL AND (NEW.received_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.received_at) IS NULL OR NEW.received_at < '1970' OR NEW.received_at >= '3000')) BEGIN SELECT raise(ABORT, 'delivery refused: an instant out of bounds'); END;
CREATE TRIGGER delivery_instants_update BEFORE UPDATE ON delivery WHEN (NEW.received_at IS NOT NULL AND (NEW.received_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.received_at) IS NULL OR NEW.received_at < '1970' OR NEW.received_at >= '3000')) BEGIN SELECT raise(ABORT, 'delivery refused: an instant out of bounds'); END;
CREATE TRIGGER run_instants_insert BEFORE INSERT ON run WHEN (NEW.started_at IS NOT NULL AND (NEW.started_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.started_at) IS NULL OR NEW.started_at < '1970' OR NEW.started_at >= '3000')) OR (NEW.finished_at IS NOT NULL AND (NEW.finished_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.finished_at) IS NULL OR NEW.finished_at < '1970' OR NEW.finished_at >= '3000')) BEGIN SELECT raise(ABORT, 'run refused: an instant out of bounds'); END;
CREATE TRIGGER run_instants_update BEFORE UPDATE ON run WHEN (NEW.started_at IS NOT NULL AND (NEW.started_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.started_at) IS NULL OR NEW.started_at < '1970' OR NEW.started_at >= '3000')) OR (NEW.finished_at IS NOT NULL AND (NEW.finished_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.finished_at) IS NULL OR NEW.finished_at < '1970' OR NEW.finished_at >= '3000')) BEGIN SELECT raise(ABORT, 'run refused: an instant out of bounds'); END;
CREATE TRIGGER step_instants_insert BEFORE INSERT ON step WHEN (NEW.finished_at IS NOT NULL AND (NEW.finished_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.finished_at) IS NULL OR NEW.finished_at < '1970' OR NEW.finished_at >= '3000')) BEGIN SELECT raise(ABORT, 'step refused: an instant out of bounds'); END;
CREATE TRIGGER step_instants_update BEFORE UPDATE ON step WHEN (NEW.finished_at IS NOT NULL AND (NEW.finished_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.finished_at) IS NULL OR NEW.finished_at < '1970' OR NEW.finished_at >= '3000')) BEGIN SELECT raise(ABORT, 'step refused: an instant out of bounds'); END;
CREATE TRIGGER audit_instants_insert BEFORE INSERT ON audit WHEN (NEW.audited_at IS NOT NULL AND (NEW.audited_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.audited_at) IS NULL OR NEW.audited_at < '1970' OR NEW.audited_at >= '3000')) BEGIN SELECT raise(ABORT, 'audit refused: an instant out of bounds'); END;
CREATE TRIGGER audit_instants_update BEFORE UPDATE ON audit WHEN (NEW.audited_at IS NOT NULL AND (NEW.audited_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.audited_at) IS NULL OR NEW.audited_at < '1970' OR NEW.audited_at >= '3000')) BEGIN SELECT raise(ABORT, 'audit refused: an instant out of bounds'); END;
CREATE TRIGGER terms_instants_insert BEFORE INSERT ON terms WHEN (NEW.registered_at IS NOT NULL AND (NEW.registered_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.registered_at) IS NULL OR NEW.registered_at < '1970' OR NEW.registered_at >= '3000')) BEGIN SELECT raise(ABORT, 'terms refused: an instant out of bounds'); END;
CREATE TRIGGER terms_instants_update BEFORE UPDATE ON terms WHEN (NEW.registered_at IS NOT NULL AND (NEW.registered_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.registered_at) IS NULL OR NEW.registered_at < '1970' OR NEW.registered_at >= '3000')) BEGIN SELECT raise(ABORT, 'terms refused: an instant out of bounds'); END;
CREATE TRIGGER submission_instants_insert BEFORE INSERT ON submission WHEN (NEW.embargo IS NOT NULL AND (NEW.embargo NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.embargo) IS NULL OR NEW.embargo < '1970' OR NEW.embargo >= '3000')) OR (NEW.submitted_at IS NOT NULL AND (NEW.submitted_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.submitted_at) IS NULL OR NEW.submitted_at < '1970' OR NEW.submitted_at >= '3000')) BEGIN SELECT raise(ABORT, 'submission refused: an instant out of bounds'); END;
CREATE TRIGGER submission_instants_update BEFORE UPDATE ON submission WHEN (NEW.embargo IS NOT NULL AND (NEW.embargo NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.embargo) IS NULL OR NEW.embargo < '1970' OR NEW.embargo >= '3000')) OR (NEW.submitted_at IS NOT NULL AND (NEW.submitted_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.submitted_at) IS NULL OR NEW.submitted_at < '1970' OR NEW.submitted_at >= '3000')) BEGIN SELECT raise(ABORT, 'submission refused: an instant out of bounds'); END;
CREATE TRIGGER approval_instants_insert BEFORE INSERT ON approval WHEN (NEW.approved_at IS NOT NULL AND (NEW.approved_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.approved_at) IS NULL OR NEW.approved_at < '1970' OR NEW.approved_at >= '3000')) BEGIN SELECT raise(ABORT, 'approval refused: an instant out of bounds'); END;
CREATE TRIGGER approval_instants_update BEFORE UPDATE ON approval WHEN (NEW.approved_at IS NOT NULL AND (NEW.approved_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.approved_at) IS NULL OR NEW.approved_at < '1970' OR NEW.approved_at >= '3000')) BEGIN SELECT raise(ABORT, 'approval refused: an instant out of bounds'); END;
CREATE TRIGGER log_instants_insert BEFORE INSERT ON log WHEN (NEW.recorded_at IS NOT NULL AND (NEW.recorded_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.recorded_at) IS NULL OR NEW.recorded_at < '1970' OR NEW.recorded_at >= '3000')) BEGIN SELECT raise(ABORT, 'log refused: an instant out of bounds'); END;
CREATE TRIGGER log_instants_update BEFORE UPDATE ON log WHEN (NEW.recorded_at IS NOT NULL AND (NEW.recorded_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.recorded_at) IS NULL OR NEW.recorded_at < '1970' OR NEW.recorded_at >= '3000')) BEGIN SELECT raise(ABORT, 'log refused: an instant out of bounds'); END;
CREATE TRIGGER cycle_instants_insert BEFORE INSERT ON cycle WHEN (NEW.opened_at IS NOT NULL AND (NEW.opened_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.opened_at) IS NULL OR NEW.opened_at < '1970' OR NEW.opened_at >= '3000')) OR (NEW.delivery_due IS NOT NULL AND (NEW.delivery_due NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.delivery_due) IS NULL OR NEW.delivery_due < '1970' OR NEW.delivery_due >= '3000')) OR (NEW.protection_due IS NOT NULL AND (NEW.protection_due NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.protection_due) IS NULL OR NEW.protection_due < '1970' OR NEW.protection_due >= '3000')) OR (NEW.approval_due IS NOT NULL AND (NEW.approval_due NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.approval_due) IS NULL OR NEW.approval_due < '1970' OR NEW.approval_due >= '3000')) OR (NEW.embargo IS NOT NULL AND (NEW.embargo NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.embargo) IS NULL OR NEW.embargo < '1970' OR NEW.embargo >= '3000')) BEGIN SELECT raise(ABORT, 'cycle refused: an instant out of bounds'); END;
CREATE TRIGGER cycle_instants_update BEFORE UPDATE ON cycle WHEN (NEW.opened_at IS NOT NULL AND (NEW.opened_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.opened_at) IS NULL OR NEW.opened_at < '1970' OR NEW.opened_at >= '3000')) OR (NEW.delivery_due IS NOT NULL AND (NEW.delivery_due NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.delivery_due) IS NULL OR NEW.delivery_due < '1970' OR NEW.delivery_due >= '3000')) OR (NEW.protection_due IS NOT NULL AND (NEW.protection_due NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.protection_due) IS NULL OR NEW.protection_due < '1970' OR NEW.protection_due >= '3000')) OR (NEW.approval_due IS NOT NULL AND (NEW.approval_due NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.approval_due) IS NULL OR NEW.approval_due < '1970' OR NEW.approval_due >= '3000')) OR (NEW.embargo IS NOT NULL AND (NEW.embargo NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.embargo) IS NULL OR NEW.embargo < '1970' OR NEW.embargo >= '3000')) BEGIN SELECT raise(ABORT, 'cycle refused: an instant out of bounds'); END;
CREATE TRIGGER dag_run_instants_insert BEFORE INSERT ON dag_run WHEN (NEW.started_at IS NOT NULL AND (NEW.started_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.started_at) IS NULL OR NEW.started_at < '1970' OR NEW.started_at >= '3000')) OR (NEW.finished_at IS NOT NULL AND (NEW.finished_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.finished_at) IS NULL OR NEW.finished_at < '1970' OR NEW.finished_at >= '3000')) BEGIN SELECT raise(ABORT, 'dag_run refused: an instant out of bounds'); END;
CREATE TRIGGER dag_run_instants_update BEFORE UPDATE ON dag_run WHEN (NEW.started_at IS NOT NULL AND (NEW.started_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.started_at) IS NULL OR NEW.started_at < '1970' OR NEW.started_at >= '3000')) OR (NEW.finished_at IS NOT NULL AND (NEW.finished_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.finished_at) IS NULL OR NEW.finished_at < '1970' OR NEW.finished_at >= '3000')) BEGIN SELECT raise(ABORT, 'dag_run refused: an instant out of bounds'); END;
CREATE TRIGGER task_run_instants_insert BEFORE INSERT ON task_run WHEN (NEW.finished_at IS NOT NULL AND (NEW.finished_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.finished_at) IS NULL OR NEW.finished_at < '1970' OR NEW.finished_at >= '3000')) BEGIN SELECT raise(ABORT, 'task_run refused: an instant out of bounds'); END;
CREATE TRIGGER task_run_instants_update BEFORE UPDATE ON task_run WHEN (NEW.finished_at IS NOT NULL AND (NEW.finished_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.finished_at) IS NULL OR NEW.finished_at < '1970' OR NEW.finished_at >= '3000')) BEGIN SELECT raise(ABORT, 'task_run refused: an instant out of bounds'); END;
CREATE TRIGGER alert_instants_insert BEFORE INSERT ON alert WHEN (NEW.raised_at IS NOT NULL AND (NEW.raised_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.raised_at) IS NULL OR NEW.raised_at < '1970' OR NEW.raised_at >= '3000')) BEGIN SELECT raise(ABORT, 'alert refused: an instant out of bounds'); END;
CREATE TRIGGER alert_instants_update BEFORE UPDATE ON alert WHEN (NEW.raised_at IS NOT NULL AND (NEW.raised_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.raised_at) IS NULL OR NEW.raised_at < '1970' OR NEW.raised_at >= '3000')) BEGIN SELECT raise(ABORT, 'alert refused: an instant out of bounds'); END;
CREATE TRIGGER release_instants_insert BEFORE INSERT ON release WHEN (NEW.released_at IS NOT NULL AND (NEW.released_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.released_at) IS NULL OR NEW.released_at < '1970' OR NEW.released_at >= '3000')) OR (NEW.embargo IS NOT NULL AND (NEW.embargo NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.embargo) IS NULL OR NEW.embargo < '1970' OR NEW.embargo >= '3000')) BEGIN SELECT raise(ABORT, 'release refused: an instant out of bounds'); END;
CREATE TRIGGER release_instants_update BEFORE UPDATE ON release WHEN (NEW.released_at IS NOT NULL AND (NEW.released_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.released_at) IS NULL OR NEW.released_at < '1970' OR NEW.released_at >= '3000')) OR (NEW.embargo IS NOT NULL AND (NEW.embargo NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.embargo) IS NULL OR NEW.embargo < '1970' OR NEW.embargo >= '3000')) BEGIN SELECT raise(ABORT, 'release refused: an instant out of bounds'); END;
CREATE TRIGGER retraction_instants_insert BEFORE INSERT ON retraction WHEN (NEW.retracted_at IS NOT NULL AND (NEW.retracted_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.retracted_at) IS NULL OR NEW.retracted_at < '1970' OR NEW.retracted_at >= '3000')) BEGIN SELECT raise(ABORT, 'retraction refused: an instant out of bounds'); END;
CREATE TRIGGER retraction_instants_update BEFORE UPDATE ON retraction WHEN (NEW.retracted_at IS NOT NULL AND (NEW.retracted_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' OR julianday(NEW.retracted_at) IS NULL OR NEW.retracted_at < '1970' OR NEW.retracted_at >= '3000')) BEGIN SELECT raise(ABORT, 'retraction refused: an instant out of bounds'); END;
CREATE TRIGGER terms_profiles BEFORE INSERT ON terms
WHEN (
    SELECT count(*) FROM profile WHERE instr(',' || NEW.profiles || ',', ',' || name || ',') > 0
) <> length(NEW.profiles) - length(replace(NEW.profiles, ',', '')) + 1 BEGIN
    SELECT raise(ABORT, 'terms refused: attacker profiles that are unknown here, named twice, or none at all');
END;
CREATE TRIGGER audit_profiles BEFORE INSERT ON audit
WHEN (
    SELECT count(*) FROM profile WHERE instr(',' || NEW.profiles || ',', ',' || name || ',') > 0
) <> length(NEW.profiles) - length(replace(NEW.profiles, ',', '')) + 1 BEGIN
    SELECT raise(ABORT, 'audit refused: attacker profiles that are unknown here, named twice, or none at all');
END;
CREATE TRIGGER release_profiles BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: attacker profiles that are unknown here, named twice, or none at all')
    FROM (
        SELECT t.profiles FROM submission s JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
        WHERE s.release_id = NEW.release_id
        UNION ALL
        SELECT a.profiles FROM audit a WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
    ) named
    WHERE (
        SELECT count(*) FROM profile WHERE instr(',' || named.profiles || ',', ',' || name || ',') > 0
    ) <> length(named.profiles) - length(replace(named.profiles, ',', '')) + 1;
END;
CREATE TRIGGER release_vintage BEFORE INSERT ON release
WHEN EXISTS (SELECT 1 FROM release WHERE domain = NEW.domain AND period = NEW.period) BEGIN
    SELECT raise(ABORT, 'release refused: not audited beside the version that is out')
    WHERE NOT EXISTS (
        SELECT 1 FROM audit
        WHERE release_id = NEW.release_id AND digest = NEW.audit_digest AND instr(',' || profiles || ',', ',vintage,') > 0
    );
END;
CREATE TRIGGER secret_stays BEFORE DELETE ON secret
BEGIN
    SELECT raise(ABORT, 'secret is append-only');
END;
CREATE TRIGGER release_printed BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: submitted for another domain or period')
    FROM submission s
    WHERE s.release_id = NEW.release_id AND (s.domain IS NOT NEW.domain OR s.period IS NOT NEW.period);
    SELECT raise(ABORT, 'release refused: its cells are not those that were audited')
    WHERE (SELECT a.printed_digest FROM audit a WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest)
        IS NOT printed_digest(NEW.domain, NEW.period, NEW.publication_digest);
    SELECT raise(ABORT, 'release refused: it holds a cell of a country')
    WHERE EXISTS (
        SELECT 1 FROM (SELECT DISTINCT country FROM delivery WHERE domain = NEW.domain) d
        CROSS JOIN eu_cell c
        WHERE c.domain = NEW.domain AND c.period = NEW.period AND c.publication_digest = NEW.publication_digest
            AND c.cell >= d.country || '.' AND c.cell < d.country || '/'
    );
END;
CREATE TRIGGER audit_gate BEFORE INSERT ON audit BEGIN
    SELECT raise(ABORT, 'audit refused: the digest is not that of its certificate') WHERE NEW.digest IS NOT sha256_hex(NEW.certificate);
    SELECT raise(ABORT, 'audit refused: passed, and something broken') WHERE NEW.passed AND NEW.broken IS NOT 0;
END;
CREATE TRIGGER approval_gate BEFORE INSERT ON approval BEGIN
    SELECT raise(ABORT, 'approval refused: its submitter is not who submitted, or agrees himself')
    WHERE NEW.approver = NEW.submitter
        OR NOT EXISTS (SELECT 1 FROM submission s WHERE s.release_id = NEW.release_id AND s.submitter = NEW.submitter);
    SELECT raise(ABORT, 'approval refused: no passed audit of this publication')
    WHERE NOT EXISTS (
        SELECT 1 FROM audit a
        WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest AND a.publication_digest = NEW.publication_digest AND a.passed
    );
END;
CREATE TRIGGER retraction_gate BEFORE INSERT ON retraction
WHEN NOT EXISTS (SELECT 1 FROM release r WHERE r.release_id = NEW.release_id) BEGIN
    SELECT raise(ABORT, 'retraction refused: no such release');
END;
CREATE TRIGGER log_digest BEFORE INSERT ON log
WHEN NEW.digest IS NOT entry_digest(
    NEW.number, NEW.recorded_at, NEW.actor, NEW.account, NEW.action, NEW.subject, NEW.details, NEW.previous
) BEGIN
    SELECT raise(ABORT, 'log refused: not the digest of this entry');
END;
CREATE TRIGGER eu_cell_gate BEFORE INSERT ON eu_cell
WHEN EXISTS (SELECT 1 FROM eu_cell WHERE rowid = NEW.rowid) OR EXISTS (
    SELECT 1 FROM release
    WHERE domain = NEW.domain AND period = NEW.period AND publication_digest = NEW.publication_digest
) BEGIN
    SELECT raise(ABORT, 'eu_cell refused: it is append-only, and the publication may be released');
END;
CREATE TRIGGER release_key BEFORE INSERT ON release
WHEN EXISTS (
    SELECT 1 FROM release
    WHERE release_id = NEW.release_id OR (domain = NEW.domain AND period = NEW.period AND version = NEW.version) OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'release is append-only: the key is there'); END;
CREATE TRIGGER publication_key BEFORE INSERT ON publication
WHEN EXISTS (
    SELECT 1 FROM publication WHERE (domain = NEW.domain AND period = NEW.period AND digest = NEW.digest) OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'publication is append-only: the key is there'); END;
CREATE TRIGGER audit_key BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit WHERE (release_id = NEW.release_id AND digest = NEW.digest) OR rowid = NEW.rowid) BEGIN
    SELECT raise(ABORT, 'audit is append-only: the key is there');
END;
CREATE TRIGGER terms_key BEFORE INSERT ON terms
WHEN EXISTS (SELECT 1 FROM terms WHERE (domain = NEW.domain AND digest = NEW.digest) OR rowid = NEW.rowid) BEGIN
    SELECT raise(ABORT, 'terms is append-only: the key is there');
END;
CREATE TRIGGER submission_key BEFORE INSERT ON submission
WHEN EXISTS (SELECT 1 FROM submission WHERE release_id = NEW.release_id OR rowid = NEW.rowid) BEGIN
    SELECT raise(ABORT, 'submission is append-only: the key is there');
END;
CREATE TRIGGER approval_key BEFORE INSERT ON approval
WHEN EXISTS (
    SELECT 1 FROM approval
    WHERE (release_id = NEW.release_id AND audit_digest = NEW.audit_digest AND approver = NEW.approver) OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'approval is append-only: the key is there'); END;
CREATE TRIGGER log_key BEFORE INSERT ON log
WHEN EXISTS (SELECT 1 FROM log WHERE number = NEW.number OR rowid = NEW.rowid) BEGIN
    SELECT raise(ABORT, 'log is append-only: the key is there');
END;
CREATE TRIGGER retraction_key BEFORE INSERT ON retraction
WHEN EXISTS (SELECT 1 FROM retraction WHERE release_id = NEW.release_id OR rowid = NEW.rowid) BEGIN
    SELECT raise(ABORT, 'retraction is append-only: the key is there');
END;
CREATE TRIGGER alert_key BEFORE INSERT ON alert
WHEN EXISTS (
    SELECT 1 FROM alert
    WHERE (domain = NEW.domain AND period = NEW.period AND kind = NEW.kind AND subject = NEW.subject) OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'alert is append-only: the key is there'); END;
CREATE UNIQUE INDEX ux_delivery_accepted ON delivery (domain, period, country, series) WHERE state = 'accepted';
CREATE TRIGGER approval_person BEFORE INSERT ON approval WHEN NOT is_person(NEW.approver) BEGIN
    SELECT raise(ABORT, 'approval refused: the name could pass for that of somebody else');
END;
CREATE TRIGGER submission_person BEFORE INSERT ON submission WHEN NOT is_person(NEW.submitter) BEGIN
    SELECT raise(ABORT, 'submission refused: the name could pass for that of somebody else');
END;
CREATE TRIGGER release_people BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: approvals are missing, of people that somebody vouches for')
    FROM submission s JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    WHERE s.release_id = NEW.release_id AND t.approvals > (
        SELECT count(DISTINCT a.approver) FROM approval a
        WHERE a.release_id = NEW.release_id AND a.audit_digest = NEW.audit_digest AND a.publication_digest = NEW.publication_digest
            AND a.account IS NOT NULL
    );
END;
CREATE TRIGGER release_one_domain BEFORE INSERT ON release
WHEN EXISTS (SELECT 1 FROM release WHERE domain <> NEW.domain AND period = NEW.period) BEGIN
    SELECT raise(ABORT, 'release refused: another domain has published these figures of the period')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    JOIN release r ON r.period = NEW.period AND r.domain <> NEW.domain
    JOIN submission rs ON rs.release_id = r.release_id
    JOIN terms rt ON rt.domain = rs.domain AND rt.digest = rs.terms_digest
    WHERE s.release_id = NEW.release_id
        AND substr(json_extract(t.settings, '$.structure_id'), 1, instr(json_extract(t.settings, '$.structure_id') || '(', '(') - 1)
            IS substr(json_extract(rt.settings, '$.structure_id'), 1, instr(json_extract(rt.settings, '$.structure_id') || '(', '(') - 1)
        AND EXISTS (
            SELECT 1
            FROM eu_cell c
            JOIN eu_cell rc ON rc.indicator = c.indicator
            WHERE c.domain = NEW.domain AND c.period = NEW.period AND c.publication_digest = NEW.publication_digest
                AND rc.domain = r.domain AND rc.period = r.period AND rc.publication_digest = r.publication_digest
        );
END;
CREATE TRIGGER log_told BEFORE INSERT ON log
WHEN tells(NEW.details, CASE NEW.action
    WHEN 'submit' THEN 'terms,asks,inputs,environment,embargo'
    WHEN 'audit' THEN 'audit,publication,passed,printed,lps'
    WHEN 'approve' THEN 'audit,publication,note'
    WHEN 'reject' THEN 'audit,publication,note'
    WHEN 'release' THEN 'audit,publication,version'
    WHEN 'retract' THEN 'reason'
    WHEN 'receive' THEN 'domain,period,file,times'
    WHEN 'accept' THEN 'domain,period,country,instead_of'
    WHEN 'supersede' THEN 'domain,period,country,by'
    WHEN 'refuse' THEN 'domain,period,country'
    ELSE ''
END) IS NOT 1 BEGIN
    SELECT raise(ABORT, 'log refused: details are no JSON that tells what such an entry must tell');
END;
CREATE TRIGGER audit_told BEFORE INSERT ON audit BEGIN
    SELECT raise(ABORT, 'audit refused: its certificate says otherwise')
    WHERE told(NEW.certificate, 'digests', 'problem') IS NOT NEW.problem_digest
        OR told(NEW.certificate, 'digests', 'publication') IS NOT NEW.publication_digest
        OR told(NEW.certificate, 'profiles') IS NOT '["' || replace(NEW.profiles, ',', '", "') || '"]'
        OR told(NEW.certificate, 'verdict') IS NOT CASE WHEN NEW.passed THEN 'passed' ELSE 'failed' END
        OR told(NEW.certificate, 'counts', 'primaries') IS NOT CAST(NEW.primaries AS TEXT)
        OR told(NEW.certificate, 'counts', 'broken_requirements') IS NOT CAST(NEW.broken AS TEXT);
    SELECT raise(ABORT, 'audit refused: its certificate says otherwise')
    WHERE NOT EXISTS (
        SELECT 1 FROM run r LEFT JOIN submission s ON s.release_id = r.release_id
        WHERE r.release_id = NEW.release_id AND told(NEW.certificate, 'domain') = r.domain AND told(NEW.certificate, 'period') = r.period
            AND told(NEW.certificate, 'digests', 'domain') = coalesce(s.terms_digest, told(NEW.certificate, 'digests', 'domain'))
    );
END;
CREATE TRIGGER terms_json BEFORE INSERT ON terms
WHEN tells(NEW.settings, '') IS NOT 1
    OR coalesce(told(NEW.settings, 'audit', 'profiles'), '["' || replace(NEW.profiles, ',', '", "') || '"]')
        IS NOT '["' || replace(NEW.profiles, ',', '", "') || '"]'
    OR coalesce(told(NEW.settings, 'governance', 'approvals'), CAST(NEW.approvals AS TEXT)) IS NOT CAST(NEW.approvals AS TEXT)
    OR (
        told(NEW.settings, 'governance') IS NOT NULL
        AND told(NEW.settings, 'governance', 'retention_days') IS NOT CAST(NEW.retention_days AS TEXT)
    ) BEGIN
    SELECT raise(ABORT, 'terms refused: its JSON is none, or says otherwise');
END;
CREATE TRIGGER submission_json BEFORE INSERT ON submission WHEN tells(NEW.environment, '') IS NOT 1 BEGIN
    SELECT raise(ABORT, 'submission refused: its JSON is none, or says otherwise');
END;
CREATE TRIGGER cycle_json_insert BEFORE INSERT ON cycle WHEN is_list(NEW.areas) IS NOT 1 BEGIN
    SELECT raise(ABORT, 'cycle refused: its JSON is none, or says otherwise');
END;
CREATE TRIGGER cycle_json_update BEFORE UPDATE ON cycle WHEN is_list(NEW.areas) IS NOT 1 BEGIN
    SELECT raise(ABORT, 'cycle refused: its JSON is none, or says otherwise');
END;
CREATE TRIGGER check_result_json_insert BEFORE INSERT ON check_result WHEN is_list(NEW.cells) IS NOT 1 BEGIN
    SELECT raise(ABORT, 'check_result refused: its JSON is none, or says otherwise');
END;
CREATE TRIGGER check_result_json_update BEFORE UPDATE ON check_result WHEN is_list(NEW.cells) IS NOT 1 BEGIN
    SELECT raise(ABORT, 'check_result refused: its JSON is none, or says otherwise');
END;
CREATE TRIGGER release_beside BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: other versions are out than its audit knew')
    WHERE (
        SELECT '["' || group_concat(publication_digest, '", "') || '"]'
        FROM (SELECT publication_digest FROM release WHERE domain = NEW.domain AND period = NEW.period ORDER BY version)
    ) IS NOT (SELECT told(certificate, 'beside') FROM audit WHERE release_id = NEW.release_id AND digest = NEW.audit_digest);
END;
CREATE VIEW delivery_now AS
SELECT d.domain, d.period, d.digest, d.country, d.file, d.received_at, d.superseded_by, d.times,
    CASE
        WHEN d.state NOT IN ('received', 'refused') THEN d.state
        WHEN (
            SELECT l.action FROM log l
            WHERE l.subject = d.digest AND l.action IN ('keep', 'replace', 'both')
                AND CASE WHEN json_valid(l.details) THEN CAST(json_extract(l.details, '$.domain') AS text) END = d.domain AND CASE WHEN json_valid(l.details) THEN CAST(json_extract(l.details, '$.period') AS text) END = d.period
                AND CASE WHEN json_valid(l.details) THEN CAST(json_extract(l.details, '$.times') AS text) END = CAST(d.times AS text)
            ORDER BY l.number DESC LIMIT 1
        ) = 'keep' THEN 'kept out'
        WHEN d.state = 'received'
            AND EXISTS (
                SELECT 1 FROM delivery a
                WHERE a.domain = d.domain AND a.period = d.period AND a.country = d.country AND a.state = 'accepted'
            )
            AND NOT EXISTS (
                SELECT 1 FROM delivery a
                WHERE a.domain = d.domain AND a.period = d.period AND a.country = d.country AND a.state = 'accepted' AND a.series = d.series
            )
            AND NOT EXISTS (
                SELECT 1 FROM log l
                WHERE l.subject = d.digest AND l.action IN ('replace', 'both')
                    AND CASE WHEN json_valid(l.details) THEN CAST(json_extract(l.details, '$.domain') AS text) END = d.domain AND CASE WHEN json_valid(l.details) THEN CAST(json_extract(l.details, '$.period') AS text) END = d.period
                    AND CASE WHEN json_valid(l.details) THEN CAST(json_extract(l.details, '$.times') AS text) END = CAST(d.times AS text)
            ) THEN 'waiting'
        ELSE d.state
    END AS state,
    EXISTS (
        SELECT 1 FROM inbox i WHERE i.domain = d.domain AND i.period = d.period AND i.digest = d.digest
    ) AS lying
FROM delivery d;
CREATE TRIGGER approval_by_others BEFORE INSERT ON approval
WHEN EXISTS (
    SELECT 1 FROM dag_run d
    WHERE d.release_id = NEW.release_id AND d.triggered_by = NEW.approver AND d.dag_id LIKE 'eu\_release\_%' ESCAPE '\'
) BEGIN
    SELECT raise(ABORT, 'approval refused: the approver started a run of this release');
END;
CREATE TRIGGER withdrawal_update BEFORE UPDATE ON withdrawal BEGIN SELECT raise(ABORT, 'withdrawal is append-only'); END;
CREATE TRIGGER withdrawal_delete BEFORE DELETE ON withdrawal BEGIN SELECT raise(ABORT, 'withdrawal is append-only'); END;
CREATE TRIGGER withdrawal_key BEFORE INSERT ON withdrawal
WHEN EXISTS (
    SELECT 1 FROM withdrawal
    WHERE (release_id = NEW.release_id AND reason = NEW.reason AND agreed_by = NEW.agreed_by) OR rowid = NEW.rowid
) BEGIN SELECT raise(ABORT, 'withdrawal is append-only: the key is there'); END;
CREATE TRIGGER withdrawal_instants_insert BEFORE INSERT ON withdrawal
WHEN NEW.agreed_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*'
    OR julianday(NEW.agreed_at) IS NULL OR NEW.agreed_at < '1970' OR NEW.agreed_at >= '3000' BEGIN
    SELECT raise(ABORT, 'withdrawal refused: an instant out of bounds');
END;
CREATE TRIGGER withdrawal_instants_update BEFORE UPDATE ON withdrawal
WHEN NEW.agreed_at NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-5][0-9]*'
    OR julianday(NEW.agreed_at) IS NULL OR NEW.agreed_at < '1970' OR NEW.agreed_at >= '3000' BEGIN
    SELECT raise(ABORT, 'withdrawal refused: an instant out of bounds');
END;
CREATE TRIGGER withdrawal_gate BEFORE INSERT ON withdrawal BEGIN
    SELECT raise(ABORT, 'withdrawal refused: no such release')
    WHERE NOT EXISTS (SELECT 1 FROM release r WHERE r.release_id = NEW.release_id);
    SELECT raise(ABORT, 'withdrawal refused: the name could pass for that of somebody else') WHERE NOT is_person(NEW.agreed_by);
    SELECT raise(ABORT, 'withdrawal refused: who asked to take the release back does not agree to it')
    WHERE EXISTS (
        SELECT 1 FROM dag_run d
        WHERE d.dag_id = 'retract_release' AND d.release_id = NEW.release_id AND d.reason = NEW.reason AND d.triggered_by = NEW.agreed_by
    );
END;
CREATE TRIGGER retraction_people BEFORE INSERT ON retraction BEGIN
    SELECT raise(ABORT, 'retraction refused: the name could pass for that of somebody else') WHERE NOT is_person(NEW.retracted_by);
    SELECT raise(ABORT, 'retraction refused: nobody else agreed to it for this reason')
    FROM submission s JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    WHERE s.release_id = NEW.release_id AND t.approvals >= 1 AND NOT EXISTS (
        SELECT 1 FROM withdrawal w
        WHERE w.release_id = NEW.release_id AND w.reason = NEW.reason AND w.agreed_by <> NEW.retracted_by
    );
END;
CREATE TRIGGER log_agreed BEFORE INSERT ON log WHEN NEW.action = 'agree' AND tells(NEW.details, 'reason') IS NOT 1 BEGIN
    SELECT raise(ABORT, 'log refused: details are no JSON that tells what such an entry must tell');
END;
CREATE TRIGGER release_program BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: not shown to withstand somebody who has the program')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    LEFT JOIN audit a ON a.release_id = s.release_id AND a.digest = NEW.audit_digest
        AND a.publication_digest = NEW.publication_digest AND a.passed
    WHERE s.release_id = NEW.release_id AND (
        (told(t.settings, 'bases', 'rule_aware') IS 'true' OR coalesce(told(t.settings, 'indicators'), '') LIKE '%"rule_aware": true%')
        AND told(a.certificate, 'program', 'verdict') IS NOT 'passed'
        OR told(t.settings, 'bases', 'rule_aware') IS 'true' AND (
            told(a.certificate, 'program', 'bases', 'removed') IS NOT told(t.settings, 'bases', 'removed')
            OR told(a.certificate, 'program', 'bases', 'epoch') IS NOT told(t.settings, 'bases', 'epoch')
            OR told(a.certificate, 'program', 'bases', 'narrow') IS NOT '[]'
            OR CAST(told(a.certificate, 'program', 'bases', 'wide') AS INTEGER)
                + json_array_length(told(a.certificate, 'program', 'bases', 'without_claim'))
                IS NOT CAST(told(a.certificate, 'counts', 'primaries') AS INTEGER)
                - coalesce(CAST(told(a.certificate, 'counts', 'judged_as_whole_numbers') AS INTEGER), 0)
        )
    );
END;
CREATE TRIGGER release_related BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: its certificate does not name why other domains are unrelated')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    LEFT JOIN audit a ON a.release_id = s.release_id AND a.digest = NEW.audit_digest
    WHERE s.release_id = NEW.release_id AND told(t.settings, 'unrelated') IS NOT told(a.certificate, 'unrelated');
    SELECT raise(ABORT, 'release refused: beside figures that may be the same, or sums of them')
    FROM (
        SELECT DISTINCT r.domain, r.period, r.publication_digest, s.terms_digest
        FROM release r LEFT JOIN submission s ON s.release_id = r.release_id
        WHERE (r.domain <> NEW.domain OR r.period <> NEW.period) AND same_time(r.period, NEW.period)
    ) b
    LEFT JOIN terms bt ON bt.domain = b.domain AND bt.digest = b.terms_digest
    LEFT JOIN submission s ON s.release_id = NEW.release_id
    LEFT JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    WHERE CASE
        WHEN b.domain = NEW.domain THEN 1
        WHEN trim(told(t.settings, 'unrelated', b.domain)) <> '' THEN 0
        ELSE akin(t.settings, bt.settings)
    END AND EXISTS (
        SELECT 1
        FROM (
            SELECT DISTINCT upper(c.indicator) AS indicator FROM eu_cell c
            WHERE c.domain = NEW.domain AND c.period = NEW.period AND c.publication_digest = NEW.publication_digest
        ) ours
        WHERE EXISTS (
            SELECT 1 FROM eu_cell c
            WHERE c.domain = b.domain AND c.period = b.period AND c.publication_digest = b.publication_digest
                AND upper(c.indicator) = ours.indicator
        )
    );
END;
CREATE TRIGGER secret_gate BEFORE INSERT ON secret
WHEN NEW.fingerprint IS NULL
    OR EXISTS (SELECT 1 FROM log l WHERE l.action IN ('make', 'name') AND l.subject LIKE 'confidential_secret')
    AND NOT EXISTS (
        SELECT 1 FROM log l
        WHERE l.action IN ('make', 'name') AND l.subject LIKE 'confidential_secret' AND told(l.details, 'fingerprint') = NEW.fingerprint
    ) BEGIN
    SELECT raise(ABORT, 'secret refused: the log tells of another secret of this warehouse');
END;
CREATE TRIGGER secret_named BEFORE UPDATE ON secret
WHEN OLD.fingerprint IS NOT NULL AND NEW.fingerprint IS NOT OLD.fingerprint OR OLD.kept AND NOT NEW.kept BEGIN
    SELECT raise(ABORT, 'secret refused: it is named already, and the same for ever');
END;
CREATE TRIGGER release_secret BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: its certificate names another secret than this warehouse has')
    FROM audit a
    WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest AND told(a.certificate, 'secret') IS NOT NULL
        AND told(a.certificate, 'secret') IS NOT (SELECT fingerprint FROM secret);
    SELECT raise(ABORT, 'release refused: it is drawn by a secret that is not named, or kept nowhere else')
    FROM submission s
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    LEFT JOIN audit a ON a.release_id = s.release_id AND a.digest = NEW.audit_digest
    WHERE s.release_id = NEW.release_id
        AND (told(t.settings, 'bases', 'rule_aware') IS 'true' OR coalesce(told(t.settings, 'indicators'), '') LIKE '%"rounding": {%')
        AND (told(a.certificate, 'secret') IS NULL OR (SELECT kept FROM secret) IS NOT 1);
END;
CREATE TRIGGER release_asked_before BEFORE INSERT ON release BEGIN
    SELECT raise(ABORT, 'release refused: an earlier version of the period asked for more approvals or attackers')
    FROM release r
    JOIN submission s ON s.release_id = r.release_id
    JOIN terms t ON t.domain = s.domain AND t.digest = s.terms_digest
    JOIN audit b ON b.release_id = r.release_id AND b.digest = r.audit_digest
    JOIN json_each('["' || replace(b.profiles, ',', '","') || '"]') AS asked
    WHERE r.domain = NEW.domain AND r.period = NEW.period AND (
        t.approvals > (
            SELECT count(DISTINCT a.approver) FROM approval a
            WHERE a.release_id = NEW.release_id AND a.audit_digest = NEW.audit_digest AND a.publication_digest = NEW.publication_digest
                AND a.account IS NOT NULL
        )
        OR NOT EXISTS (
            SELECT 1 FROM audit a
            WHERE a.release_id = NEW.release_id AND a.digest = NEW.audit_digest
                AND instr(',' || a.profiles || ',', ',' || asked.value || ',') > 0
        )
    );
END;
COMMIT;
