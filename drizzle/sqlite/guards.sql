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
CREATE VIRTUAL TABLE `skills_search` USING fts5(words, content='', tokenize='unicode61 remove_diacritics 0', detail='none', columnsize=0, prefix='3 4');
--> statement-breakpoint
CREATE TABLE `skill_words` (`word` text PRIMARY KEY) WITHOUT ROWID;
--> statement-breakpoint
CREATE TRIGGER `skills_search_insert` AFTER INSERT ON `skills` WHEN new.listed BEGIN INSERT INTO skills_search(rowid, words) SELECT place, char(57344) || new.category || ' ' || new.search_text FROM (SELECT (new.install_count << 32) | new.seq AS place UNION ALL SELECT (1 << 60) | (new.rating << 32) | new.seq UNION ALL SELECT (2 << 60) | new.seq); INSERT OR IGNORE INTO skill_words SELECT value FROM json_each('["' || replace(new.search_text, ' ', '","') || '"]'); END;
--> statement-breakpoint
CREATE TRIGGER `skills_search_delete` AFTER DELETE ON `skills` WHEN old.listed BEGIN INSERT INTO skills_search(skills_search, rowid, words) SELECT 'delete', place, char(57344) || old.category || ' ' || old.search_text FROM (SELECT (old.install_count << 32) | old.seq AS place UNION ALL SELECT (1 << 60) | (old.rating << 32) | old.seq UNION ALL SELECT (2 << 60) | old.seq); END;
--> statement-breakpoint
CREATE TRIGGER `skills_search_update` AFTER UPDATE OF search_text, category, listed, install_count, rating ON `skills` BEGIN INSERT INTO skills_search(skills_search, rowid, words) SELECT 'delete', place, char(57344) || old.category || ' ' || old.search_text FROM (SELECT (old.install_count << 32) | old.seq AS place, old.install_count <> new.install_count AS moved UNION ALL SELECT (1 << 60) | (old.rating << 32) | old.seq, old.rating <> new.rating UNION ALL SELECT (2 << 60) | old.seq, 0) WHERE old.listed AND (moved OR old.search_text <> new.search_text OR old.category <> new.category OR NOT new.listed); INSERT INTO skills_search(rowid, words) SELECT place, char(57344) || new.category || ' ' || new.search_text FROM (SELECT (new.install_count << 32) | new.seq AS place, old.install_count <> new.install_count AS moved UNION ALL SELECT (1 << 60) | (new.rating << 32) | new.seq, old.rating <> new.rating UNION ALL SELECT (2 << 60) | new.seq, 0) WHERE new.listed AND (moved OR old.search_text <> new.search_text OR old.category <> new.category OR NOT old.listed); INSERT OR IGNORE INTO skill_words SELECT value FROM json_each('["' || replace(new.search_text, ' ', '","') || '"]') WHERE new.listed AND (old.search_text <> new.search_text OR NOT old.listed); END;
