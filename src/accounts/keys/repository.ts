import { and, eq, gt, inArray, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import type { KeyId, OrgId, UserId } from '../../kernel/ids'
import { type PageRequest, pagesAmong, pagesBy } from '../../kernel/keyset'
import type { Page } from '../../kernel/page'
import { rowsOf } from '../../kernel/rows'
import { command, query, type Reader, type Tx } from '../../kernel/store'
import type { BrandSoul } from './schema'
import { apiKeys, type KeyRow, keySecrets } from './table'

/** The keys a caller may manage: one user's personal keys and those of some orgs. Operators manage everyone's. */
export type KeyScope = { userId: UserId | null; orgIds: readonly OrgId[] } | 'everyone'

/** Filters of the operators' list. */
export type KeyFilter = {
  orgId?: OrgId
  userId?: UserId
  name?: string
  prefix?: string
  /** Omits revoked keys, but keeps expired ones, because they can get a later expiry. */
  unrevoked?: boolean
  /** Only keys that are neither revoked nor expired at this time. */
  liveAt?: number
}

const keyByHash = query<{ hash: string }>()((db, p) => {
  const [key, secret] = [db.of(apiKeys), db.of(keySecrets)]
  return db
    .select({ key, ends_at: secret.ends_at })
    .from(secret)
    .innerJoin(key, eq(key.id, secret.key_id))
    .where(eq(secret.hash, p.hash))
})

const keyRows = rowsOf(apiKeys)
const secrets = rowsOf(keySecrets)

const brandSoulOf = query<{ id: KeyId }>()((db, p) => {
  const table = db.of(apiKeys)
  return db.select({ brand_soul: table.brand_soul }).from(table).where(eq(table.id, p.id))
})

const noteUse = command<{ id: KeyId; at: number }>()((tx, p) => {
  const table = tx.of(apiKeys)
  return tx
    .update(table)
    .set({ last_used_at: sql`${p.at}` })
    .where(eq(table.id, p.id))
})

const newestFirst = pagesBy(apiKeys, 'created_at')
const newestOfSome = pagesAmong(apiKeys, 'created_at')

/** Rows of keys. Primary-key lookups need no `limit`. A {@link KeyScope} wraps them, except for authentication. */
export const keyRepository = {
  /** The key that a secret belongs to, and when that secret expires. One indexed lookup. */
  byHash: async (db: Reader, hash: string): Promise<{ key: KeyRow; ends_at: number | null } | undefined> =>
    (await keyByHash(db, { hash }))[0],

  /** The secrets among `hashes` that have not expired and whose key is neither revoked nor expired at `at`. */
  async workingAmong(db: Reader, hashes: readonly string[], at: number): Promise<Set<string>> {
    const [key, secret] = [db.of(apiKeys), db.of(keySecrets)]
    const found = await db
      .select({ hash: secret.hash })
      .from(secret)
      .innerJoin(key, eq(key.id, secret.key_id))
      .where(
        and(inArray(secret.hash, [...hashes]), or(isNull(secret.ends_at), gt(secret.ends_at, at)), inForce(key, at)),
      )
    return new Set(found.map(({ hash }) => hash))
  },

  /** The brand soul of a key. Null when it is missing or disabled. */
  async brandSoul(db: Reader, id: KeyId): Promise<BrandSoul | null> {
    const soul = (await brandSoulOf(db, { id }))[0]?.brand_soul
    return soul?.enabled ? soul : null
  },

  async insert(tx: Tx, row: KeyRow, hash: string): Promise<void> {
    await keyRows.insert(tx, row)
    await secrets.insert(tx, { hash, key_id: row.id, ends_at: null })
  },

  /** Adds the current secret of a key. Makes all earlier ones expire at `until` at the latest. */
  async replaceSecret(tx: Tx, key_id: KeyId, hash: string, { now, until }: { now: number; until: number }) {
    await secrets.remove(tx, { key_id }, (t) => lt(t.ends_at, now))
    await secrets.update(tx, { key_id }, { ends_at: until }, (t) => or(isNull(t.ends_at), gt(t.ends_at, until)))
    await secrets.insert(tx, { hash, key_id, ends_at: null })
  },

  hashesOf: async (db: Reader, key_id: KeyId): Promise<string[]> =>
    (await secrets.all(db, { key_id })).map(({ hash }) => hash),

  async find(db: Reader, scope: KeyScope, id: KeyId): Promise<KeyRow | undefined> {
    const row = await keyRows.first(db, { id })
    if (!row || scope === 'everyone') return row
    // Checked here, because a query condition would grow with the user's organizations.
    return (row.org_id ? scope.orgIds.includes(row.org_id) : row.user_id === scope.userId) ? row : undefined
  },

  /** Newest first. The filter applies only to the scope `everyone`. */
  async list(db: Reader, scope: KeyScope, wanted: PageRequest, filter: KeyFilter = {}): Promise<Page<KeyRow>> {
    if (scope === 'everyone') return keyRepository.search(db, filter, wanted)
    const table = db.of(apiKeys)
    const personal = scope.userId ? [and(eq(table.user_id, scope.userId), isNull(table.org_id))!] : []
    return newestOfSome(db, wanted, [...personal, ...scope.orgIds.map((id) => eq(table.org_id, id))])
  },

  update: async (tx: Tx, id: KeyId, change: Partial<KeyRow>): Promise<KeyRow> =>
    (await keyRows.change(tx, { id }, change))!,

  /** Locks a key until the transaction commits. Returns its current row. Keys are never deleted. */
  lock: async (tx: Tx, id: KeyId): Promise<KeyRow> => (await keyRows.lock(tx, { id }))!,

  /** Returns the revoked row, or undefined when the key was already revoked. */
  revoke: (tx: Tx, id: KeyId, revoked_at: number) => keyRows.change(tx, { id, revoked_at: null }, { revoked_at }),

  /** Number of an owner's unrevoked keys. Expired ones count, because a later expiry makes them work again. */
  unrevoked: (db: Reader, { userId, orgId }: { userId: UserId; orgId: OrgId | null }) =>
    keyRows.count(db, { ...(orgId ? { org_id: orgId } : { user_id: userId, org_id: null }), revoked_at: null }),

  /** One key, or every personal key of a user, if neither revoked nor expired at `at`. */
  inForce(db: Reader, subject: { keyId: KeyId } | { userId: UserId }, at: number): Promise<KeyRow[]> {
    const chosen = 'keyId' in subject ? { id: subject.keyId } : { user_id: subject.userId, org_id: null }
    return keyRows.all(db, chosen, { also: (t) => inForce(t, at) })
  },

  /** SQL condition: neither revoked nor expired at the given time. */
  live: (db: Reader, at: number): SQL | undefined => inForce(db.of(apiKeys), at),

  async noteUses(tx: Tx, uses: readonly [KeyId, number][]): Promise<void> {
    for (const [id, at] of uses) await noteUse(tx, { id, at })
  },

  /** Keys of any owner, newest first. */
  search: (db: Reader, filter: KeyFilter, wanted: PageRequest): Promise<Page<KeyRow>> =>
    newestFirst(db, wanted, ...conditionsOf(db, filter)),

  count: (db: Reader, filter: KeyFilter): Promise<number> =>
    db.$count(db.of(apiKeys), and(...conditionsOf(db, filter))),
}

function conditionsOf(db: Reader, filter: KeyFilter): (SQL | undefined)[] {
  const table = db.of(apiKeys)
  return [
    filter.orgId ? eq(table.org_id, filter.orgId) : undefined,
    filter.userId ? eq(table.user_id, filter.userId) : undefined,
    filter.name === undefined ? undefined : eq(table.name, filter.name),
    filter.prefix === undefined ? undefined : eq(table.prefix, filter.prefix),
    filter.unrevoked ? isNull(table.revoked_at) : undefined,
    filter.liveAt === undefined ? undefined : inForce(table, filter.liveAt),
  ]
}

const inForce = (table: typeof apiKeys.sqlite, at: number): SQL | undefined =>
  and(isNull(table.revoked_at), or(isNull(table.expires_at), gt(table.expires_at, at)))

/** Whether a key is neither revoked nor expired. */
export const isLive = ({ revoked_at, expires_at }: Pick<KeyRow, 'revoked_at' | 'expires_at'>, now: number): boolean =>
  revoked_at === null && (expires_at === null || expires_at > now)
