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
CREATE INDEX `audit_events_by_entity` ON `audit_events` (`scope`,`entity_id`,`seq`) WHERE "audit_events"."entity_type" <> 'completion';--> statement-breakpoint
CREATE TABLE `audit_heads` (
	`scope` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL,
	`hash` text NOT NULL,
	`at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `billing_limits` (
	`owner` text PRIMARY KEY NOT NULL,
	`daily_cap_cents` integer,
	`monthly_cap_cents` integer,
	`low_balance_threshold_cents` integer NOT NULL,
	`top_up_enabled` integer NOT NULL,
	`top_up_threshold_cents` integer,
	`top_up_amount_cents` integer,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `expiring_grants` (
	`ref` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`remaining` integer NOT NULL,
	`seen_balance` integer NOT NULL,
	`granted_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`due_at` integer NOT NULL,
	`takings` integer NOT NULL,
	CONSTRAINT "expiring_grants_remaining" CHECK("expiring_grants"."remaining" >= 0)
);
--> statement-breakpoint
CREATE INDEX `expiring_grants_by_owner` ON `expiring_grants` (`owner`,`expires_at`) WHERE "expiring_grants"."remaining" > 0;--> statement-breakpoint
CREATE INDEX `expiring_grants_due` ON `expiring_grants` (`due_at`) WHERE "expiring_grants"."remaining" > 0;--> statement-breakpoint
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
) WITHOUT ROWID;
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
CREATE TABLE `wallets` (
	`id` text PRIMARY KEY NOT NULL,
	`balance` integer NOT NULL,
	`held` integer NOT NULL,
	`capped` integer NOT NULL,
	CONSTRAINT "wallets_balance" CHECK("wallets"."balance" >= 0),
	CONSTRAINT "wallets_held" CHECK("wallets"."held" >= 0 AND "wallets"."held" <= "wallets"."balance")
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `browser_actions` (
	`id` integer PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	`owner` text NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`tool` text NOT NULL,
	`input` text NOT NULL,
	`target` text,
	`ok` integer NOT NULL,
	`result` text NOT NULL,
	`url` text NOT NULL,
	`frame` text
);
--> statement-breakpoint
CREATE INDEX `browser_actions_of_session` ON `browser_actions` (`session_id`,`id`);--> statement-breakpoint
CREATE TABLE `browser_calls` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`session_id` text NOT NULL,
	`node` text NOT NULL,
	`at` integer NOT NULL,
	`taken` integer NOT NULL,
	`order` text NOT NULL,
	`answer` text
);
--> statement-breakpoint
CREATE INDEX `browser_calls_waiting` ON `browser_calls` (`node`) WHERE "browser_calls"."answer" is null;--> statement-breakpoint
CREATE TABLE `browser_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`holder` text NOT NULL,
	`user_id` text NOT NULL,
	`key_id` text,
	`request_id` text NOT NULL,
	`node` text NOT NULL,
	`region` text NOT NULL,
	`keep_alive` integer NOT NULL,
	`proxies` integer NOT NULL,
	`recorded` integer NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`started_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`last_active_at` integer NOT NULL,
	`seen_at` integer NOT NULL,
	`ended_at` integer,
	`view_version` integer NOT NULL,
	`url` text,
	`title` text,
	`favicon_url` text,
	`viewers` integer NOT NULL,
	`proxy_bytes` integer NOT NULL,
	`hold` text,
	`caps` text NOT NULL,
	`refused_at` integer,
	`cost_micro` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `browser_sessions_active` ON `browser_sessions` (`node`) WHERE "browser_sessions"."state" = 'active';--> statement-breakpoint
