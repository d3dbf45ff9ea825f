import type { OpsClient } from '../src/app/client'
import type { Tier } from '../src/kernel/caller'
import type { ApiKey, ApiKeyWithSecret, KeyPatch, NewKey, RotatedKey } from '../src/keys/schema'
import type { Connection, TenantPlane } from './connection'
import { expectData, usageFailure } from './failure'

type KeyPage = { keys: ApiKey[]; has_more: boolean; next_cursor: string | null }

export type KeyOrder = Omit<NewKey, 'scope' | 'org_id'> & {
  org?: string | undefined
  user?: string | undefined
  personal?: boolean | undefined
  tier?: Tier | undefined
}

export type KeyChange = KeyPatch & { tier?: Tier | undefined }

type KeyQuery = { limit: number; cursor?: string; org?: string; user?: string; live?: boolean }

/** Key commands over either API: operators manage every owner's keys, tenants their own (dx 2.9). */
export type KeyPlane = {
  list(query: KeyQuery): Promise<KeyPage>
  get(ref: string): Promise<ApiKey>
  create(order: KeyOrder, idempotencyKey: string): Promise<ApiKeyWithSecret>
  revoke(ref: string): Promise<{ id: string; status: string }>
  update(ref: string, change: KeyChange): Promise<ApiKey>
  rotate(ref: string, graceS: number, idempotencyKey: string): Promise<RotatedKey>
}

export async function keysOver(connection: Connection): Promise<KeyPlane> {
  return connection.plane === 'tenant' ? ownKeys(await connection.tenant()) : anyKeys(connection.ops())
}

function anyKeys(ops: OpsClient): KeyPlane {
  const one = (ref: string) => ops.keys({ ref: encodeURIComponent(ref) })
  return {
    list: async (query) => expectData(await ops.keys.get({ query })),
    get: async (ref) => expectData(await one(ref).get()),
    create: async (order) => expectData(await ops.keys.post(order)),
    revoke: async (ref) => expectData(await one(ref).delete()),
    update: async (ref, change) => expectData(await one(ref).put(change)),
    rotate: async (ref, graceS) => expectData(await one(ref).rotate.post({ grace_period_seconds: graceS })),
  }
}

/** The keys that the key in use may manage. */
export function ownKeys({ client }: TenantPlane): KeyPlane {
  const one = (id: string) => client.keys({ id: encodeURIComponent(id) })
  return {
    list: async ({ limit, cursor }) =>
      expectData(await client.keys.get({ query: { limit, ...(cursor ? { cursor } : {}) } })),
    get: async (ref) => expectData(await one(ref).get()),
    create: async ({ org, user, personal, tier, ...order }, idempotencyKey) => {
      if (tier || user)
        throw usageFailure('--tier and --user belong to the operator plane; over --url every key starts on free.')
      const owner = { ...(org ? { org_id: org } : {}), ...(personal ? { scope: 'personal' as const } : {}) }
      const headers = { 'idempotency-key': idempotencyKey }
      return expectData(await client.keys.post({ ...order, ...owner }, { headers }))
    },
    revoke: async (ref) => ({ ...expectData(await one(ref).delete()), status: 'revoked' }),
    update: async (ref, { tier, ...change }) => {
      if (tier)
        throw usageFailure(
          '--tier belongs to the operator plane; an owner asks with POST /rate-limits/request-increase.',
        )
      return expectData(await one(ref).put(change))
    },
    rotate: async (ref, graceS, idempotencyKey) => {
      const headers = { 'idempotency-key': idempotencyKey }
      return expectData(await one(ref).rotate.post({ grace_period_seconds: graceS }, { headers }))
    },
  }
}
