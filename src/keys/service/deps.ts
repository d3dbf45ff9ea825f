import type { AuditLog } from '../../audit'
import type { EventBus } from '../../events'
import type { Call, Caller, Tier } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import type { KeyId } from '../../kernel/ids'
import type { Reader, Store, Tx } from '../../kernel/store'
import type { OrgService } from '../../orgs'
import { type KeyFacts, keyCreated, keyRevoked } from '../events'
import type { KeyLookup } from '../lookup'
import { factsOf, type Spent } from '../present'
import { ownerOfKey, type TierLimits } from '../rules'
import type { KeyRow } from '../table'

export type KeyDeps = {
  store: Store
  audit: AuditLog
  events: EventBus
  orgs: OrgService
  lookup: KeyLookup
  clock: Clock
  /** What a tier allows a minute; the table belongs to a later room. */
  limitsOf(tier: Tier): TierLimits
  /** What a key has cost so far; counted by the room that records calls. */
  spentBy(reader: Reader, keyId: KeyId): Promise<Spent>
}

/** Leaves the trace of a change to a key: its audit row, and for births and ends the event (contract 14.2, 19). */
export async function recordChange(
  { audit, events, lookup }: Pick<KeyDeps, 'audit' | 'events' | 'lookup'>,
  tx: Tx,
  call: Call<Caller>,
  row: KeyRow,
  change: { action: 'key.created' | 'key.updated' | 'key.revoked'; fields?: string[] },
): Promise<void> {
  const scope = ownerOfKey(row)
  const input = change.fields ? { fields: change.fields } : {}
  await audit.record(tx, call, { action: change.action, entityType: 'api_key', entityId: row.id, scope, input })
  const facts: KeyFacts = factsOf(row)
  if (change.action === 'key.created') await events.emit(tx, keyCreated, scope, facts)
  if (change.action === 'key.revoked') await events.emit(tx, keyRevoked, scope, facts)
  tx.afterCommit(() => lookup.forget(row.hash))
}
