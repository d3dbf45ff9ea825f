CREATE FUNCTION tell_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_notify('svc_changed', TG_TABLE_NAME); RETURN NULL; END $$;
--> statement-breakpoint
CREATE TRIGGER api_keys_told AFTER DELETE ON api_keys FOR EACH ROW EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER api_keys_update_told AFTER UPDATE OF user_id, org_id, scopes, tier, rpm_limit, tpm_limit, daily_cap_cents, monthly_cap_cents, allowed_origins, brand_soul, routing_preference_id, routing_rules, routing_floors, guardrail_policy_id, expires_at, revoked_at, rotating_until ON api_keys FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER billing_limits_told AFTER INSERT OR DELETE ON billing_limits FOR EACH ROW EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER billing_limits_update_told AFTER UPDATE ON billing_limits FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER engine_settings_told AFTER INSERT OR DELETE ON engine_settings FOR EACH ROW EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER engine_settings_update_told AFTER UPDATE ON engine_settings FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER guardrail_policies_told AFTER INSERT OR DELETE ON guardrail_policies FOR EACH ROW EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER guardrail_policies_update_told AFTER UPDATE ON guardrail_policies FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER key_secrets_told AFTER DELETE ON key_secrets FOR EACH ROW EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER key_secrets_update_told AFTER UPDATE ON key_secrets FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER members_told AFTER INSERT OR DELETE ON members FOR EACH ROW EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER members_update_told AFTER UPDATE ON members FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER memories_told AFTER INSERT OR DELETE ON memories FOR EACH ROW EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER memories_update_told AFTER UPDATE ON memories FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER orgs_told AFTER DELETE ON orgs FOR EACH ROW EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER orgs_update_told AFTER UPDATE OF suspended_at, deleted_at ON orgs FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER routing_preferences_told AFTER INSERT OR DELETE ON routing_preferences FOR EACH ROW EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER routing_preferences_update_told AFTER UPDATE ON routing_preferences FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER sessions_told AFTER DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER skill_installations_told AFTER INSERT OR DELETE ON skill_installations FOR EACH ROW EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER skill_installations_update_told AFTER UPDATE OF owner, skill_id, enabled, config, intensity, priority ON skill_installations FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER skill_versions_told AFTER DELETE ON skill_versions FOR EACH ROW EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER skill_versions_update_told AFTER UPDATE ON skill_versions FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER skills_told AFTER DELETE ON skills FOR EACH ROW EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER skills_update_told AFTER UPDATE OF slug, owner, author_user_id, org_scope_id, visibility, status, live_version_id, draft_version_id, listed ON skills FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER user_settings_told AFTER INSERT OR DELETE ON user_settings FOR EACH ROW EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER user_settings_update_told AFTER UPDATE ON user_settings FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER users_told AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION tell_change();
--> statement-breakpoint
CREATE TRIGGER users_update_told AFTER UPDATE OF platform_role, active_org_id, disabled_at ON users FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION tell_change();
