ALTER TABLE "artifacts" ADD COLUMN "request_id" text;--> statement-breakpoint
ALTER TABLE "artifacts" ADD COLUMN "job_id" text;--> statement-breakpoint
CREATE INDEX "artifacts_by_request" ON "artifacts" USING btree ("owner","request_id","created_at","id") WHERE "artifacts"."request_id" is not null;--> statement-breakpoint
CREATE INDEX "artifacts_by_job" ON "artifacts" USING btree ("owner","job_id","created_at","id") WHERE "artifacts"."job_id" is not null;