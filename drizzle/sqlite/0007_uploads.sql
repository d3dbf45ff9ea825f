CREATE TABLE `upload_owners` (
	`owner` text PRIMARY KEY NOT NULL,
	`bytes` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `uploads` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`key_id` text,
	`filename` text NOT NULL,
	`purpose` text NOT NULL,
	`mime_type` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`sha256` text NOT NULL,
	`readers` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `uploads_by_owner` ON `uploads` (`owner`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `uploads_by_age` ON `uploads` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `uploads_expiring` ON `uploads` (`expires_at`);--> statement-breakpoint
CREATE INDEX `uploads_by_content` ON `uploads` (`sha256`);