DROP TABLE `response_items`;--> statement-breakpoint
DROP INDEX `responses_by_owner`;