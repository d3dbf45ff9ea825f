CREATE TABLE "audit_events" (
	"scope" text NOT NULL,
	"seq" bigint NOT NULL,
	"id" text NOT NULL,
	"at" bigint NOT NULL,
	"action" text NOT NULL,
	"entity_type" text NOT NULL,
	"entity_id" text,
	"user_id" text,
	"org_id" text,
	"api_key_id" text,
	"request_id" text NOT NULL,
	"input" text NOT NULL,
	"output" text NOT NULL,
	"mode" text,
	"status" bigint,
	"prev_hash" text NOT NULL,
	"hash" text NOT NULL,
	CONSTRAINT "audit_events_scope_seq_pk" PRIMARY KEY("scope","seq")
);
--> statement-breakpoint
CREATE TABLE "audit_heads" (
	"scope" text PRIMARY KEY NOT NULL,
	"seq" bigint NOT NULL,
	"hash" text NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "billing_limits" (
	"owner" text PRIMARY KEY NOT NULL,
	"daily_cap_cents" bigint,
	"monthly_cap_cents" bigint,
	"low_balance_threshold_cents" bigint NOT NULL,
	"top_up_enabled" boolean NOT NULL,
	"top_up_threshold_cents" bigint,
	"top_up_amount_cents" bigint,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "expiring_grants" (
	"ref" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"remaining" bigint NOT NULL,
	"seen_balance" bigint NOT NULL,
	"granted_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"due_at" bigint NOT NULL,
	"takings" bigint NOT NULL,
	CONSTRAINT "expiring_grants_remaining" CHECK ("expiring_grants"."remaining" >= 0)
);
--> statement-breakpoint
CREATE TABLE "holds" (
	"ref" text PRIMARY KEY NOT NULL,
	"wallet_id" text NOT NULL,
	"key_id" text,
	"capped" boolean NOT NULL,
	"amount" bigint NOT NULL,
	"state" text NOT NULL,
	"settled_amount" bigint NOT NULL,
	"node" text NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	CONSTRAINT "holds_amount" CHECK ("holds"."amount" > 0),
	CONSTRAINT "holds_settled" CHECK ("holds"."settled_amount" >= 0 AND "holds"."settled_amount" <= "holds"."amount")
);
--> statement-breakpoint
CREATE TABLE "ledger_entries" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"ref" text NOT NULL,
	"kind" text NOT NULL,
	"account" text NOT NULL,
	"amount" bigint NOT NULL,
	"at" bigint NOT NULL,
	"note" text
);
--> statement-breakpoint
CREATE TABLE "wallets" (
	"id" text PRIMARY KEY NOT NULL,
	"balance" bigint NOT NULL,
	"held" bigint NOT NULL,
	"capped" boolean NOT NULL,
	CONSTRAINT "wallets_balance" CHECK ("wallets"."balance" >= 0),
	CONSTRAINT "wallets_held" CHECK ("wallets"."held" >= 0 AND "wallets"."held" <= "wallets"."balance")
);
--> statement-breakpoint
CREATE TABLE "browser_actions" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"owner" text NOT NULL,
	"at" bigint NOT NULL,
	"actor" text NOT NULL,
	"tool" text NOT NULL,
	"input" text NOT NULL,
	"target" jsonb,
	"ok" boolean NOT NULL,
	"result" text NOT NULL,
	"url" text NOT NULL,
	"frame" text
);
--> statement-breakpoint
CREATE TABLE "browser_calls" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"session_id" text NOT NULL,
	"node" text NOT NULL,
	"at" bigint NOT NULL,
	"taken" boolean NOT NULL,
	"order" text NOT NULL,
	"answer" text
);
--> statement-breakpoint
CREATE TABLE "browser_sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"holder" text NOT NULL,
	"user_id" text NOT NULL,
	"key_id" text,
	"request_id" text NOT NULL,
	"node" text NOT NULL,
	"region" text NOT NULL,
	"keep_alive" boolean NOT NULL,
	"proxies" boolean NOT NULL,
	"recorded" boolean NOT NULL,
	"state" text NOT NULL,
	"reason" text,
	"started_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"last_active_at" bigint NOT NULL,
	"seen_at" bigint NOT NULL,
	"ended_at" bigint,
	"view_version" bigint NOT NULL,
	"url" text,
	"title" text,
	"favicon_url" text,
	"viewers" bigint NOT NULL,
	"proxy_bytes" bigint NOT NULL,
	"hold" jsonb,
	"caps" jsonb NOT NULL,
	"refused_at" bigint,
	"cost_micro" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "canvas_versions" (
	"id" text PRIMARY KEY NOT NULL,
	"canvas_id" text NOT NULL,
	"version" text NOT NULL,
	"graph" jsonb NOT NULL,
	"graph_bytes" bigint NOT NULL,
	"manifest" jsonb NOT NULL,
	"visibility" text NOT NULL,
	"skill_id" text NOT NULL,
	"submission_id" text NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "canvases" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"user_id" text NOT NULL,
	"org_id" text,
	"name" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"description" text,
	"status" text NOT NULL,
	"graph" jsonb NOT NULL,
	"graph_bytes" bigint NOT NULL,
	"manifest" jsonb,
	"steps" jsonb,
	"is_public" boolean NOT NULL,
	"published_skill_id" text
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"token_hash" text NOT NULL,
	"created_at" bigint NOT NULL,
	"last_seen_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "channels" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"type" text NOT NULL,
	"name" text NOT NULL,
	"status" text NOT NULL,
	"last_message_at" bigint NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "conversations" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"title" text,
	"last_message" text,
	"message_count" bigint DEFAULT 0 NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "memories" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"content" text NOT NULL,
	"source" text NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "messages" (
	"id" text PRIMARY KEY NOT NULL,
	"conversation_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"role" text NOT NULL,
	"content" text NOT NULL,
	"about" jsonb,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bus_events" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"type" text NOT NULL,
	"envelope" text NOT NULL,
	"source" text,
	"depth" bigint NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "event_subscriptions" (
	"owner" text NOT NULL,
	"stem" text NOT NULL,
	"subscriber" text NOT NULL,
	"target" text NOT NULL,
	"pattern" text NOT NULL,
	CONSTRAINT "event_subscriptions_owner_stem_subscriber_target_pattern_pk" PRIMARY KEY("owner","stem","subscriber","target","pattern")
);
--> statement-breakpoint
CREATE TABLE "artifacts" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"type" text NOT NULL,
	"title" text,
	"filename" text NOT NULL,
	"mime_type" text NOT NULL,
	"size_bytes" bigint NOT NULL,
	"sha256" text NOT NULL,
	"content" text,
	"language" text,
	"format" text,
	"width" bigint,
	"height" bigint,
	"duration_seconds" double precision,
	"engine" text NOT NULL,
	"model" text NOT NULL,
	"prompt" text,
	"cost_micro" bigint,
	"created_at" bigint NOT NULL,
	"expires_at" bigint
);
--> statement-breakpoint
CREATE TABLE "file_contents" (
	"sha256" text PRIMARY KEY NOT NULL,
	"place" text NOT NULL,
	"size_bytes" bigint NOT NULL,
	"refs" bigint NOT NULL,
	CONSTRAINT "file_contents_refs" CHECK ("file_contents"."refs" >= 0)
);
--> statement-breakpoint
CREATE TABLE "file_owners" (
	"owner" text PRIMARY KEY NOT NULL,
	"files" bigint NOT NULL,
	"bytes" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "guardrail_policies" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"user_id" text NOT NULL,
	"org_id" text,
	"name" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"description" text,
	"rules" jsonb NOT NULL,
	"is_default" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_in_failures" (
	"subject" text PRIMARY KEY NOT NULL,
	"times" jsonb NOT NULL,
	"last_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "hooks" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"user_id" text NOT NULL,
	"org_id" text,
	"name" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"api_key_id" text,
	"preset" text,
	"pattern" text NOT NULL,
	"skill_id" text NOT NULL,
	"slug" text NOT NULL,
	"enabled" boolean NOT NULL,
	"disabled_reason" text,
	"cooldown_minutes" bigint NOT NULL,
	"consecutive_failures" bigint NOT NULL,
	"last_fired_at" bigint,
	"config" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"user_id" text NOT NULL,
	"key" text NOT NULL,
	"request_id" text NOT NULL,
	"fingerprint" text NOT NULL,
	"status" bigint,
	"body" text,
	"lease_until" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	CONSTRAINT "idempotency_keys_user_id_key_pk" PRIMARY KEY("user_id","key"),
	CONSTRAINT "idempotency_keys_answer" CHECK (("idempotency_keys"."status" IS NULL) = ("idempotency_keys"."body" IS NULL))
);
--> statement-breakpoint
CREATE TABLE "job_asks" (
	"seq" bigserial PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"unique_key" text NOT NULL,
	"owner" text,
	"payload" jsonb,
	"run_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "job_memory" (
	"job_id" text NOT NULL,
	"name" text NOT NULL,
	"value" jsonb NOT NULL,
	CONSTRAINT "job_memory_job_id_name_pk" PRIMARY KEY("job_id","name")
);
--> statement-breakpoint
CREATE TABLE "job_pauses" (
	"kind" text PRIMARY KEY NOT NULL,
	"paused_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "job_serving_time" (
	"id" bigint PRIMARY KEY NOT NULL,
	"total_ms" bigint NOT NULL,
	"counted_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "job_steps" (
	"job_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"at" bigint NOT NULL,
	"what" text NOT NULL,
	"attempt" bigint NOT NULL,
	"detail" text,
	CONSTRAINT "job_steps_job_id_seq_pk" PRIMARY KEY("job_id","seq")
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"type" text,
	"state" text NOT NULL,
	"owner" text,
	"key_id" text,
	"fair_key" text NOT NULL,
	"unique_key" text,
	"payload" jsonb,
	"turn" bigint,
	"run_at" bigint,
	"again_at" bigint,
	"lease_until" bigint,
	"fence" bigint NOT NULL,
	"node" text,
	"attempts" bigint NOT NULL,
	"progress" bigint NOT NULL,
	"stage" text,
	"result" jsonb,
	"error" text,
	"created_at" bigint NOT NULL,
	"started_at" bigint,
	"completed_at" bigint,
	"lined_up_at" bigint
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"org_id" text,
	"name" text NOT NULL,
	"prefix" text NOT NULL,
	"scopes" jsonb NOT NULL,
	"tier" text NOT NULL,
	"rpm_limit" bigint,
	"tpm_limit" bigint,
	"daily_cap_cents" bigint,
	"monthly_cap_cents" bigint,
	"allowed_origins" jsonb NOT NULL,
	"brand_soul" jsonb,
	"routing_preference_id" text,
	"routing_rules" jsonb,
	"routing_floors" jsonb,
	"guardrail_policy_id" text,
	"created_at" bigint NOT NULL,
	"last_used_at" bigint,
	"expires_at" bigint,
	"revoked_at" bigint,
	"rotating_until" bigint
);
--> statement-breakpoint
CREATE TABLE "key_secrets" (
	"hash" text PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"ends_at" bigint
);
--> statement-breakpoint
CREATE TABLE "sign_in_places" (
	"account" text NOT NULL,
	"network" text NOT NULL,
	"last_at" bigint NOT NULL,
	CONSTRAINT "sign_in_places_account_network_pk" PRIMARY KEY("account","network")
);
--> statement-breakpoint
CREATE TABLE "database_secrets" (
	"id" bigint PRIMARY KEY NOT NULL,
	"fingerprint" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "nodes" (
	"id" text PRIMARY KEY NOT NULL,
	"home" text,
	"roles" text,
	"own_files" boolean,
	"lease_until" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "operator_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"prefix" text NOT NULL,
	"hash" text NOT NULL,
	"created_at" bigint NOT NULL,
	"last_used_at" bigint,
	"expires_at" bigint,
	"revoked_at" bigint
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"id" text PRIMARY KEY NOT NULL,
	"org_id" text NOT NULL,
	"email" text NOT NULL,
	"role" text NOT NULL,
	"token_hash" text NOT NULL,
	"invited_by" text,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"accepted_at" bigint
);
--> statement-breakpoint
CREATE TABLE "members" (
	"org_id" text NOT NULL,
	"user_id" text NOT NULL,
	"role" text NOT NULL,
	"joined_at" bigint NOT NULL,
	"org_created_at" bigint NOT NULL,
	CONSTRAINT "members_org_id_user_id_pk" PRIMARY KEY("org_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "orgs" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"slug" text NOT NULL,
	"type" text NOT NULL,
	"plan_note" text,
	"suspended_at" bigint,
	"deleted_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" text PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"name" text,
	"password_hash" text,
	"platform_role" text,
	"active_org_id" text,
	"disabled_at" bigint,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "limit_increases" (
	"id" text PRIMARY KEY NOT NULL,
	"subject" text NOT NULL,
	"scope" text NOT NULL,
	"user_id" text NOT NULL,
	"key_id" text,
	"current_tier" text NOT NULL,
	"requested_tier" text NOT NULL,
	"use_case" text NOT NULL,
	"expected_volume" text NOT NULL,
	"status" text NOT NULL,
	"granted_tier" text,
	"reason" text,
	"created_at" bigint NOT NULL,
	"decided_at" bigint
);
--> statement-breakpoint
CREATE TABLE "routing_corrections" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"user_id" text NOT NULL,
	"completion_id" text,
	"prompt" text,
	"resolved_mode" text,
	"expected_mode" text NOT NULL,
	"wrong_at" bigint,
	"expected_engine" text,
	"note" text,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "routing_preferences" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"user_id" text NOT NULL,
	"org_id" text,
	"name" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"description" text,
	"rules" jsonb NOT NULL,
	"examples" jsonb NOT NULL,
	"floors" jsonb NOT NULL,
	"is_default" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "used_links" (
	"once" text PRIMARY KEY NOT NULL,
	"until" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "user_settings" (
	"user_id" text PRIMARY KEY NOT NULL,
	"default_mode" text NOT NULL,
	"personality" text NOT NULL,
	"timezone" text NOT NULL,
	"svc_branding" boolean NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "skill_runs" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"user_id" text NOT NULL,
	"api_key_id" text,
	"skill_id" text NOT NULL,
	"slug" text NOT NULL,
	"cause" text NOT NULL,
	"source" text,
	"event_id" text,
	"status" text NOT NULL,
	"error" text,
	"output" text,
	"cost_micro" bigint NOT NULL,
	"conversation_id" text,
	"created_at" bigint NOT NULL,
	"completed_at" bigint
);
--> statement-breakpoint
CREATE TABLE "skill_installations" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"skill_id" text NOT NULL,
	"user_id" text NOT NULL,
	"enabled" boolean NOT NULL,
	"config" jsonb NOT NULL,
	"intensity" double precision NOT NULL,
	"priority" bigint NOT NULL,
	"api_key_id" text,
	"next_run_at" bigint,
	"failures" bigint NOT NULL,
	"installed_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "skill_reviews" (
	"id" text PRIMARY KEY NOT NULL,
	"skill_id" text NOT NULL,
	"user_id" text NOT NULL,
	"rating" bigint NOT NULL,
	"body" text,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "skill_submissions" (
	"id" text PRIMARY KEY NOT NULL,
	"skill_id" text NOT NULL,
	"version_id" text NOT NULL,
	"owner" text NOT NULL,
	"author_user_id" text,
	"slug" text NOT NULL,
	"manifest_version" text NOT NULL,
	"visibility" text NOT NULL,
	"org_scope_id" text,
	"status" text NOT NULL,
	"tier" text NOT NULL,
	"auto_approved" boolean NOT NULL,
	"reason" text,
	"reason_code" text,
	"claimed_by" text,
	"claimed_until" bigint,
	"checks" jsonb NOT NULL,
	"evidence" jsonb NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "skill_trials" (
	"owner" text PRIMARY KEY NOT NULL,
	"day" bigint NOT NULL,
	"runs" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "skill_versions" (
	"id" text PRIMARY KEY NOT NULL,
	"skill_id" text NOT NULL,
	"version" text NOT NULL,
	"status" text NOT NULL,
	"manifest" jsonb NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "skills" (
	"seq" bigserial PRIMARY KEY NOT NULL,
	"id" text NOT NULL,
	"slug" text NOT NULL,
	"owner" text NOT NULL,
	"author_user_id" text,
	"org_scope_id" text,
	"visibility" text NOT NULL,
	"status" text NOT NULL,
	"name" text NOT NULL,
	"description" text NOT NULL,
	"category" text NOT NULL,
	"keywords" jsonb NOT NULL,
	"version" text NOT NULL,
	"live_version_id" text,
	"draft_version_id" text,
	"listed" boolean NOT NULL,
	"install_count" bigint NOT NULL,
	"rating_sum" bigint NOT NULL,
	"rating_count" bigint NOT NULL,
	"rating" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"search_text" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "takeovers" (
	"kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"owner" text NOT NULL,
	"status" text NOT NULL,
	"fence" bigint NOT NULL,
	"holder_id" text,
	"holder_name" text,
	"since" bigint,
	"until" bigint,
	"reason" text,
	CONSTRAINT "takeovers_kind_subject_id_pk" PRIMARY KEY("kind","subject_id")
);
--> statement-breakpoint
CREATE TABLE "skill_calls" (
	"skill" text NOT NULL,
	"at" bigint NOT NULL,
	"calls" bigint NOT NULL,
	CONSTRAINT "skill_calls_skill_at_pk" PRIMARY KEY("skill","at")
);
--> statement-breakpoint
CREATE TABLE "grant_codes" (
	"hash" text PRIMARY KEY NOT NULL,
	"amount_cents" bigint NOT NULL,
	"note" text,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"used_at" bigint,
	"used_for" text
);
--> statement-breakpoint
CREATE TABLE "spend_days" (
	"subject" text NOT NULL,
	"day" text NOT NULL,
	"spent" bigint NOT NULL,
	"held" bigint NOT NULL,
	CONSTRAINT "spend_days_subject_day_pk" PRIMARY KEY("subject","day")
);
--> statement-breakpoint
CREATE TABLE "usage_cursors" (
	"name" text PRIMARY KEY NOT NULL,
	"position" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "usage_records" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"at" bigint NOT NULL,
	"request_id" text NOT NULL,
	"user_id" text,
	"api_key_id" text,
	"endpoint" text NOT NULL,
	"mode" text,
	"resolved_mode" text,
	"model" text,
	"status" bigint NOT NULL,
	"prompt_tokens" bigint NOT NULL,
	"completion_tokens" bigint NOT NULL,
	"cost_micro" bigint NOT NULL,
	"cached" boolean NOT NULL,
	"latency_ms" bigint NOT NULL,
	"ttft_ms" bigint,
	"classified_us" bigint,
	"fallback_used" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "usage_rollups" (
	"owner" text NOT NULL,
	"grain" text NOT NULL,
	"api_key" text NOT NULL,
	"at" bigint NOT NULL,
	"skill" text NOT NULL,
	"mode" text NOT NULL,
	"resolved_mode" text NOT NULL,
	"model" text NOT NULL,
	"requests" bigint NOT NULL,
	"prompt_tokens" bigint NOT NULL,
	"completion_tokens" bigint NOT NULL,
	"cost_micro" bigint NOT NULL,
	"cached" bigint NOT NULL,
	"client_errors" bigint NOT NULL,
	"server_errors" bigint NOT NULL,
	"refused" bigint NOT NULL,
	"latency" text NOT NULL,
	CONSTRAINT "usage_rollups_owner_grain_api_key_at_skill_mode_resolved_mode_model_pk" PRIMARY KEY("owner","grain","api_key","at","skill","mode","resolved_mode","model")
);
--> statement-breakpoint
CREATE TABLE "usage_skills" (
	"record_id" bigint NOT NULL,
	"skill" text NOT NULL,
	CONSTRAINT "usage_skills_record_id_skill_pk" PRIMARY KEY("record_id","skill")
);
--> statement-breakpoint
CREATE TABLE "usage_speeds" (
	"owner" text NOT NULL,
	"grain" text NOT NULL,
	"at" bigint NOT NULL,
	"mode" text NOT NULL,
	"ttft" text NOT NULL,
	"classified" text NOT NULL,
	"failovers" bigint NOT NULL,
	CONSTRAINT "usage_speeds_owner_grain_at_mode_pk" PRIMARY KEY("owner","grain","at","mode")
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"webhook_id" text NOT NULL,
	"owner" text NOT NULL,
	"event_id" text NOT NULL,
	"event_type" text NOT NULL,
	"http_status" bigint,
	"error_message" text,
	"status" text NOT NULL,
	"attempt" bigint NOT NULL,
	"next_retry_at" bigint,
	"duration_ms" bigint NOT NULL,
	"bytes" bigint,
	"signature" text,
	"secret_version" bigint,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_outbox" (
	"seq" bigserial PRIMARY KEY NOT NULL,
	"webhook_id" text NOT NULL,
	"event_id" text NOT NULL,
	"event_type" text NOT NULL,
	"attempt" bigint NOT NULL,
	"due_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"user_id" text NOT NULL,
	"org_id" text,
	"name" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"url" text NOT NULL,
	"event_types" jsonb NOT NULL,
	"description" text,
	"secret" text NOT NULL,
	"previous_secret" text,
	"previous_until" bigint,
	"secret_version" bigint NOT NULL,
	"enabled" boolean NOT NULL,
	"ordered" boolean NOT NULL,
	"lane" text NOT NULL,
	"disabled_reason" text,
	"last_delivered_at" bigint,
	"failure_count" bigint NOT NULL,
	"failing_since" bigint,
	"successes" bigint NOT NULL,
	"failures" bigint NOT NULL,
	"listens_until" bigint,
	"tests" bigint NOT NULL,
	"tests_since" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "widget_messages" (
	"id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"config_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"role" text NOT NULL,
	"content" text NOT NULL,
	"artifacts" jsonb NOT NULL,
	"ip_hash" text,
	"failed" boolean NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payment_customers" (
	"owner" text NOT NULL,
	"provider" text NOT NULL,
	"customer" text NOT NULL,
	CONSTRAINT "payment_customers_owner_provider_pk" PRIMARY KEY("owner","provider")
);
--> statement-breakpoint
CREATE TABLE "widget_notes" (
	"id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"config_id" text NOT NULL,
	"author_id" text NOT NULL,
	"author_name" text NOT NULL,
	"content" text NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "widget_sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"config_id" text NOT NULL,
	"owner" text NOT NULL,
	"token_hash" text NOT NULL,
	"token_origin" text,
	"status" text NOT NULL,
	"takeover_status" text NOT NULL,
	"operator_id" text,
	"operator_name" text,
	"reason" text,
	"takeovers" bigint NOT NULL,
	"visitor_id" text NOT NULL,
	"ip_hash" text NOT NULL,
	"user_agent" text,
	"origin" text,
	"page_url" text,
	"identity" jsonb,
	"context" jsonb,
	"message_count" bigint NOT NULL,
	"asked" bigint NOT NULL,
	"first_asked_at" bigint,
	"first_response_ms" bigint,
	"cost_micro" bigint NOT NULL,
	"conversation_id" text,
	"waited_ms" bigint,
	"left_at" bigint,
	"rating" bigint,
	"comment" text,
	"created_at" bigint NOT NULL,
	"last_message_at" bigint NOT NULL,
	"changed_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "widgets" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"user_id" text NOT NULL,
	"org_id" text,
	"name" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"status" text NOT NULL,
	"api_key_id" text NOT NULL,
	"key_owner" text NOT NULL,
	"appearance" jsonb NOT NULL,
	"behavior" jsonb NOT NULL,
	"security" jsonb NOT NULL,
	"intents" jsonb NOT NULL,
	"identity_version" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "workflow_runs" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"workflow_id" text NOT NULL,
	"name" text NOT NULL,
	"user_id" text NOT NULL,
	"api_key_id" text,
	"active_org_id" text,
	"steps" jsonb NOT NULL,
	"trigger_type" text NOT NULL,
	"trigger_data" jsonb,
	"depth" bigint NOT NULL,
	"status" text NOT NULL,
	"next" bigint,
	"executed" bigint NOT NULL,
	"turn" bigint NOT NULL,
	"stepwise" boolean NOT NULL,
	"pause" jsonb,
	"warnings" jsonb NOT NULL,
	"error" text,
	"output" jsonb,
	"once" text,
	"created_at" bigint NOT NULL,
	"completed_at" bigint
);
--> statement-breakpoint
CREATE TABLE "workflow_steps" (
	"run_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"index" bigint NOT NULL,
	"name" text NOT NULL,
	"type" text NOT NULL,
	"status" text NOT NULL,
	"output" jsonb,
	"error" text,
	"cost_micro" bigint NOT NULL,
	"started_at" bigint NOT NULL,
	"completed_at" bigint,
	CONSTRAINT "workflow_steps_run_id_seq_pk" PRIMARY KEY("run_id","seq")
);
--> statement-breakpoint
CREATE TABLE "workflows" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"user_id" text NOT NULL,
	"org_id" text,
	"name" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"api_key_id" text,
	"active_org_id" text,
	"trigger_type" text NOT NULL,
	"trigger_config" jsonb NOT NULL,
	"steps" jsonb NOT NULL,
	"enabled" boolean NOT NULL,
	"next_run_at" bigint,
	"last_run_at" bigint,
	"canvas_id" text
);
--> statement-breakpoint
CREATE TABLE "payment_events" (
	"id" text PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "purchases" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"user_id" text,
	"kind" text NOT NULL,
	"provider" text NOT NULL,
	"amount_cents" bigint NOT NULL,
	"state" text NOT NULL,
	"session_ref" text,
	"payment_ref" text,
	"success_url" text,
	"cancel_url" text,
	"refunded_cents" bigint NOT NULL,
	"refunded_at" bigint NOT NULL,
	"disputed_cents" bigint NOT NULL,
	"disputed_at" bigint NOT NULL,
	"taken" bigint NOT NULL,
	"error" text,
	"created_at" bigint NOT NULL,
	"ended_at" bigint,
	CONSTRAINT "purchases_amount" CHECK ("purchases"."amount_cents" > 0)
);
--> statement-breakpoint
CREATE INDEX "audit_events_by_entity" ON "audit_events" USING btree ("scope","entity_id","seq") WHERE "audit_events"."entity_type" <> 'completion';--> statement-breakpoint
CREATE INDEX "expiring_grants_by_owner" ON "expiring_grants" USING btree ("owner","expires_at") WHERE "expiring_grants"."remaining" > 0;--> statement-breakpoint
CREATE INDEX "expiring_grants_due" ON "expiring_grants" USING btree ("due_at") WHERE "expiring_grants"."remaining" > 0;--> statement-breakpoint
CREATE INDEX "holds_open" ON "holds" USING btree ("expires_at") WHERE "holds"."state" = 'open';--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_entries_once" ON "ledger_entries" USING btree ("ref","kind","account");--> statement-breakpoint
CREATE INDEX "browser_actions_of_session" ON "browser_actions" USING btree ("session_id","id");--> statement-breakpoint
CREATE INDEX "browser_calls_waiting" ON "browser_calls" USING btree ("node") WHERE "browser_calls"."answer" is null;--> statement-breakpoint
CREATE INDEX "browser_sessions_active" ON "browser_sessions" USING btree ("node") WHERE "browser_sessions"."state" = 'active';--> statement-breakpoint
CREATE INDEX "browser_sessions_of_user" ON "browser_sessions" USING btree ("user_id") WHERE "browser_sessions"."state" = 'active';--> statement-breakpoint
CREATE INDEX "browser_sessions_by_owner" ON "browser_sessions" USING btree ("owner","holder","started_at");--> statement-breakpoint
CREATE INDEX "canvas_versions_by_canvas" ON "canvas_versions" USING btree ("canvas_id","created_at","id");--> statement-breakpoint
CREATE INDEX "canvases_by_owner" ON "canvases" USING btree ("owner","updated_at","id");--> statement-breakpoint
CREATE INDEX "canvases_by_age" ON "canvases" USING btree ("updated_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "sessions_by_token" ON "sessions" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "sessions_by_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_by_expiry" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "channels_by_owner" ON "channels" USING btree ("owner","type","name");--> statement-breakpoint
CREATE INDEX "channels_by_silence" ON "channels" USING btree ("status","last_message_at");--> statement-breakpoint
CREATE INDEX "conversations_by_owner" ON "conversations" USING btree ("owner","updated_at","id");--> statement-breakpoint
CREATE INDEX "memories_by_owner" ON "memories" USING btree ("owner","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "messages_by_conversation" ON "messages" USING btree ("conversation_id","seq");--> statement-breakpoint
CREATE INDEX "bus_events_by_owner" ON "bus_events" USING btree ("owner","created_at","id");--> statement-breakpoint
CREATE INDEX "bus_events_by_type" ON "bus_events" USING btree ("owner","type","created_at","id");--> statement-breakpoint
CREATE INDEX "bus_events_by_age" ON "bus_events" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "bus_events_started" ON "bus_events" USING btree ("owner","created_at") WHERE "bus_events"."depth" > 0;--> statement-breakpoint
CREATE INDEX "event_subscriptions_by_target" ON "event_subscriptions" USING btree ("subscriber","target");--> statement-breakpoint
CREATE INDEX "artifacts_by_owner" ON "artifacts" USING btree ("owner","created_at","id");--> statement-breakpoint
CREATE INDEX "artifacts_expiring" ON "artifacts" USING btree ("expires_at") WHERE "artifacts"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX "artifacts_by_content" ON "artifacts" USING btree ("sha256");--> statement-breakpoint
CREATE UNIQUE INDEX "file_contents_place" ON "file_contents" USING btree ("place");--> statement-breakpoint
CREATE INDEX "guardrail_policies_by_owner" ON "guardrail_policies" USING btree ("owner","created_at","id");--> statement-breakpoint
CREATE INDEX "guardrail_policies_by_age" ON "guardrail_policies" USING btree ("created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "guardrail_policies_default" ON "guardrail_policies" USING btree ("owner") WHERE "guardrail_policies"."is_default";--> statement-breakpoint
CREATE INDEX "sign_in_failures_by_age" ON "sign_in_failures" USING btree ("last_at");--> statement-breakpoint
CREATE INDEX "hooks_by_owner" ON "hooks" USING btree ("owner","created_at","id");--> statement-breakpoint
CREATE INDEX "hooks_by_age" ON "hooks" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_by_end" ON "idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "jobs_line" ON "jobs" USING btree ("kind","turn","id") WHERE "jobs"."turn" is not null;--> statement-breakpoint
CREATE INDEX "jobs_turns" ON "jobs" USING btree ("kind","fair_key","turn") WHERE "jobs"."turn" is not null;--> statement-breakpoint
CREATE INDEX "jobs_waiting" ON "jobs" USING btree ("run_at") WHERE "jobs"."run_at" is not null;--> statement-breakpoint
CREATE INDEX "jobs_leases" ON "jobs" USING btree ("lease_until") WHERE "jobs"."lease_until" is not null;--> statement-breakpoint
CREATE INDEX "jobs_busy" ON "jobs" USING btree ("kind","fair_key") WHERE "jobs"."lease_until" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_unique" ON "jobs" USING btree ("kind","unique_key");--> statement-breakpoint
CREATE INDEX "jobs_by_owner" ON "jobs" USING btree ("owner","created_at","id") WHERE "jobs"."type" is not null;--> statement-breakpoint
CREATE INDEX "jobs_shown" ON "jobs" USING btree ("created_at","id") WHERE "jobs"."type" is not null;--> statement-breakpoint
CREATE INDEX "jobs_in_line" ON "jobs" USING btree ("lined_up_at") WHERE "jobs"."state" = 'queued' and "jobs"."started_at" is null;--> statement-breakpoint
CREATE INDEX "jobs_ended" ON "jobs" USING btree ("completed_at") WHERE "jobs"."completed_at" is not null;--> statement-breakpoint
CREATE INDEX "api_keys_by_user" ON "api_keys" USING btree ("user_id","created_at","id");--> statement-breakpoint
CREATE INDEX "api_keys_by_org" ON "api_keys" USING btree ("org_id","created_at","id");--> statement-breakpoint
CREATE INDEX "api_keys_by_age" ON "api_keys" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "api_keys_by_name" ON "api_keys" USING btree ("name","created_at","id");--> statement-breakpoint
CREATE INDEX "api_keys_by_prefix" ON "api_keys" USING btree ("prefix");--> statement-breakpoint
CREATE INDEX "api_keys_by_preference" ON "api_keys" USING btree ("routing_preference_id") WHERE "api_keys"."routing_preference_id" is not null;--> statement-breakpoint
CREATE INDEX "api_keys_by_policy" ON "api_keys" USING btree ("guardrail_policy_id") WHERE "api_keys"."guardrail_policy_id" is not null;--> statement-breakpoint
CREATE INDEX "key_secrets_by_key" ON "key_secrets" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "sign_in_places_by_age" ON "sign_in_places" USING btree ("last_at");--> statement-breakpoint
CREATE UNIQUE INDEX "operator_keys_by_hash" ON "operator_keys" USING btree ("hash");--> statement-breakpoint
CREATE UNIQUE INDEX "operator_keys_by_name" ON "operator_keys" USING btree ("name") WHERE "operator_keys"."revoked_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "invitations_by_org_email" ON "invitations" USING btree ("org_id","email");--> statement-breakpoint
CREATE UNIQUE INDEX "invitations_by_token" ON "invitations" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "members_by_user" ON "members" USING btree ("user_id","org_created_at","org_id");--> statement-breakpoint
CREATE UNIQUE INDEX "orgs_by_slug" ON "orgs" USING btree ("slug");--> statement-breakpoint
CREATE INDEX "orgs_by_age" ON "orgs" USING btree ("created_at","id") WHERE "orgs"."deleted_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "users_by_email" ON "users" USING btree ("email");--> statement-breakpoint
CREATE INDEX "users_by_active_org" ON "users" USING btree ("active_org_id");--> statement-breakpoint
CREATE INDEX "users_by_age" ON "users" USING btree ("created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "limit_increases_one_pending" ON "limit_increases" USING btree ("subject") WHERE "limit_increases"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "limit_increases_by_age" ON "limit_increases" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "limit_increases_by_status" ON "limit_increases" USING btree ("status","created_at","id");--> statement-breakpoint
CREATE INDEX "routing_corrections_by_owner" ON "routing_corrections" USING btree ("owner","created_at","id");--> statement-breakpoint
CREATE INDEX "routing_corrections_by_mode" ON "routing_corrections" USING btree ("owner","expected_mode","created_at","id");--> statement-breakpoint
CREATE INDEX "routing_preferences_by_owner" ON "routing_preferences" USING btree ("owner","created_at","id");--> statement-breakpoint
CREATE INDEX "routing_preferences_by_age" ON "routing_preferences" USING btree ("created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "routing_preferences_default" ON "routing_preferences" USING btree ("owner") WHERE "routing_preferences"."is_default";--> statement-breakpoint
CREATE INDEX "used_links_by_end" ON "used_links" USING btree ("until");--> statement-breakpoint
CREATE INDEX "skill_runs_by_owner" ON "skill_runs" USING btree ("owner","created_at");--> statement-breakpoint
CREATE INDEX "skill_runs_by_status" ON "skill_runs" USING btree ("status","created_at");--> statement-breakpoint
CREATE INDEX "skill_runs_by_source" ON "skill_runs" USING btree ("source","created_at","id");--> statement-breakpoint
CREATE INDEX "skill_runs_by_age" ON "skill_runs" USING btree ("created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "skill_installations_by_owner" ON "skill_installations" USING btree ("owner","skill_id");--> statement-breakpoint
CREATE INDEX "skill_installations_by_skill" ON "skill_installations" USING btree ("skill_id");--> statement-breakpoint
CREATE INDEX "skill_installations_by_age" ON "skill_installations" USING btree ("owner","installed_at","id");--> statement-breakpoint
CREATE INDEX "skill_installations_to_run" ON "skill_installations" USING btree ("owner","priority" desc,"intensity" desc,"installed_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "skill_reviews_by_user" ON "skill_reviews" USING btree ("skill_id","user_id");--> statement-breakpoint
CREATE INDEX "skill_reviews_by_skill" ON "skill_reviews" USING btree ("skill_id","created_at","id");--> statement-breakpoint
CREATE INDEX "skill_submissions_by_age" ON "skill_submissions" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "skill_submissions_by_owner" ON "skill_submissions" USING btree ("owner","created_at","id");--> statement-breakpoint
CREATE INDEX "skill_submissions_by_owner_status" ON "skill_submissions" USING btree ("owner","status","created_at","id");--> statement-breakpoint
CREATE INDEX "skill_submissions_by_author" ON "skill_submissions" USING btree ("author_user_id","created_at");--> statement-breakpoint
CREATE INDEX "skill_submissions_by_status" ON "skill_submissions" USING btree ("status","created_at","id");--> statement-breakpoint
CREATE INDEX "skill_submissions_by_skill" ON "skill_submissions" USING btree ("skill_id","created_at","id");--> statement-breakpoint
CREATE INDEX "skill_submissions_by_claim" ON "skill_submissions" USING btree ("claimed_by","claimed_until") WHERE "skill_submissions"."claimed_by" is not null;--> statement-breakpoint
CREATE INDEX "skill_versions_by_skill" ON "skill_versions" USING btree ("skill_id","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "skills_by_id" ON "skills" USING btree ("id");--> statement-breakpoint
CREATE UNIQUE INDEX "skills_by_slug" ON "skills" USING btree ("slug");--> statement-breakpoint
CREATE INDEX "skills_by_owner" ON "skills" USING btree ("owner","seq");--> statement-breakpoint
CREATE INDEX "skills_by_owner_installs" ON "skills" USING btree ("owner","install_count","seq");--> statement-breakpoint
CREATE INDEX "skills_by_owner_rating" ON "skills" USING btree ("owner","rating","seq");--> statement-breakpoint
CREATE INDEX "skills_of_org" ON "skills" USING btree ("org_scope_id","status","seq") WHERE "skills"."visibility" = 'org';--> statement-breakpoint
CREATE INDEX "skills_of_org_by_installs" ON "skills" USING btree ("org_scope_id","status","install_count","seq") WHERE "skills"."visibility" = 'org';--> statement-breakpoint
CREATE INDEX "skills_of_org_by_rating" ON "skills" USING btree ("org_scope_id","status","rating","seq") WHERE "skills"."visibility" = 'org';--> statement-breakpoint
CREATE INDEX "skills_by_status" ON "skills" USING btree ("status","seq");--> statement-breakpoint
CREATE INDEX "skills_by_installs" ON "skills" USING btree ("listed","install_count","seq");--> statement-breakpoint
CREATE INDEX "skills_by_rating" ON "skills" USING btree ("listed","rating","seq");--> statement-breakpoint
CREATE INDEX "skills_by_age" ON "skills" USING btree ("listed","seq");--> statement-breakpoint
CREATE INDEX "skills_by_category" ON "skills" USING btree ("listed","category","install_count","seq");--> statement-breakpoint
CREATE INDEX "takeovers_until" ON "takeovers" USING btree ("until");--> statement-breakpoint
CREATE INDEX "takeovers_by_owner" ON "takeovers" USING btree ("owner","kind","status");--> statement-breakpoint
CREATE INDEX "usage_records_by_owner" ON "usage_records" USING btree ("owner","at");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_of" ON "webhook_deliveries" USING btree ("webhook_id","created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_age" ON "webhook_deliveries" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_outbox_due" ON "webhook_outbox" USING btree ("webhook_id","due_at","seq");--> statement-breakpoint
CREATE INDEX "webhook_outbox_order" ON "webhook_outbox" USING btree ("webhook_id","seq");--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_outbox_once" ON "webhook_outbox" USING btree ("webhook_id","event_id");--> statement-breakpoint
CREATE INDEX "webhooks_by_owner" ON "webhooks" USING btree ("owner","created_at","id");--> statement-breakpoint
CREATE INDEX "webhooks_by_age" ON "webhooks" USING btree ("created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "widget_messages_by_session" ON "widget_messages" USING btree ("session_id","seq");--> statement-breakpoint
CREATE INDEX "widget_messages_by_address" ON "widget_messages" USING btree ("config_id","ip_hash","created_at");--> statement-breakpoint
CREATE INDEX "widget_notes_by_session" ON "widget_notes" USING btree ("session_id","created_at");--> statement-breakpoint
CREATE INDEX "widget_notes_by_widget" ON "widget_notes" USING btree ("config_id");--> statement-breakpoint
CREATE INDEX "widget_sessions_by_config" ON "widget_sessions" USING btree ("config_id","last_message_at","id");--> statement-breakpoint
CREATE INDEX "widget_sessions_by_age" ON "widget_sessions" USING btree ("config_id","created_at");--> statement-breakpoint
CREATE INDEX "widget_sessions_by_standing" ON "widget_sessions" USING btree ("takeover_status","last_message_at","id");--> statement-breakpoint
CREATE INDEX "widget_sessions_by_address" ON "widget_sessions" USING btree ("config_id","ip_hash","created_at");--> statement-breakpoint
CREATE INDEX "widget_sessions_by_visitor" ON "widget_sessions" USING btree ("config_id","visitor_id");--> statement-breakpoint
CREATE INDEX "widget_sessions_changed" ON "widget_sessions" USING btree ("changed_at");--> statement-breakpoint
CREATE INDEX "widget_sessions_waits" ON "widget_sessions" USING btree ("config_id","changed_at") WHERE "widget_sessions"."waited_ms" is not null;--> statement-breakpoint
CREATE INDEX "widgets_by_owner" ON "widgets" USING btree ("owner","created_at","id");--> statement-breakpoint
CREATE INDEX "widgets_by_age" ON "widgets" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "workflow_runs_by_workflow" ON "workflow_runs" USING btree ("workflow_id","created_at","id");--> statement-breakpoint
CREATE INDEX "workflow_runs_by_end" ON "workflow_runs" USING btree ("completed_at");--> statement-breakpoint
CREATE UNIQUE INDEX "workflow_runs_once" ON "workflow_runs" USING btree ("once");--> statement-breakpoint
CREATE UNIQUE INDEX "workflows_of_canvas" ON "workflows" USING btree ("canvas_id");--> statement-breakpoint
CREATE INDEX "workflows_by_owner" ON "workflows" USING btree ("owner","created_at","id");--> statement-breakpoint
CREATE INDEX "workflows_by_age" ON "workflows" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "workflows_by_trigger" ON "workflows" USING btree ("trigger_type","owner");--> statement-breakpoint
CREATE INDEX "workflows_due" ON "workflows" USING btree ("next_run_at") WHERE "workflows"."next_run_at" is not null;--> statement-breakpoint
CREATE INDEX "purchases_by_owner" ON "purchases" USING btree ("owner","created_at");--> statement-breakpoint
CREATE INDEX "purchases_by_payment" ON "purchases" USING btree ("payment_ref");--> statement-breakpoint
CREATE UNIQUE INDEX "purchases_one_top_up" ON "purchases" USING btree ("owner") WHERE "purchases"."kind" = 'top_up' AND "purchases"."state" = 'open';--> statement-breakpoint
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$;
--> statement-breakpoint
CREATE TRIGGER audit_events_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER ledger_entries_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
ALTER TABLE skills ADD COLUMN search_words tsvector GENERATED ALWAYS AS (array_to_tsvector(string_to_array(search_text, ' '))) STORED;
--> statement-breakpoint
CREATE INDEX skills_search ON skills USING gin (search_words) WHERE listed;
