CREATE TABLE `test_cases` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`user_id` text NOT NULL,
	`org_id` text,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`tags` text NOT NULL,
	`request` text NOT NULL,
	`bytes` integer NOT NULL,
	`checks` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `test_cases_by_owner` ON `test_cases` (`owner`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `test_cases_by_age` ON `test_cases` (`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `saved_views` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`user_id` text NOT NULL,
	`org_id` text,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`section` text NOT NULL,
	`query` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `saved_views_by_owner` ON `saved_views` (`owner`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `saved_views_by_age` ON `saved_views` (`created_at`,`id`);--> statement-breakpoint
ALTER TABLE `sessions` ADD `proved_at` integer;--> statement-breakpoint
ALTER TABLE `sessions` ADD `ip` text;--> statement-breakpoint
ALTER TABLE `sessions` ADD `user_agent` text;--> statement-breakpoint
ALTER TABLE `users` ADD `operator_role` text;--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_status` ON `webhook_deliveries` (`webhook_id`,`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_type` ON `webhook_deliveries` (`webhook_id`,`event_type`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_event` ON `webhook_deliveries` (`webhook_id`,`event_id`,`attempt`);