ALTER TABLE "database_secrets" ADD COLUMN "wrapped" text;--> statement-breakpoint
ALTER TABLE "database_secrets" ADD COLUMN "wrapped_by" text;