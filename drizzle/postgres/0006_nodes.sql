ALTER TABLE "nodes" ADD COLUMN "since" bigint;--> statement-breakpoint
ALTER TABLE "nodes" ADD COLUMN "state" jsonb;--> statement-breakpoint
ALTER TABLE "nodes" ADD COLUMN "drain_at" bigint;