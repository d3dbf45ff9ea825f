import { type Call, type KeyCaller, type OperatorCaller, SCOPES, type Scope, type Tier } from '../../../kernel/caller'
import { KeyId, type OrgId, type UserId } from '../../../kernel/ids'
import type { Page, PageQuery } from '../../../kernel/page'
import type { Reader, Tx } from '../../../kernel/store'
import { ambiguousKey, keyNotFound } from '../errors'
import { toCaller } from '../lookup'
import { NOTHING_SPENT, present } from '../present'
import { type KeyFilter, keyRepository as rows } from '../repository'
import { unique } from '../rules'
import type { ApiKey, ApiKeyWithSecret, KeyPatch, KeyRotation, NewKey, RotatedKey } from '../schema'
import type { KeyRow } from '../table'
import { KEY_LABELS, mintSecret, recogniseSecret } from '../token'
import { changeIn } from './change'
import { newRow } from './create'
import { type KeyDeps, recordChange } from './deps'
import { presentPage, presentSpent } from './read'
import { rotateIn } from './rotate'

/** What an operator may set on a new key beyond what a tenant may: its owner and its tier (dx 2.9). */
export type OperatorKeyInput = Omit<NewKey, 'scope' | 'org_id'> & {
  userId: UserId
  orgId: OrgId | null
  scopes?: Scope[]
  tier?: Tier
}

/** What operators do with anyone's keys. Callers are known to be operators before they get here. */
export function operateKeys(deps: KeyDeps) {
  const { store, clock } = deps

  return {
    create: (call: Call<OperatorCaller>, input: OperatorKeyInput) => store.write((tx) => createIn(tx, call, input)),
    createIn,

    /** Newest first, filtered by org, user or state. */
    async list(
      _call: Call<OperatorCaller>,
      query: PageQuery & Omit<KeyFilter, 'liveAt'> & { live?: boolean },
    ): Promise<Page<ApiKey>> {
      const filter = { ...query, ...(query.live ? { liveAt: clock.now() } : {}) }
      return presentPage(deps, await rows.search(store.read, filter, query))
    },

    /** The newest keys of everyone, each with the caller that requests with it would have, for looking at its limits. */
    async standing(_call: Call<OperatorCaller>, limit: number): Promise<{ key: ApiKey; caller: KeyCaller }[]> {
      const { items } = await rows.search(store.read, {}, { limit })
      return Promise.all(
        items.map(async (row) => ({
          key: await presentSpent(deps, store.read, row),
          caller: toCaller(row, row.org_id, null),
        })),
      )
    },

    count: (_call: Call<OperatorCaller>): Promise<number> => rows.count(store.read),

    /** By id, prefix or exact name. Throws 404, or 409 `conflict` when several match. */
    get: async (_call: Call<OperatorCaller>, ref: string): Promise<ApiKey> =>
      presentSpent(deps, store.read, await resolve(store.read, ref)),

    update: (call: Call<OperatorCaller>, ref: string, patch: KeyPatch): Promise<ApiKey> =>
      store.write((tx) => updateIn(tx, call, ref, patch)),
    updateIn,

    rotate: (call: Call<OperatorCaller>, ref: string, input: KeyRotation): Promise<RotatedKey> =>
      store.write(async (tx) => rotateIn(deps, tx, call, await resolveLocked(tx, ref), input)),

    revoke: (call: Call<OperatorCaller>, ref: string): Promise<ApiKey> =>
      store.write(async (tx) => {
        const before = await resolve(tx, ref)
        const row = await rows.revoke(tx, before.id, clock.now())
        if (row) await recordChange(deps, tx, call, row, { action: 'key.revoked' })
        return presentSpent(deps, tx, row ?? before)
      }),

    /** The caller that requests with this key would have, for looking at its limits. */
    async callerOf(_call: Call<OperatorCaller>, ref: string): Promise<KeyCaller> {
      const row = await resolve(store.read, ref)
      return toCaller(row, row.org_id, null)
    },

    /** The key of a complete secret, working or not; null when there is none or the secret has expired. */
    async bySecret(_call: Call<OperatorCaller>, secret: string): Promise<ApiKey | null> {
      const hash = recogniseSecret(secret, Object.values(KEY_LABELS))
      const found = hash === null ? undefined : await rows.byHash(store.read, hash)
      if (!found || (found.ends_at !== null && found.ends_at <= clock.now())) return null
      return presentSpent(deps, store.read, found.key)
    },
  }

  /** Lets an operator set on anyone's key what its owner could set. */
  async function updateIn(tx: Tx, call: Call<OperatorCaller>, ref: string, patch: KeyPatch): Promise<ApiKey> {
    return presentSpent(deps, tx, await changeIn(deps, tx, call, await resolveLocked(tx, ref), patch))
  }

  /** The same inside a transaction that creates more than the key, as the first run does. */
  async function createIn(tx: Tx, call: Call<OperatorCaller>, input: OperatorKeyInput): Promise<ApiKeyWithSecret> {
    const secret = mintSecret(input.test ? KEY_LABELS.test : KEY_LABELS.live)
    const scopes = unique(input.scopes ?? SCOPES)
    const row = newRow(deps, secret.prefix, { ...input, scopes, tier: input.tier ?? 'free' })
    await rows.insert(tx, row, secret.hash)
    await recordChange(deps, tx, call, row, { action: 'key.created' })
    return { ...present(row, NOTHING_SPENT, row.created_at), key: secret.token }
  }

  async function resolveLocked(tx: Tx, ref: string): Promise<KeyRow> {
    return rows.lock(tx, (await resolve(tx, ref)).id)
  }

  /** Finds a key by id, prefix or name; working keys win over others of the same name. */
  async function resolve(reader: Reader, ref: string): Promise<KeyRow> {
    if (KeyId.is(ref)) {
      const row = await rows.any(reader, ref)
      if (row) return row
      throw keyNotFound()
    }
    const filter: KeyFilter = ref.startsWith('svc_sk_') ? { prefix: ref } : { name: ref }
    const live = await rows.search(reader, { ...filter, liveAt: clock.now() }, { limit: 10 })
    const found = live.items.length ? live : await rows.search(reader, filter, { limit: 10 })
    const ids = found.items.map(({ id }) => id)
    if (ids.length > 1) throw ambiguousKey(ref, ids)
    if (!found.items[0]) throw keyNotFound()
    return found.items[0]
  }
}
