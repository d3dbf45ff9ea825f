ALTER TABLE "responses" ADD COLUMN "conversation_id" text;--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "metadata" jsonb;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "item" jsonb;--> statement-breakpoint
CREATE INDEX "responses_by_conversation" ON "responses" USING btree ("conversation_id","created_at") WHERE "responses"."conversation_id" is not null;