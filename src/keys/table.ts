import type { Scope, Tier } from '../kernel/caller'
import type { KeyId, OrgId, UserId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'
import type { BrandSoul } from './schema'

export const apiKeys = defineTable((k) =>
  k.table(
    'api_keys',
    {
      id: k.text('id').$type<KeyId>().primaryKey(),
      /** Who made it; a personal key acts as this user. */
      user_id: k.text('user_id').$type<UserId>().notNull(),
      /** The org it belongs to; null for a personal key. */
      org_id: k.text('org_id').$type<OrgId>(),
      name: k.text('name').notNull(),
      prefix: k.text('prefix').notNull(),
      hash: k.text('hash').notNull(),
      scopes: k.json<Scope[]>('scopes').notNull(),
      tier: k.text('tier').$type<Tier>().notNull(),
      rpm_limit: k.int('rpm_limit'),
      tpm_limit: k.int('tpm_limit'),
      daily_cap_cents: k.int('daily_cap_cents'),
      monthly_cap_cents: k.int('monthly_cap_cents'),
      allowed_origins: k.json<string[]>('allowed_origins').notNull(),
      brand_soul: k.json<BrandSoul>('brand_soul'),
      created_at: k.ms('created_at').notNull(),
      last_used_at: k.ms('last_used_at'),
      expires_at: k.ms('expires_at'),
      revoked_at: k.ms('revoked_at'),
    },
    (t) => [
      k.uniqueIndex('api_keys_by_hash').on(t.hash),
      k.index('api_keys_by_user').on(t.user_id, t.created_at, t.id),
      k.index('api_keys_by_org').on(t.org_id, t.created_at, t.id),
    ],
  ),
)
export type KeyRow = Row<typeof apiKeys>
