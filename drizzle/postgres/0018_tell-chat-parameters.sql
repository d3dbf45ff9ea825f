DROP TRIGGER api_keys_update_told ON api_keys;
--> statement-breakpoint
CREATE TRIGGER api_keys_update_told AFTER UPDATE OF user_id, org_id, scopes, tier, rpm_limit, tpm_limit, daily_cap_cents, monthly_cap_cents, allowed_origins, chat_parameters, brand_soul, routing_preference_id, routing_rules, routing_floors, guardrail_policy_id, expires_at, revoked_at, rotating_until ON api_keys FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION tell_change();
