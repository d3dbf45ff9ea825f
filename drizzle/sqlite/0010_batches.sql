CREATE TABLE `batch_lines` (
	`batch_id` text NOT NULL,
	`line` integer NOT NULL,
	`custom_id` text NOT NULL,
	`from_byte` integer NOT NULL,
	`to_byte` integer NOT NULL,
	`tries` integer NOT NULL,
	`ended_at` integer,
	`request_id` text,
	`status_code` integer,
	`body` text,
	`model` text,
	`input_tokens` integer NOT NULL,
	`cached_tokens` integer NOT NULL,
	`output_tokens` integer NOT NULL,
	`reasoning_tokens` integer NOT NULL,
	PRIMARY KEY(`batch_id`, `line`)
);
--> statement-breakpoint
CREATE INDEX `batch_lines_left` ON `batch_lines` (`batch_id`,`line`) WHERE "batch_lines"."ended_at" is null;--> statement-breakpoint
CREATE INDEX `batch_lines_ended` ON `batch_lines` (`batch_id`,`ended_at`,`line`) WHERE "batch_lines"."ended_at" is not null;--> statement-breakpoint
CREATE TABLE `batches` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`user_id` text NOT NULL,
	`api_key_id` text,
	`active_org_id` text,
	`request_id` text NOT NULL,
	`job_id` text NOT NULL,
	`endpoint` text NOT NULL,
	`input_file_id` text NOT NULL,
	`status` text NOT NULL,
	`model` text,
	`errors` text,
	`total` integer NOT NULL,
	`completed` integer NOT NULL,
	`failed` integer NOT NULL,
	`usage` text,
	`output_file_id` text,
	`error_file_id` text,
	`output_life_s` integer,
	`metadata` text,
	`created_at` integer NOT NULL,
	`in_progress_at` integer,
	`expires_at` integer NOT NULL,
	`finalizing_at` integer,
	`completed_at` integer,
	`failed_at` integer,
	`expired_at` integer,
	`cancelling_at` integer,
	`cancelled_at` integer
);
--> statement-breakpoint
CREATE INDEX `batches_by_owner` ON `batches` (`owner`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `batches_by_age` ON `batches` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `batches_open` ON `batches` (`owner`) WHERE "batches"."status" in ('validating', 'in_progress', 'finalizing', 'cancelling');