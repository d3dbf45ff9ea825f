import type { KeyCaller } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { crc32Base62, randomBase62, sha256Hex } from '../../kernel/crypto'
import type { KeyId } from '../../kernel/ids'
import { type Loop, startLoop } from '../../kernel/loop'
import { createLru, createReadCache } from '../../kernel/read-cache'
import type { Store, Tx } from '../../kernel/store'
import type { OrgService } from '../orgs/service'
import { isLive, keyRepository as rows } from './repository'
import type { KeyRow } from './table'

const MAX = 20_000

export type LastSeenBuffer<Id extends string> = ReturnType<typeof createLastSeenBuffer<Id>>

/** 42 base62 characters are 250 random bits; the six after them are a checksum of everything before. */
const RANDOM_CHARS = 42

const CHECK_CHARS = 6

const BASE62 = /^[0-9A-Za-z]{48}$/

export const KEY_LABELS = { live: 'svc_sk_live_', test: 'svc_sk_test_' } as const

type Secret = {
  /** Full secret. Shown once, never stored. */
  token: string
  /** What is stored: SHA-256, in hex. */
  hash: string
  /** Part that may be shown later: the label and four more characters. */
  prefix: string
}

export type KeyLookup = ReturnType<typeof createKeyLookup>

type Deps = {
  store: Store
  orgs: Pick<OrgService, 'accessOf' | 'isOpen'>
  clock: Clock
  lastUsed: Pick<LastSeenBuffer<KeyId>, 'note' | 'notedAt'>
}

type Known = { caller: KeyCaller; endsAt: number }

const REMEMBERED_KEYS = 20_000
const LABELS = Object.values(KEY_LABELS)

/** Finds the caller of a key. Cached results are dropped as soon as the key changes (docs/promises.md I26). */
export function createKeyLookup({ store, orgs, clock, lastUsed }: Deps) {
  const known = createReadCache<string, Known>({
    ...{ max: REMEMBERED_KEYS, changes: store.changes },
    tables: ['api_keys', 'key_secrets', 'users', 'members', 'orgs'],
  })

  return {
    /**
     * The caller of a key. Null when the key is malformed, unknown, revoked or expired, or its owner is disabled or
     * suspended. Synchronous on a cache hit. A malformed key never reaches the database.
     */
    find(token: string): KeyCaller | null | Promise<KeyCaller | null> {
      const hash = recogniseSecret(token, LABELS)
      if (hash === null) return null
      const found = known.get(hash, load)
      return found instanceof Promise ? found.then(admit) : admit(found)
    },
    /** The caller that a key's stored work runs as, read from the store. Null as for `find`. */
    async unattended(id: KeyId): Promise<KeyCaller | null> {
      const row = await rows.find(store.read, 'everyone', id)
      return row ? callerOf(row, null) : null
    },
    /** The working ones among these secrets, of all owners. Reads the store, so it sees changes by other nodes. */
    working: (hashes: readonly string[]): Promise<Set<string>> => rows.workingAmong(store.read, hashes, clock.now()),
    /** When this process last noted a use of the key, which may not be written yet. */
    usedAt: lastUsed.notedAt,
    forget: (hash: string) => known.forget(hash),
    forgetAll: () => known.clear(),
  }

  function admit(found: Known | null): KeyCaller | null {
    if (!found || found.endsAt <= clock.now()) return null
    lastUsed.note(found.caller.keyId)
    return found.caller
  }

  async function load(hash: string): Promise<Known | null> {
    const found = await rows.byHash(store.read, hash)
    const caller = found ? await callerOf(found.key, hash) : null
    if (!found || !caller) return null
    return { caller, endsAt: Math.min(found.key.expires_at ?? Infinity, found.ends_at ?? Infinity) }
  }

  async function callerOf(row: KeyRow, hash: string | null): Promise<KeyCaller | null> {
    if (!isLive(row, clock.now())) return null
    const access = await orgs.accessOf(store.read, row.user_id)
    if (!access || (row.org_id && !(await orgs.isOpen(store.read, row.org_id)))) return null
    return toCaller(row, row.org_id ?? access.activeOrgId, hash)
  }
}

