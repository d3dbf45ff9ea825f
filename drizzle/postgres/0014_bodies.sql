CREATE TABLE "request_bodies" (
	"request_id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"request" text NOT NULL,
	"response" text,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "user_settings" ADD COLUMN "keep_bodies" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "user_settings" ADD COLUMN "keep_bodies_days" bigint DEFAULT 7 NOT NULL;--> statement-breakpoint
ALTER TABLE "user_settings" ADD COLUMN "shortcuts" boolean DEFAULT true NOT NULL;--> statement-breakpoint
CREATE INDEX "request_bodies_by_owner" ON "request_bodies" USING btree ("owner");--> statement-breakpoint
CREATE INDEX "request_bodies_expiring" ON "request_bodies" USING btree ("expires_at");