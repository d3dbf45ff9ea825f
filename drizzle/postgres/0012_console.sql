CREATE TABLE "test_cases" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"user_id" text NOT NULL,
	"org_id" text,
	"name" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"tags" jsonb NOT NULL,
	"request" jsonb NOT NULL,
	"bytes" bigint NOT NULL,
	"checks" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "saved_views" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"user_id" text NOT NULL,
	"org_id" text,
	"name" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"section" text NOT NULL,
	"query" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "proved_at" bigint;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "ip" text;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "user_agent" text;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "operator_role" text;--> statement-breakpoint
CREATE INDEX "test_cases_by_owner" ON "test_cases" USING btree ("owner","created_at","id");--> statement-breakpoint
CREATE INDEX "test_cases_by_age" ON "test_cases" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "saved_views_by_owner" ON "saved_views" USING btree ("owner","created_at","id");--> statement-breakpoint
CREATE INDEX "saved_views_by_age" ON "saved_views" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_status" ON "webhook_deliveries" USING btree ("webhook_id","status","created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_type" ON "webhook_deliveries" USING btree ("webhook_id","event_type","created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_event" ON "webhook_deliveries" USING btree ("webhook_id","event_id","attempt");