ALTER TABLE `artifacts` ADD `request_id` text;--> statement-breakpoint
ALTER TABLE `artifacts` ADD `job_id` text;--> statement-breakpoint
CREATE INDEX `artifacts_by_request` ON `artifacts` (`owner`,`request_id`,`created_at`,`id`) WHERE "artifacts"."request_id" is not null;--> statement-breakpoint
CREATE INDEX `artifacts_by_job` ON `artifacts` (`owner`,`job_id`,`created_at`,`id`) WHERE "artifacts"."job_id" is not null;