import { and, count, eq, inArray } from 'drizzle-orm'
import type { Bound } from '../../kernel/bind'
import type { Call, Caller } from '../../kernel/caller'
import type { KeyId, OrgId, UserId } from '../../kernel/ids'
import type { Reader, Tx } from '../../kernel/store'
import { findKey, type KeyDeps, keyInUse, presentSpent, recordChange } from './access'
import { keyRepository as rows } from './repository'
import { assertNotWidened } from './rules'
import type { ApiKey } from './schema'
import { apiKeys, type KeyRow } from './table'

/** Columns that later modules attach to a key (docs/api.md 13). */
type KeyBound = Pick<KeyRow, 'routing_preference_id' | 'routing_rules' | 'routing_floors' | 'guardrail_policy_id'>
type BoundColumn = 'routing_preference_id' | 'guardrail_policy_id'

/** The facts about a key that a module needs to attach something to it. */
export type BindableKey = { id: KeyId; userId: UserId; orgId: OrgId | null }

/** The only way for other modules to set, read and clear what is attached to keys. */
export const keyBindings = { set, reach: findOwnKey, of, counts, clear }
export type KeyBindings = Bound<typeof keyBindings>

/**
 * Sets columns on a key the caller owns or manages. `read` gets the key and returns the columns. Throws 404 for any
 * other key. Throws 403 `forbidden` for an org's key whose creator may no longer manage keys, and for a key that would
 * remove a bound from itself.
 */
async function set(
  deps: KeyDeps,
  tx: Tx,
  call: Call,
  id: string,
  read: (key: BindableKey) => Partial<KeyBound> | Promise<Partial<KeyBound>>,
): Promise<ApiKey> {
  const key = await findOwnKey(deps, tx, call, id)
  // Locks the key after the attached row. A deletion also locks that row first, and then the keys that hold it.
  const change = await read(key)
  const before = await rows.lock(tx, key.id)
  const { caller } = call
  if (caller.type === 'key') assertNotWidened(caller, before, change, await keyInUse(tx, caller))
  const row = await rows.update(tx, before.id, change)
  await recordChange(deps, tx, call, row, { action: 'key.updated', fields: Object.keys(change) })
  return presentSpent(deps, tx, row)
}

/** A key the caller owns or manages. Throws like `set`. Call it before validating a body. */
async function findOwnKey(deps: KeyDeps, reader: Reader, { caller }: Call, id: string): Promise<BindableKey> {
  const row = await findKey(deps, reader, caller, id)
  return { id: row.id, userId: row.user_id, orgId: row.org_id }
}

/** The columns attached to a key. Null when the key does not exist. */
async function of(_deps: KeyDeps, reader: Reader, id: KeyId): Promise<KeyBound | null> {
  const row = await rows.find(reader, 'everyone', id)
  if (!row) return null
  const { routing_preference_id, routing_rules, routing_floors, guardrail_policy_id } = row
  return { routing_preference_id, routing_rules, routing_floors, guardrail_policy_id }
}

/** Number of working keys that hold each of these ids. Ids that no key holds are omitted. */
async function counts(
  { clock }: KeyDeps,
  reader: Reader,
  column: BoundColumn,
  ids: readonly string[],
): Promise<Map<string, number>> {
  if (!ids.length) return new Map()
  const table = reader.of(apiKeys)
  const found = await reader
    .select({ id: table[column], keys: count() })
    .from(table)
    .where(and(inArray(table[column], [...ids]), rows.live(reader, clock.now())))
    .groupBy(table[column])
  return new Map(found.flatMap(({ id, keys }) => (id === null ? [] : [[id, Number(keys)] as const])))
}

/** Removes a deleted id from every key that holds it. Returns the ids of those keys. */
async function clear(deps: KeyDeps, tx: Tx, call: Call<Caller>, column: BoundColumn, id: string): Promise<KeyId[]> {
  const table = tx.of(apiKeys)
  const held = await tx
    .update(table)
    .set({ [column]: null })
    .where(eq(table[column], id))
    .returning()
  for (const row of held) await recordChange(deps, tx, call, row, { action: 'key.updated', fields: [column] })
  return held.map((row) => row.id)
}