CREATE INDEX `browser_sessions_of_user` ON `browser_sessions` (`user_id`) WHERE "browser_sessions"."state" = 'active';--> statement-breakpoint
CREATE INDEX `browser_sessions_by_owner` ON `browser_sessions` (`owner`,`holder`,`started_at`);--> statement-breakpoint
CREATE TABLE `canvas_versions` (
	`id` text PRIMARY KEY NOT NULL,
	`canvas_id` text NOT NULL,
	`version` text NOT NULL,
	`graph` text NOT NULL,
	`graph_bytes` integer NOT NULL,
	`manifest` text NOT NULL,
	`visibility` text NOT NULL,
	`skill_id` text NOT NULL,
	`submission_id` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `canvas_versions_by_canvas` ON `canvas_versions` (`canvas_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `canvases` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`user_id` text NOT NULL,
	`org_id` text,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`description` text,
	`status` text NOT NULL,
	`graph` text NOT NULL,
	`graph_bytes` integer NOT NULL,
	`manifest` text,
	`steps` text,
	`is_public` integer NOT NULL,
	`published_skill_id` text
);
--> statement-breakpoint
CREATE INDEX `canvases_by_owner` ON `canvases` (`owner`,`updated_at`,`id`);--> statement-breakpoint
CREATE INDEX `canvases_by_age` ON `canvases` (`updated_at`,`id`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`token_hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_by_token` ON `sessions` (`token_hash`);--> statement-breakpoint
CREATE INDEX `sessions_by_user` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE INDEX `sessions_by_expiry` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `channels` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`type` text NOT NULL,
	`name` text NOT NULL,
	`status` text NOT NULL,
	`last_message_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `channels_by_owner` ON `channels` (`owner`,`type`,`name`);--> statement-breakpoint
CREATE INDEX `channels_by_silence` ON `channels` (`status`,`last_message_at`);--> statement-breakpoint
CREATE TABLE `conversations` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`title` text,
	`last_message` text,
	`message_count` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `conversations_by_owner` ON `conversations` (`owner`,`updated_at`,`id`);--> statement-breakpoint
CREATE TABLE `memories` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`content` text NOT NULL,
	`source` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `memories_by_owner` ON `memories` (`owner`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `messages` (
	`id` text PRIMARY KEY NOT NULL,
	`conversation_id` text NOT NULL,
	`seq` integer NOT NULL,
	`role` text NOT NULL,
	`content` text NOT NULL,
	`about` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `messages_by_conversation` ON `messages` (`conversation_id`,`seq`);--> statement-breakpoint
CREATE TABLE `bus_events` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`type` text NOT NULL,
	`envelope` text NOT NULL,
	`source` text,
	`depth` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `bus_events_by_owner` ON `bus_events` (`owner`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `bus_events_by_type` ON `bus_events` (`owner`,`type`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `bus_events_by_age` ON `bus_events` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `bus_events_started` ON `bus_events` (`owner`,`created_at`) WHERE "bus_events"."depth" > 0;--> statement-breakpoint
CREATE TABLE `event_subscriptions` (
	`owner` text NOT NULL,
	`stem` text NOT NULL,
	`subscriber` text NOT NULL,
	`target` text NOT NULL,
	`pattern` text NOT NULL,
	PRIMARY KEY(`owner`, `stem`, `subscriber`, `target`, `pattern`)
);
--> statement-breakpoint
CREATE INDEX `event_subscriptions_by_target` ON `event_subscriptions` (`subscriber`,`target`);--> statement-breakpoint
CREATE TABLE `artifacts` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`type` text NOT NULL,
	`title` text,
	`filename` text NOT NULL,
	`mime_type` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`sha256` text NOT NULL,
	`content` text,
	`language` text,
	`format` text,
	`width` integer,
	`height` integer,
	`duration_seconds` real,
	`engine` text NOT NULL,
	`model` text NOT NULL,
	`prompt` text,
	`cost_micro` integer,
	`created_at` integer NOT NULL,
	`expires_at` integer
);
--> statement-breakpoint
CREATE INDEX `artifacts_by_owner` ON `artifacts` (`owner`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `artifacts_expiring` ON `artifacts` (`expires_at`) WHERE "artifacts"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX `artifacts_by_content` ON `artifacts` (`sha256`);--> statement-breakpoint
CREATE TABLE `file_contents` (
	`sha256` text PRIMARY KEY NOT NULL,
	`place` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`refs` integer NOT NULL,
	CONSTRAINT "file_contents_refs" CHECK("file_contents"."refs" >= 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `file_contents_place` ON `file_contents` (`place`);--> statement-breakpoint
CREATE TABLE `file_owners` (
	`owner` text PRIMARY KEY NOT NULL,
	`files` integer NOT NULL,
	`bytes` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `guardrail_policies` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`user_id` text NOT NULL,
	`org_id` text,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`description` text,
	`rules` text NOT NULL,
	`is_default` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `guardrail_policies_by_owner` ON `guardrail_policies` (`owner`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `guardrail_policies_by_age` ON `guardrail_policies` (`created_at`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `guardrail_policies_default` ON `guardrail_policies` (`owner`) WHERE "guardrail_policies"."is_default";--> statement-breakpoint
CREATE TABLE `sign_in_failures` (
	`subject` text PRIMARY KEY NOT NULL,
	`times` text NOT NULL,
	`last_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sign_in_failures_by_age` ON `sign_in_failures` (`last_at`);--> statement-breakpoint
CREATE TABLE `hooks` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`user_id` text NOT NULL,
	`org_id` text,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`api_key_id` text,
	`preset` text,
	`pattern` text NOT NULL,
	`skill_id` text NOT NULL,
	`slug` text NOT NULL,
	`enabled` integer NOT NULL,
	`disabled_reason` text,
	`cooldown_minutes` integer NOT NULL,
	`consecutive_failures` integer NOT NULL,
	`last_fired_at` integer,
	`config` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `hooks_by_owner` ON `hooks` (`owner`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `hooks_by_age` ON `hooks` (`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`user_id` text NOT NULL,
	`key` text NOT NULL,
	`request_id` text NOT NULL,
	`fingerprint` text NOT NULL,
	`status` integer,
	`body` text,
	`lease_until` integer NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `key`),
	CONSTRAINT "idempotency_keys_answer" CHECK(("idempotency_keys"."status" IS NULL) = ("idempotency_keys"."body" IS NULL))
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_by_end` ON `idempotency_keys` (`expires_at`);--> statement-breakpoint
CREATE TABLE `job_asks` (
	`seq` integer PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`unique_key` text NOT NULL,
	`owner` text,
	`payload` text,
	`run_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `job_memory` (
	`job_id` text NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	PRIMARY KEY(`job_id`, `name`)
);
--> statement-breakpoint
CREATE TABLE `job_pauses` (
	`kind` text PRIMARY KEY NOT NULL,
	`paused_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `job_serving_time` (
	`id` integer PRIMARY KEY NOT NULL,
	`total_ms` integer NOT NULL,
	`counted_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `job_steps` (
	`job_id` text NOT NULL,
	`seq` integer NOT NULL,
	`at` integer NOT NULL,
	`what` text NOT NULL,
	`attempt` integer NOT NULL,
	`detail` text,
	PRIMARY KEY(`job_id`, `seq`)
);
--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`type` text,
	`state` text NOT NULL,
	`owner` text,
	`key_id` text,
	`fair_key` text NOT NULL,
	`unique_key` text,
	`payload` text,
	`turn` integer,
	`run_at` integer,
	`again_at` integer,
	`lease_until` integer,
	`fence` integer NOT NULL,
	`node` text,
	`attempts` integer NOT NULL,
	`progress` integer NOT NULL,
	`stage` text,
	`result` text,
	`error` text,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`completed_at` integer,
	`lined_up_at` integer
);
--> statement-breakpoint
CREATE INDEX `jobs_line` ON `jobs` (`kind`,`turn`,`id`) WHERE "jobs"."turn" is not null;--> statement-breakpoint
CREATE INDEX `jobs_turns` ON `jobs` (`kind`,`fair_key`,`turn`) WHERE "jobs"."turn" is not null;--> statement-breakpoint
CREATE INDEX `jobs_waiting` ON `jobs` (`run_at`) WHERE "jobs"."run_at" is not null;--> statement-breakpoint
CREATE INDEX `jobs_leases` ON `jobs` (`lease_until`) WHERE "jobs"."lease_until" is not null;--> statement-breakpoint
CREATE INDEX `jobs_busy` ON `jobs` (`kind`,`fair_key`) WHERE "jobs"."lease_until" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `jobs_unique` ON `jobs` (`kind`,`unique_key`);--> statement-breakpoint
CREATE INDEX `jobs_by_owner` ON `jobs` (`owner`,`created_at`,`id`) WHERE "jobs"."type" is not null;--> statement-breakpoint
CREATE INDEX `jobs_shown` ON `jobs` (`created_at`,`id`) WHERE "jobs"."type" is not null;--> statement-breakpoint
CREATE INDEX `jobs_in_line` ON `jobs` (`lined_up_at`) WHERE "jobs"."state" = 'queued' and "jobs"."started_at" is null;--> statement-breakpoint
CREATE INDEX `jobs_ended` ON `jobs` (`completed_at`) WHERE "jobs"."completed_at" is not null;--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`org_id` text,
	`name` text NOT NULL,
	`prefix` text NOT NULL,
	`scopes` text NOT NULL,
	`tier` text NOT NULL,
	`rpm_limit` integer,
	`tpm_limit` integer,
	`daily_cap_cents` integer,
	`monthly_cap_cents` integer,
	`allowed_origins` text NOT NULL,
	`brand_soul` text,
	`routing_preference_id` text,
	`routing_rules` text,
	`routing_floors` text,
	`guardrail_policy_id` text,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`expires_at` integer,
	`revoked_at` integer,
	`rotating_until` integer
);
--> statement-breakpoint
CREATE INDEX `api_keys_by_user` ON `api_keys` (`user_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `api_keys_by_org` ON `api_keys` (`org_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `api_keys_by_age` ON `api_keys` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `api_keys_by_name` ON `api_keys` (`name`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `api_keys_by_prefix` ON `api_keys` (`prefix`);--> statement-breakpoint
CREATE INDEX `api_keys_by_preference` ON `api_keys` (`routing_preference_id`) WHERE "api_keys"."routing_preference_id" is not null;--> statement-breakpoint
CREATE INDEX `api_keys_by_policy` ON `api_keys` (`guardrail_policy_id`) WHERE "api_keys"."guardrail_policy_id" is not null;--> statement-breakpoint
CREATE TABLE `key_secrets` (
	`hash` text PRIMARY KEY NOT NULL,
	`key_id` text NOT NULL,
	`ends_at` integer
);
--> statement-breakpoint
CREATE INDEX `key_secrets_by_key` ON `key_secrets` (`key_id`);--> statement-breakpoint
CREATE TABLE `sign_in_places` (
	`account` text NOT NULL,
	`network` text NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`account`, `network`)
);
--> statement-breakpoint
CREATE INDEX `sign_in_places_by_age` ON `sign_in_places` (`last_at`);--> statement-breakpoint
CREATE TABLE `database_secrets` (
	`id` integer PRIMARY KEY NOT NULL,
	`fingerprint` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `nodes` (
	`id` text PRIMARY KEY NOT NULL,
	`home` text,
	`roles` text,
	`own_files` integer,
	`lease_until` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `operator_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`role` text NOT NULL,
	`prefix` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`expires_at` integer,
	`revoked_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `operator_keys_by_hash` ON `operator_keys` (`hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `operator_keys_by_name` ON `operator_keys` (`name`) WHERE "operator_keys"."revoked_at" is null;--> statement-breakpoint
CREATE TABLE `invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`email` text NOT NULL,
	`role` text NOT NULL,
	`token_hash` text NOT NULL,
	`invited_by` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`accepted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_by_org_email` ON `invitations` (`org_id`,`email`);--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_by_token` ON `invitations` (`token_hash`);--> statement-breakpoint
CREATE TABLE `members` (
	`org_id` text NOT NULL,
	`user_id` text NOT NULL,
	`role` text NOT NULL,
	`joined_at` integer NOT NULL,
	`org_created_at` integer NOT NULL,
	PRIMARY KEY(`org_id`, `user_id`)
);
--> statement-breakpoint
CREATE INDEX `members_by_user` ON `members` (`user_id`,`org_created_at`,`org_id`);--> statement-breakpoint
CREATE TABLE `orgs` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`slug` text NOT NULL,
	`type` text NOT NULL,
	`plan_note` text,
	`suspended_at` integer,
	`deleted_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `orgs_by_slug` ON `orgs` (`slug`);--> statement-breakpoint
CREATE INDEX `orgs_by_age` ON `orgs` (`created_at`,`id`) WHERE "orgs"."deleted_at" is null;--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`name` text,
	`password_hash` text,
	`platform_role` text,
	`active_org_id` text,
	`disabled_at` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_by_email` ON `users` (`email`);--> statement-breakpoint
CREATE INDEX `users_by_active_org` ON `users` (`active_org_id`);--> statement-breakpoint
CREATE INDEX `users_by_age` ON `users` (`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `limit_increases` (
	`id` text PRIMARY KEY NOT NULL,
	`subject` text NOT NULL,
	`scope` text NOT NULL,
	`user_id` text NOT NULL,
	`key_id` text,
	`current_tier` text NOT NULL,
	`requested_tier` text NOT NULL,
	`use_case` text NOT NULL,
	`expected_volume` text NOT NULL,
	`status` text NOT NULL,
	`granted_tier` text,
	`reason` text,
	`created_at` integer NOT NULL,
	`decided_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `limit_increases_one_pending` ON `limit_increases` (`subject`) WHERE "limit_increases"."status" = 'pending';--> statement-breakpoint
CREATE INDEX `limit_increases_by_age` ON `limit_increases` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `limit_increases_by_status` ON `limit_increases` (`status`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `routing_corrections` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`user_id` text NOT NULL,
	`completion_id` text,
	`prompt` text,
	`resolved_mode` text,
	`expected_mode` text NOT NULL,
	`wrong_at` integer,
	`expected_engine` text,
	`note` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `routing_corrections_by_owner` ON `routing_corrections` (`owner`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `routing_corrections_by_mode` ON `routing_corrections` (`owner`,`expected_mode`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `routing_preferences` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`user_id` text NOT NULL,
	`org_id` text,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`description` text,
	`rules` text NOT NULL,
	`examples` text NOT NULL,
	`floors` text NOT NULL,
	`is_default` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `routing_preferences_by_owner` ON `routing_preferences` (`owner`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `routing_preferences_by_age` ON `routing_preferences` (`created_at`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `routing_preferences_default` ON `routing_preferences` (`owner`) WHERE "routing_preferences"."is_default";--> statement-breakpoint
CREATE TABLE `used_links` (
	`once` text PRIMARY KEY NOT NULL,
	`until` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `used_links_by_end` ON `used_links` (`until`);--> statement-breakpoint
CREATE TABLE `user_settings` (
	`user_id` text PRIMARY KEY NOT NULL,
	`default_mode` text NOT NULL,
	`personality` text NOT NULL,
	`timezone` text NOT NULL,
	`svc_branding` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `skill_runs` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`user_id` text NOT NULL,
	`api_key_id` text,
	`skill_id` text NOT NULL,
	`slug` text NOT NULL,
	`cause` text NOT NULL,
	`source` text,
	`event_id` text,
	`status` text NOT NULL,
	`error` text,
	`output` text,
	`cost_micro` integer NOT NULL,
	`conversation_id` text,
	`created_at` integer NOT NULL,
	`completed_at` integer
);
--> statement-breakpoint
CREATE INDEX `skill_runs_by_owner` ON `skill_runs` (`owner`,`created_at`);--> statement-breakpoint
CREATE INDEX `skill_runs_by_status` ON `skill_runs` (`status`,`created_at`);--> statement-breakpoint
CREATE INDEX `skill_runs_by_source` ON `skill_runs` (`source`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `skill_runs_by_age` ON `skill_runs` (`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `skill_installations` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`skill_id` text NOT NULL,
	`user_id` text NOT NULL,
	`enabled` integer NOT NULL,
	`config` text NOT NULL,
	`intensity` real NOT NULL,
	`priority` integer NOT NULL,
	`api_key_id` text,
	`next_run_at` integer,
	`failures` integer NOT NULL,
	`installed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `skill_installations_by_owner` ON `skill_installations` (`owner`,`skill_id`);--> statement-breakpoint
CREATE INDEX `skill_installations_by_skill` ON `skill_installations` (`skill_id`);--> statement-breakpoint
CREATE INDEX `skill_installations_by_age` ON `skill_installations` (`owner`,`installed_at`,`id`);--> statement-breakpoint
CREATE INDEX `skill_installations_to_run` ON `skill_installations` (`owner`,"priority" desc,"intensity" desc,`installed_at`,`id`);--> statement-breakpoint
CREATE TABLE `skill_reviews` (
	`id` text PRIMARY KEY NOT NULL,
	`skill_id` text NOT NULL,
	`user_id` text NOT NULL,
	`rating` integer NOT NULL,
	`body` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `skill_reviews_by_user` ON `skill_reviews` (`skill_id`,`user_id`);--> statement-breakpoint
CREATE INDEX `skill_reviews_by_skill` ON `skill_reviews` (`skill_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `skill_submissions` (
	`id` text PRIMARY KEY NOT NULL,
	`skill_id` text NOT NULL,
	`version_id` text NOT NULL,
	`owner` text NOT NULL,
	`author_user_id` text,
	`slug` text NOT NULL,
	`manifest_version` text NOT NULL,
	`visibility` text NOT NULL,
	`org_scope_id` text,
	`status` text NOT NULL,
	`tier` text NOT NULL,
	`auto_approved` integer NOT NULL,
	`reason` text,
	`reason_code` text,
	`claimed_by` text,
	`claimed_until` integer,
	`checks` text NOT NULL,
	`evidence` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `skill_submissions_by_age` ON `skill_submissions` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `skill_submissions_by_owner` ON `skill_submissions` (`owner`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `skill_submissions_by_owner_status` ON `skill_submissions` (`owner`,`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `skill_submissions_by_author` ON `skill_submissions` (`author_user_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `skill_submissions_by_status` ON `skill_submissions` (`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `skill_submissions_by_skill` ON `skill_submissions` (`skill_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `skill_submissions_by_claim` ON `skill_submissions` (`claimed_by`,`claimed_until`) WHERE "skill_submissions"."claimed_by" is not null;--> statement-breakpoint
CREATE TABLE `skill_trials` (
	`owner` text PRIMARY KEY NOT NULL,
	`day` integer NOT NULL,
	`runs` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `skill_versions` (
	`id` text PRIMARY KEY NOT NULL,
	`skill_id` text NOT NULL,
	`version` text NOT NULL,
	`status` text NOT NULL,
	`manifest` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `skill_versions_by_skill` ON `skill_versions` (`skill_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `skills` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`slug` text NOT NULL,
	`owner` text NOT NULL,
	`author_user_id` text,
	`org_scope_id` text,
	`visibility` text NOT NULL,
	`status` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`category` text NOT NULL,
	`keywords` text NOT NULL,
	`version` text NOT NULL,
	`live_version_id` text,
	`draft_version_id` text,
	`listed` integer NOT NULL,
	`install_count` integer NOT NULL,
	`rating_sum` integer NOT NULL,
	`rating_count` integer NOT NULL,
	`rating` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`search_text` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `skills_by_id` ON `skills` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `skills_by_slug` ON `skills` (`slug`);--> statement-breakpoint
CREATE INDEX `skills_by_owner` ON `skills` (`owner`,`seq`);--> statement-breakpoint
CREATE INDEX `skills_by_owner_installs` ON `skills` (`owner`,`install_count`,`seq`);--> statement-breakpoint
CREATE INDEX `skills_by_owner_rating` ON `skills` (`owner`,`rating`,`seq`);--> statement-breakpoint
CREATE INDEX `skills_of_org` ON `skills` (`org_scope_id`,`status`,`seq`) WHERE "skills"."visibility" = 'org';--> statement-breakpoint
CREATE INDEX `skills_of_org_by_installs` ON `skills` (`org_scope_id`,`status`,`install_count`,`seq`) WHERE "skills"."visibility" = 'org';--> statement-breakpoint
CREATE INDEX `skills_of_org_by_rating` ON `skills` (`org_scope_id`,`status`,`rating`,`seq`) WHERE "skills"."visibility" = 'org';--> statement-breakpoint
CREATE INDEX `skills_by_status` ON `skills` (`status`,`seq`);--> statement-breakpoint
CREATE INDEX `skills_by_installs` ON `skills` (`listed`,`install_count`,`seq`);--> statement-breakpoint
CREATE INDEX `skills_by_rating` ON `skills` (`listed`,`rating`,`seq`);--> statement-breakpoint
CREATE INDEX `skills_by_age` ON `skills` (`listed`,`seq`);--> statement-breakpoint
CREATE INDEX `skills_by_category` ON `skills` (`listed`,`category`,`install_count`,`seq`);--> statement-breakpoint
CREATE TABLE `takeovers` (
	`kind` text NOT NULL,
	`subject_id` text NOT NULL,
	`owner` text NOT NULL,
	`status` text NOT NULL,
	`fence` integer NOT NULL,
	`holder_id` text,
	`holder_name` text,
	`since` integer,
	`until` integer,
	`reason` text,
	PRIMARY KEY(`kind`, `subject_id`)
);
--> statement-breakpoint
CREATE INDEX `takeovers_until` ON `takeovers` (`until`);--> statement-breakpoint
CREATE INDEX `takeovers_by_owner` ON `takeovers` (`owner`,`kind`,`status`);--> statement-breakpoint
CREATE TABLE `skill_calls` (
	`skill` text NOT NULL,
	`at` integer NOT NULL,
	`calls` integer NOT NULL,
	PRIMARY KEY(`skill`, `at`)
);
--> statement-breakpoint
CREATE TABLE `grant_codes` (
	`hash` text PRIMARY KEY NOT NULL,
	`amount_cents` integer NOT NULL,
	`note` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	`used_for` text
);
--> statement-breakpoint
CREATE TABLE `spend_days` (
	`subject` text NOT NULL,
	`day` text NOT NULL,
	`spent` integer NOT NULL,
	`held` integer NOT NULL,
	PRIMARY KEY(`subject`, `day`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_cursors` (
	`name` text PRIMARY KEY NOT NULL,
	`position` integer NOT NULL
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
	`classified_us` integer,
	`fallback_used` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `usage_records_by_owner` ON `usage_records` (`owner`,`at`);--> statement-breakpoint
CREATE TABLE `usage_rollups` (
	`owner` text NOT NULL,
	`grain` text NOT NULL,
	`api_key` text NOT NULL,
	`at` integer NOT NULL,
	`skill` text NOT NULL,
	`mode` text NOT NULL,
	`resolved_mode` text NOT NULL,
	`model` text NOT NULL,
	`requests` integer NOT NULL,
	`prompt_tokens` integer NOT NULL,
	`completion_tokens` integer NOT NULL,
	`cost_micro` integer NOT NULL,
	`cached` integer NOT NULL,
	`client_errors` integer NOT NULL,
	`server_errors` integer NOT NULL,
	`refused` integer NOT NULL,
	`latency` text NOT NULL,
	PRIMARY KEY(`owner`, `grain`, `api_key`, `at`, `skill`, `mode`, `resolved_mode`, `model`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_skills` (
	`record_id` integer NOT NULL,
	`skill` text NOT NULL,
	PRIMARY KEY(`record_id`, `skill`)
);
--> statement-breakpoint
CREATE TABLE `usage_speeds` (
	`owner` text NOT NULL,
	`grain` text NOT NULL,
	`at` integer NOT NULL,
	`mode` text NOT NULL,
	`ttft` text NOT NULL,
	`classified` text NOT NULL,
	`failovers` integer NOT NULL,
	PRIMARY KEY(`owner`, `grain`, `at`, `mode`)
);
--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`webhook_id` text NOT NULL,
	`owner` text NOT NULL,
	`event_id` text NOT NULL,
	`event_type` text NOT NULL,
	`http_status` integer,
	`error_message` text,
	`status` text NOT NULL,
	`attempt` integer NOT NULL,
	`next_retry_at` integer,
	`duration_ms` integer NOT NULL,
	`bytes` integer,
	`signature` text,
	`secret_version` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `webhook_deliveries_of` ON `webhook_deliveries` (`webhook_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_age` ON `webhook_deliveries` (`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `webhook_outbox` (
	`seq` integer PRIMARY KEY NOT NULL,
	`webhook_id` text NOT NULL,
	`event_id` text NOT NULL,
	`event_type` text NOT NULL,
	`attempt` integer NOT NULL,
	`due_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `webhook_outbox_due` ON `webhook_outbox` (`webhook_id`,`due_at`,`seq`);--> statement-breakpoint
CREATE INDEX `webhook_outbox_order` ON `webhook_outbox` (`webhook_id`,`seq`);--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_outbox_once` ON `webhook_outbox` (`webhook_id`,`event_id`);--> statement-breakpoint
CREATE TABLE `webhooks` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`user_id` text NOT NULL,
	`org_id` text,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`url` text NOT NULL,
	`event_types` text NOT NULL,
	`description` text,
	`secret` text NOT NULL,
	`previous_secret` text,
	`previous_until` integer,
	`secret_version` integer NOT NULL,
	`enabled` integer NOT NULL,
	`ordered` integer NOT NULL,
	`lane` text NOT NULL,
	`disabled_reason` text,
	`last_delivered_at` integer,
	`failure_count` integer NOT NULL,
	`failing_since` integer,
	`successes` integer NOT NULL,
	`failures` integer NOT NULL,
	`listens_until` integer,
	`tests` integer NOT NULL,
	`tests_since` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `webhooks_by_owner` ON `webhooks` (`owner`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `webhooks_by_age` ON `webhooks` (`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `widget_messages` (
	`id` text PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	`config_id` text NOT NULL,
	`seq` integer NOT NULL,
	`role` text NOT NULL,
	`content` text NOT NULL,
	`artifacts` text NOT NULL,
	`ip_hash` text,
	`failed` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `widget_messages_by_session` ON `widget_messages` (`session_id`,`seq`);--> statement-breakpoint
CREATE INDEX `widget_messages_by_address` ON `widget_messages` (`config_id`,`ip_hash`,`created_at`);--> statement-breakpoint
CREATE TABLE `payment_customers` (
	`owner` text NOT NULL,
	`provider` text NOT NULL,
	`customer` text NOT NULL,
	PRIMARY KEY(`owner`, `provider`)
);
--> statement-breakpoint
CREATE TABLE `widget_notes` (
	`id` text PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	`config_id` text NOT NULL,
	`author_id` text NOT NULL,
	`author_name` text NOT NULL,
	`content` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `widget_notes_by_session` ON `widget_notes` (`session_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `widget_notes_by_widget` ON `widget_notes` (`config_id`);--> statement-breakpoint
CREATE TABLE `widget_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`config_id` text NOT NULL,
	`owner` text NOT NULL,
	`token_hash` text NOT NULL,
	`token_origin` text,
	`status` text NOT NULL,
	`takeover_status` text NOT NULL,
	`operator_id` text,
	`operator_name` text,
	`reason` text,
	`takeovers` integer NOT NULL,
	`visitor_id` text NOT NULL,
	`ip_hash` text NOT NULL,
	`user_agent` text,
	`origin` text,
	`page_url` text,
	`identity` text,
	`context` text,
	`message_count` integer NOT NULL,
	`asked` integer NOT NULL,
	`first_asked_at` integer,
	`first_response_ms` integer,
	`cost_micro` integer NOT NULL,
	`conversation_id` text,
	`waited_ms` integer,
	`left_at` integer,
	`rating` integer,
	`comment` text,
	`created_at` integer NOT NULL,
	`last_message_at` integer NOT NULL,
	`changed_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `widget_sessions_by_config` ON `widget_sessions` (`config_id`,`last_message_at`,`id`);--> statement-breakpoint
CREATE INDEX `widget_sessions_by_age` ON `widget_sessions` (`config_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `widget_sessions_by_standing` ON `widget_sessions` (`takeover_status`,`last_message_at`,`id`);--> statement-breakpoint
CREATE INDEX `widget_sessions_by_address` ON `widget_sessions` (`config_id`,`ip_hash`,`created_at`);--> statement-breakpoint
CREATE INDEX `widget_sessions_by_visitor` ON `widget_sessions` (`config_id`,`visitor_id`);--> statement-breakpoint
CREATE INDEX `widget_sessions_changed` ON `widget_sessions` (`changed_at`);--> statement-breakpoint
CREATE INDEX `widget_sessions_waits` ON `widget_sessions` (`config_id`,`changed_at`) WHERE "widget_sessions"."waited_ms" is not null;--> statement-breakpoint
CREATE TABLE `widgets` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`user_id` text NOT NULL,
	`org_id` text,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`status` text NOT NULL,
	`api_key_id` text NOT NULL,
	`key_owner` text NOT NULL,
	`appearance` text NOT NULL,
	`behavior` text NOT NULL,
	`security` text NOT NULL,
	`intents` text NOT NULL,
	`identity_version` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `widgets_by_owner` ON `widgets` (`owner`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `widgets_by_age` ON `widgets` (`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `workflow_runs` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`workflow_id` text NOT NULL,
	`name` text NOT NULL,
	`user_id` text NOT NULL,
	`api_key_id` text,
	`active_org_id` text,
	`steps` text NOT NULL,
	`trigger_type` text NOT NULL,
	`trigger_data` text,
	`depth` integer NOT NULL,
	`status` text NOT NULL,
	`next` integer,
	`executed` integer NOT NULL,
	`turn` integer NOT NULL,
	`stepwise` integer NOT NULL,
	`pause` text,
	`warnings` text NOT NULL,
	`error` text,
	`output` text,
	`once` text,
	`created_at` integer NOT NULL,
	`completed_at` integer
);
--> statement-breakpoint
CREATE INDEX `workflow_runs_by_workflow` ON `workflow_runs` (`workflow_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `workflow_runs_by_end` ON `workflow_runs` (`completed_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `workflow_runs_once` ON `workflow_runs` (`once`);--> statement-breakpoint
CREATE TABLE `workflow_steps` (
	`run_id` text NOT NULL,
	`seq` integer NOT NULL,
	`index` integer NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`status` text NOT NULL,
	`output` text,
	`error` text,
	`cost_micro` integer NOT NULL,
	`started_at` integer NOT NULL,
	`completed_at` integer,
	PRIMARY KEY(`run_id`, `seq`)
);
--> statement-breakpoint
CREATE TABLE `workflows` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`user_id` text NOT NULL,
	`org_id` text,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`api_key_id` text,
	`active_org_id` text,
	`trigger_type` text NOT NULL,
	`trigger_config` text NOT NULL,
	`steps` text NOT NULL,
	`enabled` integer NOT NULL,
	`next_run_at` integer,
	`last_run_at` integer,
	`canvas_id` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workflows_of_canvas` ON `workflows` (`canvas_id`);--> statement-breakpoint
CREATE INDEX `workflows_by_owner` ON `workflows` (`owner`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `workflows_by_age` ON `workflows` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `workflows_by_trigger` ON `workflows` (`trigger_type`,`owner`);--> statement-breakpoint
CREATE INDEX `workflows_due` ON `workflows` (`next_run_at`) WHERE "workflows"."next_run_at" is not null;--> statement-breakpoint
CREATE TABLE `payment_events` (
	`id` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `purchases` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`user_id` text,
	`kind` text NOT NULL,
	`provider` text NOT NULL,
	`amount_cents` integer NOT NULL,
	`state` text NOT NULL,
	`session_ref` text,
	`payment_ref` text,
	`success_url` text,
	`cancel_url` text,
	`refunded_cents` integer NOT NULL,
	`refunded_at` integer NOT NULL,
	`disputed_cents` integer NOT NULL,
	`disputed_at` integer NOT NULL,
	`taken` integer NOT NULL,
	`error` text,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	CONSTRAINT "purchases_amount" CHECK("purchases"."amount_cents" > 0)
);
--> statement-breakpoint
CREATE INDEX `purchases_by_owner` ON `purchases` (`owner`,`created_at`);--> statement-breakpoint
CREATE INDEX `purchases_by_payment` ON `purchases` (`payment_ref`);--> statement-breakpoint
CREATE UNIQUE INDEX `purchases_one_top_up` ON `purchases` (`owner`) WHERE "purchases"."kind" = 'top_up' AND "purchases"."state" = 'open';--> statement-breakpoint
CREATE TRIGGER `audit_events_no_update` BEFORE UPDATE ON `audit_events` BEGIN SELECT RAISE(ABORT, 'audit_events is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `audit_events_no_delete` BEFORE DELETE ON `audit_events` BEGIN SELECT RAISE(ABORT, 'audit_events is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `audit_events_no_replace` BEFORE INSERT ON `audit_events` WHEN EXISTS (SELECT 1 FROM `audit_events` WHERE `scope` = NEW.`scope` AND `seq` = NEW.`seq`) BEGIN SELECT RAISE(ABORT, 'audit_events is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `ledger_entries_no_update` BEFORE UPDATE ON `ledger_entries` BEGIN SELECT RAISE(ABORT, 'ledger_entries is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `ledger_entries_no_delete` BEFORE DELETE ON `ledger_entries` BEGIN SELECT RAISE(ABORT, 'ledger_entries is append-only'); END;
--> statement-breakpoint
CREATE VIRTUAL TABLE `skills_search` USING fts5(words, content='', tokenize='unicode61 remove_diacritics 0', detail='none', columnsize=0, prefix='3 4');
--> statement-breakpoint
CREATE TABLE `skill_words` (`word` text PRIMARY KEY) WITHOUT ROWID;
--> statement-breakpoint
CREATE TRIGGER `skills_search_insert` AFTER INSERT ON `skills` WHEN new.listed BEGIN INSERT INTO skills_search(rowid, words) SELECT place, char(57344) || new.category || ' ' || new.search_text FROM (SELECT (new.install_count << 32) | new.seq AS place UNION ALL SELECT (1 << 60) | (new.rating << 32) | new.seq UNION ALL SELECT (2 << 60) | new.seq); INSERT OR IGNORE INTO skill_words SELECT value FROM json_each('["' || replace(new.search_text, ' ', '","') || '"]'); END;
--> statement-breakpoint
CREATE TRIGGER `skills_search_delete` AFTER DELETE ON `skills` WHEN old.listed BEGIN INSERT INTO skills_search(skills_search, rowid, words) SELECT 'delete', place, char(57344) || old.category || ' ' || old.search_text FROM (SELECT (old.install_count << 32) | old.seq AS place UNION ALL SELECT (1 << 60) | (old.rating << 32) | old.seq UNION ALL SELECT (2 << 60) | old.seq); END;
--> statement-breakpoint
CREATE TRIGGER `skills_search_update` AFTER UPDATE OF search_text, category, listed, install_count, rating ON `skills` BEGIN INSERT INTO skills_search(skills_search, rowid, words) SELECT 'delete', place, char(57344) || old.category || ' ' || old.search_text FROM (SELECT (old.install_count << 32) | old.seq AS place, old.install_count <> new.install_count AS moved UNION ALL SELECT (1 << 60) | (old.rating << 32) | old.seq, old.rating <> new.rating UNION ALL SELECT (2 << 60) | old.seq, 0) WHERE old.listed AND (moved OR old.search_text <> new.search_text OR old.category <> new.category OR NOT new.listed); INSERT INTO skills_search(rowid, words) SELECT place, char(57344) || new.category || ' ' || new.search_text FROM (SELECT (new.install_count << 32) | new.seq AS place, old.install_count <> new.install_count AS moved UNION ALL SELECT (1 << 60) | (new.rating << 32) | new.seq, old.rating <> new.rating UNION ALL SELECT (2 << 60) | new.seq, 0) WHERE new.listed AND (moved OR old.search_text <> new.search_text OR old.category <> new.category OR NOT old.listed); INSERT OR IGNORE INTO skill_words SELECT value FROM json_each('["' || replace(new.search_text, ' ', '","') || '"]') WHERE new.listed AND (old.search_text <> new.search_text OR NOT old.listed); END;
