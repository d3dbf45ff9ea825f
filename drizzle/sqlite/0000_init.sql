CREATE TABLE `audit_events` (
	`scope` text NOT NULL,
	`seq` integer NOT NULL,
	`id` text NOT NULL,
	`at` integer NOT NULL,
	`action` text NOT NULL,
	`entity_type` text NOT NULL,
	`entity_id` text,
	`user_id` text,
	`org_id` text,
	`api_key_id` text,
	`request_id` text NOT NULL,
	`input` text NOT NULL,
	`output` text NOT NULL,
	`mode` text,
	`status` integer,
	`prev_hash` text NOT NULL,
	`hash` text NOT NULL,
	PRIMARY KEY(`scope`, `seq`)
);
--> statement-breakpoint
CREATE INDEX `audit_events_by_time` ON `audit_events` (`scope`,`at`);--> statement-breakpoint
CREATE INDEX `audit_events_by_request` ON `audit_events` (`scope`,`request_id`);--> statement-breakpoint
CREATE INDEX `audit_events_by_entity` ON `audit_events` (`scope`,`entity_id`);--> statement-breakpoint
CREATE TABLE `audit_heads` (
	`scope` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL,
	`hash` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `holds` (
	`ref` text PRIMARY KEY NOT NULL,
	`wallet_id` text NOT NULL,
	`key_id` text,
	`capped` integer NOT NULL,
	`amount` integer NOT NULL,
	`state` text NOT NULL,
	`settled_amount` integer NOT NULL,
	`node` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	CONSTRAINT "holds_amount" CHECK("holds"."amount" > 0),
	CONSTRAINT "holds_settled" CHECK("holds"."settled_amount" >= 0 AND "holds"."settled_amount" <= "holds"."amount")
);
--> statement-breakpoint
CREATE INDEX `holds_open` ON `holds` (`expires_at`) WHERE "holds"."state" = 'open';--> statement-breakpoint
CREATE TABLE `ledger_entries` (
	`id` integer PRIMARY KEY NOT NULL,
	`ref` text NOT NULL,
	`kind` text NOT NULL,
	`account` text NOT NULL,
	`amount` integer NOT NULL,
	`at` integer NOT NULL,
	`note` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_entries_once` ON `ledger_entries` (`ref`,`kind`,`account`);--> statement-breakpoint
CREATE TABLE `spend_days` (
	`subject` text NOT NULL,
	`day` text NOT NULL,
	`spent` integer NOT NULL,
	`held` integer NOT NULL,
	PRIMARY KEY(`subject`, `day`)
);
--> statement-breakpoint
CREATE TABLE `usage_records` (
	`id` integer PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`at` integer NOT NULL,
	`request_id` text NOT NULL,
	`user_id` text,
	`api_key_id` text,
	`endpoint` text NOT NULL,
	`mode` text,
	`resolved_mode` text,
	`model` text,
	`status` integer NOT NULL,
	`prompt_tokens` integer NOT NULL,
	`completion_tokens` integer NOT NULL,
	`cost_micro` integer NOT NULL,
	`cached` integer NOT NULL,
	`latency_ms` integer NOT NULL,
	`ttft_ms` integer,
	`fallback_used` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `usage_records_by_owner` ON `usage_records` (`owner`,`at`);--> statement-breakpoint
CREATE TABLE `wallets` (
	`id` text PRIMARY KEY NOT NULL,
	`balance` integer NOT NULL,
	`held` integer NOT NULL,
	CONSTRAINT "wallets_balance" CHECK("wallets"."balance" >= 0),
	CONSTRAINT "wallets_held" CHECK("wallets"."held" >= 0 AND "wallets"."held" <= "wallets"."balance")
);
--> statement-breakpoint
CREATE TRIGGER `audit_events_no_update` BEFORE UPDATE ON `audit_events` BEGIN SELECT RAISE(ABORT, 'audit_events is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `audit_events_no_delete` BEFORE DELETE ON `audit_events` BEGIN SELECT RAISE(ABORT, 'audit_events is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `ledger_entries_no_update` BEFORE UPDATE ON `ledger_entries` BEGIN SELECT RAISE(ABORT, 'ledger_entries is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `ledger_entries_no_delete` BEFORE DELETE ON `ledger_entries` BEGIN SELECT RAISE(ABORT, 'ledger_entries is append-only'); END;
