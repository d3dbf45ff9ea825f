ALTER TABLE `usage_records` ADD `seq` integer;--> statement-breakpoint
ALTER TABLE `usage_records` ADD `event_id` text;--> statement-breakpoint
ALTER TABLE `usage_records` ADD `action` text;--> statement-breakpoint
ALTER TABLE `usage_records` ADD `entity_type` text;--> statement-breakpoint
ALTER TABLE `usage_records` ADD `entity_id` text;--> statement-breakpoint
ALTER TABLE `usage_records` ADD `input` text;--> statement-breakpoint
ALTER TABLE `usage_records` ADD `output` text;--> statement-breakpoint
ALTER TABLE `usage_records` ADD `prev_hash` text;--> statement-breakpoint
ALTER TABLE `usage_records` ADD `hash` text;--> statement-breakpoint
CREATE UNIQUE INDEX `usage_records_by_seq` ON `usage_records` (`owner`,`seq`);--> statement-breakpoint
CREATE INDEX `usage_records_by_entity` ON `usage_records` (`owner`,`entity_id`,`seq`) WHERE "usage_records"."entity_type" <> 'completion';
--> statement-breakpoint
CREATE TRIGGER `usage_records_no_update` BEFORE UPDATE ON `usage_records` BEGIN SELECT RAISE(ABORT, 'usage_records is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `usage_records_no_delete` BEFORE DELETE ON `usage_records` BEGIN SELECT RAISE(ABORT, 'usage_records is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `usage_records_no_replace` BEFORE INSERT ON `usage_records` WHEN EXISTS (SELECT 1 FROM `usage_records` WHERE `id` = NEW.`id`) OR EXISTS (SELECT 1 FROM `usage_records` WHERE `owner` = NEW.`owner` AND `seq` = NEW.`seq`) BEGIN SELECT RAISE(ABORT, 'usage_records is append-only'); END;
--> statement-breakpoint
CREATE VIEW `audit_log` AS SELECT scope, seq, id, at, action, entity_type, entity_id, user_id, org_id, api_key_id, request_id, input, output, mode, status, prev_hash, hash FROM audit_events UNION ALL SELECT owner, seq, event_id, at, action, entity_type, entity_id, user_id, CAST(CASE WHEN owner LIKE 'org:%' THEN substr(owner, 5) END AS text), api_key_id, request_id, input, output, mode, status, prev_hash, hash FROM usage_records WHERE seq IS NOT NULL;
