import type { AuditLog } from '../../audit'
import type { EventBus } from '../../events'
import type { Call, Caller } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import type { Values } from '../../kernel/config'
import type { Reader, Store, Tx } from '../../kernel/store'
import type { KeyService } from '../../keys'
import { mayDo, type OrgService } from '../../orgs'
import type { guardrailSettings } from '../config'
import { keyIsBound, policyNotFound, teamNeedsPermission } from '../errors'
import type { PolicyLookup } from '../policy/lookup'
import { present } from '../present'
import { type Reach, policyRepository as rows } from '../repository'
import { type GuardrailPolicy, GuardrailPolicyId, type PolicyScope } from '../schema'
import type { PolicyRow } from '../table'

export type PolicyDeps = {
  store: Store
  audit: AuditLog
  events: EventBus
  clock: Clock
  orgs: Pick<OrgService, 'roleOf' | 'lockOwner'>
  settings: Pick<Values<typeof guardrailSettings>, 'maxPolicies'>
  keys: Pick<KeyService, 'bindings'>
  /** Told of every change, since it remembers policies. */
  lookup: PolicyLookup
}

/** Whose policies a caller sees: their own and their active org's; an org's key its org's, an operator everyone's. */
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
 * Throws as {@link assertMayMake}, and for the key that the policy is bound to: a leaked key could otherwise free
 * itself of what contains it. A default contains no key in this sense (contract 12).
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
  if (bound?.guardrail_policy_id === row.id) throw keyIsBound()
}

/** A policy the caller sees. A foreign, an unknown and a malformed id are the same 404 (I22). */
export async function findSeen(reader: Reader, caller: Caller, id: string): Promise<PolicyRow> {
  const row = GuardrailPolicyId.is(id) ? await rows.find(reader, ownersOf(caller), id) : undefined
  if (!row) throw policyNotFound()
  return row
}

/** The same inside a unit, with the row locked until it commits. */
export async function findLocked(tx: Tx, caller: Caller, id: string): Promise<PolicyRow> {
  const row = GuardrailPolicyId.is(id) ? await rows.findLocked(tx, ownersOf(caller), id) : undefined
  if (!row) throw policyNotFound()
  return row
}

/** As answered, each with the count of keys it is bound to. */
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

/** Writes the audit row of a change, and makes runs read the policy anew once it is committed. */
export async function recordChange(
  { audit, lookup }: Pick<PolicyDeps, 'audit' | 'lookup'>,
  tx: Tx,
  call: Call<Caller>,
  row: Pick<PolicyRow, 'id' | 'owner'>,
  { action, ...input }: Change,
): Promise<void> {
  await audit.record(tx, call, {
    action,
    entityType: 'guardrail_policy',
    entityId: row.id,
    scope: row.owner,
    input,
  })
  tx.afterCommit(() => lookup.forget(row))
}
