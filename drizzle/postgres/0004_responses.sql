CREATE TABLE "response_items" (
	"id" text PRIMARY KEY NOT NULL,
	"response_id" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "responses" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"previous_id" text,
	"input" jsonb NOT NULL,
	"body" jsonb NOT NULL,
	"last_sequence" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "response_items_by_response" ON "response_items" USING btree ("response_id");--> statement-breakpoint
CREATE INDEX "responses_expiring" ON "responses" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "responses_by_owner" ON "responses" USING btree ("owner","created_at");