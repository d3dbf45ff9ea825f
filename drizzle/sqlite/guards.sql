CREATE TRIGGER `audit_events_no_update` BEFORE UPDATE ON `audit_events` BEGIN SELECT RAISE(ABORT, 'audit_events is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `audit_events_no_delete` BEFORE DELETE ON `audit_events` BEGIN SELECT RAISE(ABORT, 'audit_events is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `audit_events_no_replace` BEFORE INSERT ON `audit_events` WHEN EXISTS (SELECT 1 FROM `audit_events` WHERE `scope` = NEW.`scope` AND `seq` = NEW.`seq`) BEGIN SELECT RAISE(ABORT, 'audit_events is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `ledger_entries_no_update` BEFORE UPDATE ON `ledger_entries` BEGIN SELECT RAISE(ABORT, 'ledger_entries is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `ledger_entries_no_delete` BEFORE DELETE ON `ledger_entries` BEGIN SELECT RAISE(ABORT, 'ledger_entries is append-only'); END;
--> statement-breakpoint
CREATE VIRTUAL TABLE `skills_search` USING fts5(search_text, content='skills', content_rowid='seq', tokenize='unicode61 remove_diacritics 0', detail='none', columnsize=0);
--> statement-breakpoint
CREATE TRIGGER `skills_search_insert` AFTER INSERT ON `skills` BEGIN INSERT INTO skills_search(rowid, search_text) VALUES (new.seq, new.search_text); END;
--> statement-breakpoint
CREATE TRIGGER `skills_search_delete` AFTER DELETE ON `skills` BEGIN INSERT INTO skills_search(skills_search, rowid, search_text) VALUES ('delete', old.seq, old.search_text); END;
--> statement-breakpoint
CREATE TRIGGER `skills_search_update` AFTER UPDATE OF search_text ON `skills` BEGIN INSERT INTO skills_search(skills_search, rowid, search_text) VALUES ('delete', old.seq, old.search_text); INSERT INTO skills_search(rowid, search_text) VALUES (new.seq, new.search_text); END;
