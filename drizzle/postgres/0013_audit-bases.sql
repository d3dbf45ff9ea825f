CREATE TABLE "audit_bases" (
	"scope" text PRIMARY KEY NOT NULL,
	"seq" bigint NOT NULL,
	"hash" text NOT NULL,
	"at" bigint NOT NULL,
	"event_seq" bigint NOT NULL
);
--> statement-breakpoint
DROP TRIGGER usage_records_no_change ON usage_records;
--> statement-breakpoint
CREATE TRIGGER usage_records_no_change BEFORE UPDATE OR TRUNCATE ON usage_records FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE FUNCTION refuse_unarchived() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NOT EXISTS (SELECT 1 FROM audit_bases WHERE scope = OLD.owner AND OLD.at <= audit_bases.at AND (OLD.seq IS NULL OR OLD.seq <= audit_bases.seq)) THEN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END IF; RETURN OLD; END $$;
--> statement-breakpoint
CREATE TRIGGER usage_records_no_delete BEFORE DELETE ON usage_records FOR EACH ROW EXECUTE FUNCTION refuse_unarchived();
