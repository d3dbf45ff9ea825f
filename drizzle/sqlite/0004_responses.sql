CREATE TABLE `response_items` (
	`id` text PRIMARY KEY NOT NULL,
	`response_id` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `response_items_by_response` ON `response_items` (`response_id`);--> statement-breakpoint
CREATE TABLE `responses` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`previous_id` text,
	`input` text NOT NULL,
	`body` text NOT NULL,
	`last_sequence` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `responses_expiring` ON `responses` (`expires_at`);--> statement-breakpoint
CREATE INDEX `responses_by_owner` ON `responses` (`owner`,`created_at`);