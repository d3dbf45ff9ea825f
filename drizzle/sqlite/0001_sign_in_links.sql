CREATE TABLE `sign_in_links` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`leads_to` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sign_in_links_by_user` ON `sign_in_links` (`user_id`);--> statement-breakpoint
CREATE INDEX `sign_in_links_by_expiry` ON `sign_in_links` (`expires_at`);--> statement-breakpoint
DROP TABLE `used_links`;--> statement-breakpoint
ALTER TABLE `sessions` ADD `link_at` integer;