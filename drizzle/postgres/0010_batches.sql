CREATE TABLE "batch_lines" (
	"batch_id" text NOT NULL,
	"line" bigint NOT NULL,
	"custom_id" text NOT NULL,
	"from_byte" bigint NOT NULL,
	"to_byte" bigint NOT NULL,
	"tries" bigint NOT NULL,
	"ended_at" bigint,
	"request_id" text,
	"status_code" bigint,
	"body" text,
	"model" text,
	"input_tokens" bigint NOT NULL,
	"cached_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"reasoning_tokens" bigint NOT NULL,
	CONSTRAINT "batch_lines_batch_id_line_pk" PRIMARY KEY("batch_id","line")
);
--> statement-breakpoint
CREATE TABLE "batches" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"user_id" text NOT NULL,
	"api_key_id" text,
	"active_org_id" text,
	"request_id" text NOT NULL,
	"job_id" text NOT NULL,
	"endpoint" text NOT NULL,
	"input_file_id" text NOT NULL,
	"status" text NOT NULL,
	"model" text,
	"errors" jsonb,
	"total" bigint NOT NULL,
	"completed" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"usage" jsonb,
	"output_file_id" text,
	"error_file_id" text,
	"output_life_s" bigint,
	"metadata" jsonb,
	"created_at" bigint NOT NULL,
	"in_progress_at" bigint,
	"expires_at" bigint NOT NULL,
	"finalizing_at" bigint,
	"completed_at" bigint,
	"failed_at" bigint,
	"expired_at" bigint,
	"cancelling_at" bigint,
	"cancelled_at" bigint
);
--> statement-breakpoint
CREATE INDEX "batch_lines_left" ON "batch_lines" USING btree ("batch_id","line") WHERE "batch_lines"."ended_at" is null;--> statement-breakpoint
CREATE INDEX "batch_lines_ended" ON "batch_lines" USING btree ("batch_id","ended_at","line") WHERE "batch_lines"."ended_at" is not null;--> statement-breakpoint
CREATE INDEX "batches_by_owner" ON "batches" USING btree ("owner","created_at","id");--> statement-breakpoint
CREATE INDEX "batches_by_age" ON "batches" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "batches_open" ON "batches" USING btree ("owner") WHERE "batches"."status" in ('validating', 'in_progress', 'finalizing', 'cancelling');