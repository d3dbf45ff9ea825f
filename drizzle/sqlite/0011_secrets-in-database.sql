ALTER TABLE `database_secrets` ADD `wrapped` text;--> statement-breakpoint
ALTER TABLE `database_secrets` ADD `wrapped_by` text;