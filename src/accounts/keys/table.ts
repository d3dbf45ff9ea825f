import { sql } from 'drizzle-orm'
import type { ChatParameters, Scope, Tier } from '../../kernel/caller'
import type { KeyId, OrgId, UserId } from '../../kernel/ids'
import { defineTable, type Row } from '../../kernel/store'
import type { BrandSoul, RoutingRule } from './schema'

export const apiKeys = defineTable(
  'api_keys',
  (k) => ({
    id: k.text('id').$type<KeyId>().primaryKey(),
    /** The creator. A personal key acts as this user. */
    user_id: k.text('user_id').$type<UserId>().notNull(),
    /** The org the key belongs to. Null for a personal key. */
    org_id: k.text('org_id').$type<OrgId>(),
    name: k.text('name').notNull(),
    prefix: k.text('prefix').notNull(),
    scopes: k.json<Scope[]>('scopes').notNull(),
    tier: k.text('tier').$type<Tier>().notNull(),
    rpm_limit: k.int('rpm_limit'),
    tpm_limit: k.int('tpm_limit'),
    daily_cap_cents: k.int('daily_cap_cents'),
    monthly_cap_cents: k.int('monthly_cap_cents'),
    allowed_origins: k.json<string[]>('allowed_origins').notNull(),
    brand_soul: k.json<BrandSoul>('brand_soul'),
    chat_parameters: k.text('chat_parameters').$type<ChatParameters>().notNull().default('by_base'),
    /** Attached by later modules (docs/api.md 13), which read their own columns. One without a row has no effect. */
    routing_preference_id: k.text('routing_preference_id'),
    routing_rules: k.json<RoutingRule[]>('routing_rules'),
    routing_floors: k.json<Record<string, number>>('routing_floors'),
    guardrail_policy_id: k.text('guardrail_policy_id'),
    created_at: k.ms('created_at').notNull(),
    last_used_at: k.ms('last_used_at'),
    expires_at: k.ms('expires_at'),
    revoked_at: k.ms('revoked_at'),
    /** How long secrets from before the last rotation still work. Null when they stopped at once. */
    rotating_until: k.ms('rotating_until'),
  }),
  (t, k) => [
    k.index('api_keys_by_user').on(t.user_id, t.created_at, t.id),
    k.index('api_keys_by_org').on(t.org_id, t.created_at, t.id),
    k.index('api_keys_by_age').on(t.created_at, t.id),
    k.index('api_keys_by_name').on(t.name, t.created_at, t.id),
    k.index('api_keys_by_prefix').on(t.prefix),
    k.index('api_keys_by_preference').on(t.routing_preference_id).where(sql`${t.routing_preference_id} is not null`),
    k.index('api_keys_by_policy').on(t.guardrail_policy_id).where(sql`${t.guardrail_policy_id} is not null`),
  ],
)
export type KeyRow = Row<typeof apiKeys>

/** The secrets of a key by SHA-256: one current secret, and during a rotation earlier ones too. */
export const keySecrets = defineTable(
  'key_secrets',
  (k) => ({
    hash: k.text('hash').primaryKey(),
    key_id: k.text('key_id').$type<KeyId>().notNull(),
    /** End of the grace period. Null for the current secret. */
    ends_at: k.ms('ends_at'),
  }),
  (t, k) => [k.index('key_secrets_by_key').on(t.key_id)],
)
