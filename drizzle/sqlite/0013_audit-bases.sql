CREATE TABLE `audit_bases` (
	`scope` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL,
	`hash` text NOT NULL,
	`at` integer NOT NULL,
	`event_seq` integer NOT NULL
);
--> statement-breakpoint
DROP TRIGGER `usage_records_no_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_records_no_delete` BEFORE DELETE ON `usage_records` WHEN NOT EXISTS (SELECT 1 FROM `audit_bases` WHERE `scope` = OLD.`owner` AND OLD.`at` <= `audit_bases`.`at` AND (OLD.`seq` IS NULL OR OLD.`seq` <= `audit_bases`.`seq`)) BEGIN SELECT RAISE(ABORT, 'usage_records is append-only'); END;
