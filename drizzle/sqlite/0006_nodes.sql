ALTER TABLE `nodes` ADD `since` integer;--> statement-breakpoint
ALTER TABLE `nodes` ADD `state` text;--> statement-breakpoint
ALTER TABLE `nodes` ADD `drain_at` integer;