export const toCaller = (row: KeyRow, activeOrgId: KeyCaller['activeOrgId'], secretHash: string | null): KeyCaller => ({
  type: 'key',
  userId: row.user_id,
  keyId: row.id,
  secretHash,
  orgId: row.org_id,
  activeOrgId,
  scopes: row.scopes,
  tier: row.tier,
  rpmLimit: row.rpm_limit,
  tpmLimit: row.tpm_limit,
  dailyCapCents: row.daily_cap_cents,
  monthlyCapCents: row.monthly_cap_cents,
  allowedOrigins: row.allowed_origins,
  hasBrandSoul: row.brand_soul?.enabled === true,
  chatParameters: row.chat_parameters,
  guardrailPolicyId: row.guardrail_policy_id,
  bindings: bindingsOf(row),
})

function bindingsOf({ routing_preference_id, routing_rules, routing_floors, guardrail_policy_id }: KeyRow): string {
  const bound = [routing_preference_id, routing_rules, routing_floors, guardrail_policy_id]
  return bound.some((one) => one !== null) ? sha256Hex(JSON.stringify(bound)) : ''
}

const BATCH = 500

/** When keys were last used. */
export const createKeyUses = (deps: { store: Store; clock: Clock }) =>
  createLastSeenBuffer<KeyId>({ ...deps, write: rows.noteUses })

type UsesLoop = {
  idleMs: number
  uses: { flush(): Promise<void> }
  clock: Clock
  onError(name: string, error: unknown): void
}

/** Writes noted uses in the background, so that requests do not wait for it. */
export const startUsesLoop = (name: string, { uses, ...loop }: UsesLoop): Loop =>
  startLoop({
    ...{ name, ...loop },
    tick: async () => {
      await uses.flush()
      return 0
    },
  })

/** A new bearer secret under a label, `svc_sk_live_…` (docs/api.md 20). */
export function mintSecret(label: string): Secret {
  const body = label + randomBase62(RANDOM_CHARS)
  const token = body + crc32Base62(body)
  return { token, hash: sha256Hex(token), prefix: token.slice(0, label.length + 4) }
}

/**
 * The hash to look a token up by. Null when the token cannot be from this server: wrong label, length, alphabet or
 * checksum. Needs no database (docs/attacks.md A10).
 */
export function recogniseSecret(token: string, labels: readonly string[]): string | null {
  const label = labels.find((candidate) => token.startsWith(candidate))
  if (label === undefined || !BASE62.test(token.slice(label.length))) return null
  const body = token.slice(0, -CHECK_CHARS)
  return crc32Base62(body) === token.slice(-CHECK_CHARS) ? sha256Hex(token) : null
}

type BufferDeps<Id> = {
  store: Pick<Store, 'write'>
  clock: Clock
  everyMs?: number
  write(tx: Tx, uses: readonly [Id, number][]): Promise<void>
}

/** Collects "last used" times in bounded memory, so that requests need not write them. */
export function createLastSeenBuffer<Id extends string>({ store, clock, everyMs = 60_000, write }: BufferDeps<Id>) {
  const noted = createLru<Id, number>(MAX)
  let pending = new Map<Id, number>()
  return {
    /** Notes a use of `id` now. Returns true, and queues the use for writing, at most once per `everyMs`. */
    note(id: Id): boolean {
      const now = clock.now()
      const last = noted.get(id)
      if (last !== undefined && now - last < everyMs) return false
      noted.set(id, now)
      if (pending.size < MAX) pending.set(id, now)
      return true
    },
    notedAt: (id: Id): number | undefined => noted.get(id),
    /** Writes the queued uses in short transactions. */
    async flush(): Promise<void> {
      const uses = [...pending]
      pending = new Map()
      for (let from = 0; from < uses.length; from += BATCH)
        await store.write((tx) => write(tx, uses.slice(from, from + BATCH)))
    },
  }
}
