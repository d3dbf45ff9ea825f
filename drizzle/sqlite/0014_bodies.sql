CREATE TABLE `request_bodies` (
	`request_id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`request` text NOT NULL,
	`response` text,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `request_bodies_by_owner` ON `request_bodies` (`owner`);--> statement-breakpoint
CREATE INDEX `request_bodies_expiring` ON `request_bodies` (`expires_at`);--> statement-breakpoint
ALTER TABLE `user_settings` ADD `keep_bodies` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `user_settings` ADD `keep_bodies_days` integer DEFAULT 7 NOT NULL;--> statement-breakpoint
ALTER TABLE `user_settings` ADD `shortcuts` integer DEFAULT true NOT NULL;