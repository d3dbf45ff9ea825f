import type { AuditLog } from '../../audit'
import type { EventBus } from '../../events'
import type { Call, Caller } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import type { Reader, Store, Tx } from '../../kernel/store'
import type { KeyService } from '../../keys'
import { mayDo, type OrgService } from '../../orgs'
import { boundByIt, policyNotFound, teamNeedsPermission } from '../errors'
import { present } from '../present'
import { type Reach, policyRepository as rows } from '../repository'
import type { Resolve } from '../resolve'
import { type GuardrailPolicy, GuardrailPolicyId, type PolicyScope } from '../schema'
import type { PolicyRow } from '../table'

export type PolicyDeps = {
  store: Store
  audit: AuditLog
  events: EventBus
  clock: Clock
  orgs: Pick<OrgService, 'roleOf'>
  keys: Pick<KeyService, 'bindings'>
  /** Forgets what it remembers of a policy when it changes. */
  resolve: Resolve
}

/** Whose policies a caller sees: their own and their active org's; an org's key those of its org, an operator all. */
export function ownersOf(caller: Caller, scope?: PolicyScope): Reach {
  if (caller.type === 'operator') return 'everyone'
  const personal = caller.orgId ? [] : [`user:${caller.userId}` as const]
  const team = caller.activeOrgId ? [`org:${caller.activeOrgId}` as const] : []
  return scope === 'personal' ? personal : scope === 'team' ? team : [...personal, ...team]
}

/** Throws 403 `missing_scope` unless the caller's role may make and change team policies (contract 12). */
export async function assertMayMake(
  { orgs }: Pick<PolicyDeps, 'orgs'>,
  reader: Reader,
  caller: Caller,
  { org_id }: Pick<PolicyRow, 'org_id'>,
): Promise<void> {
  if (!org_id || caller.type === 'operator') return
  const role = await orgs.roleOf(reader, org_id, caller.userId)
  if (!mayDo(role, 'manageWebhooks')) throw teamNeedsPermission(role)
}

/**
 * Throws as {@link assertMayMake}, and for the key that is under the policy: one that leaked could free itself of
 * what was set to contain it.
 */
export async function assertMayChange(
  deps: Pick<PolicyDeps, 'orgs' | 'keys'>,
  reader: Reader,
  caller: Caller,
  row: Pick<PolicyRow, 'id' | 'org_id'>,
): Promise<void> {
  await assertMayMake(deps, reader, caller, row)
  if (caller.type !== 'key') return
  const bound = await deps.keys.bindings.of(reader, caller.keyId)
  if (bound?.guardrail_policy_id === row.id) throw boundByIt()
}

/** A policy the caller sees. A foreign, an unknown and a malformed id are the same 404 (I22). */
export async function findSeen(reader: Reader, caller: Caller, id: string): Promise<PolicyRow> {
  const row = GuardrailPolicyId.is(id) ? await rows.find(reader, ownersOf(caller), id) : undefined
  if (!row) throw policyNotFound()
  return row
}

/** The same in a unit that changes it: whoever else would, waits. */
export async function findLocked(tx: Tx, caller: Caller, id: string): Promise<PolicyRow> {
  const row = GuardrailPolicyId.is(id) ? await rows.findLocked(tx, ownersOf(caller), id) : undefined
  if (!row) throw policyNotFound()
  return row
}

/** With the keys it is bound to counted. */
export async function presentAll(
  { keys }: Pick<PolicyDeps, 'keys'>,
  reader: Reader,
  found: readonly PolicyRow[],
): Promise<GuardrailPolicy[]> {
  const ids = found.map(({ id }) => id)
  const bound = await keys.bindings.counts(reader, 'guardrail_policy_id', ids)
  return found.map((row) => present(row, bound.get(row.id) ?? 0))
}

type Change = { action: `guardrail_policy.${'created' | 'updated' | 'deleted'}`; fields?: string[] }

/** Leaves the trace of a change, and forgets what runs remember of the policy once it is durable. */
export async function recordChange(
  { audit, resolve }: Pick<PolicyDeps, 'audit' | 'resolve'>,
  tx: Tx,
  call: Call<Caller>,
  row: Pick<PolicyRow, 'id' | 'owner'>,
  { action, ...input }: Change,
): Promise<void> {
  await audit.record(tx, call, {
    ...{ action, entityType: 'guardrail_policy', entityId: row.id },
    ...{ scope: row.owner, input },
  })
  tx.afterCommit(() => resolve.forget(row))
}
