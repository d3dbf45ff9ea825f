import type { AuditLog } from '../../../audit'
import type { EventBus } from '../../../events'
import type { Call, Caller, Tier } from '../../../kernel/caller'
import type { Clock } from '../../../kernel/clock'
import type { Values } from '../../../kernel/config'
import type { KeyId } from '../../../kernel/ids'
import type { Reader, Store, Tx } from '../../../kernel/store'
import type { OrgService } from '../../orgs/service'
import type { keySettings } from '../config'
import { type KeyFacts, keyCreated, keyRevoked } from '../events'
import type { KeyLookup } from '../lookup'
import { factsOf, type Spent } from '../present'
import { keyRepository as rows } from '../repository'
import { ownerOfKey, type TierLimits } from '../rules'
import type { KeyRow } from '../table'

export type KeyDeps = {
  store: Store
  audit: AuditLog
  events: EventBus
  orgs: OrgService
  lookup: KeyLookup
  clock: Clock
  settings: Values<typeof keySettings>
  /** The limits per minute of a tier; the table belongs to a later room. */
  limitsOf(tier: Tier): TierLimits
  /** What a key has spent so far; the usage room counts it. */
  spentBy(reader: Reader, keyId: KeyId): Promise<Spent>
}

export type KeyChange = {
  action: 'key.created' | 'key.updated' | 'key.rotated' | 'key.revoked'
  /** Names of the fields an update set. */
  fields?: string[]
  metadata?: Record<string, unknown>
}

/** Records a change to a key: its audit row, and for creation and revocation the event (contract 14.2, 19). */
export async function recordChange(
  { audit, events, lookup }: Pick<KeyDeps, 'audit' | 'events' | 'lookup'>,
  tx: Tx,
  call: Call<Caller>,
  row: KeyRow,
  { action, ...input }: KeyChange,
): Promise<void> {
  const scope = ownerOfKey(row)
  await audit.record(tx, call, { action, entityType: 'api_key', entityId: row.id, scope, input })
  const facts: KeyFacts = factsOf(row)
  if (action === 'key.created') await events.emit(tx, keyCreated, scope, facts)
  if (action === 'key.revoked') await events.emit(tx, keyRevoked, scope, facts)
  const hashes = await rows.hashesOf(tx, row.id)
  tx.afterCommit(() => hashes.forEach(lookup.forget))
}
