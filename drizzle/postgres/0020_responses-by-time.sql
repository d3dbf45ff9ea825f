ALTER TABLE "response_items" DISABLE ROW LEVEL SECURITY;--> statement-breakpoint
DROP TABLE "response_items" CASCADE;--> statement-breakpoint
DROP INDEX "responses_by_owner";