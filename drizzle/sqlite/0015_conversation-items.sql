ALTER TABLE `responses` ADD `conversation_id` text;--> statement-breakpoint
CREATE INDEX `responses_by_conversation` ON `responses` (`conversation_id`,`created_at`) WHERE "responses"."conversation_id" is not null;--> statement-breakpoint
ALTER TABLE `conversations` ADD `metadata` text;--> statement-breakpoint
ALTER TABLE `messages` ADD `item` text;