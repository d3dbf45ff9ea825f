CREATE TABLE "sign_in_links" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"leads_to" text NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
DROP TABLE "used_links" CASCADE;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "link_at" bigint;--> statement-breakpoint
CREATE INDEX "sign_in_links_by_user" ON "sign_in_links" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sign_in_links_by_expiry" ON "sign_in_links" USING btree ("expires_at");