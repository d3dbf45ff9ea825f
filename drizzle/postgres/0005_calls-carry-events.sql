ALTER TABLE "usage_records" ADD COLUMN "seq" bigint;--> statement-breakpoint
ALTER TABLE "usage_records" ADD COLUMN "event_id" text;--> statement-breakpoint
ALTER TABLE "usage_records" ADD COLUMN "action" text;--> statement-breakpoint
ALTER TABLE "usage_records" ADD COLUMN "entity_type" text;--> statement-breakpoint
ALTER TABLE "usage_records" ADD COLUMN "entity_id" text;--> statement-breakpoint
ALTER TABLE "usage_records" ADD COLUMN "input" text;--> statement-breakpoint
ALTER TABLE "usage_records" ADD COLUMN "output" text;--> statement-breakpoint
ALTER TABLE "usage_records" ADD COLUMN "prev_hash" text;--> statement-breakpoint
ALTER TABLE "usage_records" ADD COLUMN "hash" text;--> statement-breakpoint
CREATE UNIQUE INDEX "usage_records_by_seq" ON "usage_records" USING btree ("owner","seq");--> statement-breakpoint
CREATE INDEX "usage_records_by_entity" ON "usage_records" USING btree ("owner","entity_id","seq") WHERE "usage_records"."entity_type" <> 'completion';
--> statement-breakpoint
CREATE TRIGGER usage_records_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON usage_records FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE VIEW audit_log AS SELECT scope, seq, id, at, action, entity_type, entity_id, user_id, org_id, api_key_id, request_id, input, output, mode, status, prev_hash, hash FROM audit_events UNION ALL SELECT owner, seq, event_id, at, action, entity_type, entity_id, user_id, CAST(CASE WHEN owner LIKE 'org:%' THEN substr(owner, 5) END AS text), api_key_id, request_id, input, output, mode, status, prev_hash, hash FROM usage_records WHERE seq IS NOT NULL;
