import { storeAnswer } from '../../idempotency'
import type { Call, Caller, TenantCaller } from '../../kernel/caller'
import type { Page } from '../../kernel/page'
import { isUniqueViolation, type Reader, type Tx } from '../../kernel/store'
import { defaultTaken, personalFromOrgKey, teamNeedsOrg, tooManyPolicies } from '../errors'
import { validateContent } from '../policy/validate'
import { type Reach, policyRepository as rows } from '../repository'
import { type GuardrailPolicy, GuardrailPolicyId, type NewPolicy, type PolicyPatch, type PolicyQuery } from '../schema'
import type { PolicyRow } from '../table'
import {
  assertMayChange,
  assertMayMake,
  findLocked,
  findSeen,
  ownersOf,
  type PolicyDeps,
  presentAll,
  recordChange,
} from './deps'

/** Creating, reading, changing and deleting policies (contract 12). */
export function createManage(deps: PolicyDeps) {
  const { store, clock, keys, orgs, settings } = deps
  return { create, list, get, update, remove, createFor, listOf }

  /**
   * `POST /guardrail-policies`: bound to no key. Throws 400 `guardrail_policy_invalid` and `org_required`, 403
   * `missing_scope`, 409 `conflict` where the scope has a default or as many policies as allowed.
   */
  async function create(call: Call, order: NewPolicy): Promise<GuardrailPolicy> {
    return createFor(call, { ...ownerOfNew(call.caller, order), user_id: call.caller.userId }, order)
  }

  /** The same for the owner that an operator names. */
  async function createFor(call: Call<Caller>, owned: Owned, order: NewPolicy): Promise<GuardrailPolicy> {
    await assertMayMake(deps, store.read, call.caller, owned)
    const rules = (await validateContent(order)) ?? []
    const now = clock.now()
    const row: PolicyRow = {
      id: GuardrailPolicyId.create(),
      ...owned,
      name: order.name,
      description: order.description ?? null,
      rules,
      default_of: order.is_default ? owned.owner : null,
      created_at: now,
      updated_at: now,
    }
    return unlessTaken(row.owner, async (tx) => {
      await assertMayMake(deps, tx, call.caller, row)
      if (call.caller.type !== 'operator') await assertRoom(tx, row)
      await rows.insert(tx, row)
      await recordChange(deps, tx, call, row, { action: 'guardrail_policy.created' })
      return storeAnswer(tx, call, await presentOne(tx, row))
    })
  }

  /** The owner is locked: concurrent requests count each other. Throws 409 `conflict`. */
  async function assertRoom(tx: Tx, { owner, user_id: userId, org_id: orgId }: Owned): Promise<void> {
    await orgs.lockOwner(tx, { userId, orgId })
    if ((await rows.count(tx, owner)) >= settings.maxPolicies) throw tooManyPolicies(settings.maxPolicies)
  }

  /** `GET /guardrail-policies`, newest first. */
  async function list({ caller }: Call, query: PolicyQuery): Promise<Page<GuardrailPolicy>> {
    return listOf(ownersOf(caller, query.scope), query)
  }

  /** The policies of these owners, newest first. */
  async function listOf(owners: Reach, query: PolicyQuery): Promise<Page<GuardrailPolicy>> {
    const page = await rows.list(store.read, { owners, ...query })
    return { ...page, items: await presentAll(deps, store.read, page.items) }
  }

  /** `GET /guardrail-policies/{id}`. Throws 404. */
  async function get({ caller }: Call<Caller>, id: string): Promise<GuardrailPolicy> {
    return presentOne(store.read, await findSeen(store.read, caller, id))
  }

  /** `PATCH /guardrail-policies/{id}`: in force for the next request. Throws 404, and what `create` throws. */
  async function update(call: Call<Caller>, id: string, patch: PolicyPatch): Promise<GuardrailPolicy> {
    const before = await findSeen(store.read, call.caller, id)
    await assertMayChange(deps, store.read, call.caller, before)
    const content = await readPatch(patch)
    return unlessTaken(before.owner, async (tx) => {
      const row = await findLocked(tx, call.caller, id)
      await assertMayChange(deps, tx, call.caller, row)
      const { is_default } = patch
      const change = {
        ...content,
        ...(is_default === undefined ? {} : { default_of: is_default ? row.owner : null }),
      }
      if (!Object.keys(change).length) return presentOne(tx, row)
      const updated_at = Math.max(clock.now(), row.updated_at + 1)
      const changed = await rows.update(tx, row.id, { ...change, updated_at })
      await recordChange(deps, tx, call, row, {
        action: 'guardrail_policy.updated',
        fields: SETTABLE.filter((name) => patch[name] !== undefined),
      })
      return presentOne(tx, changed)
    })
  }

  /** `DELETE /guardrail-policies/{id}`: the keys it was bound to have none from now on. Throws 404, 403. */
  function remove(call: Call<Caller>, id: string): Promise<{ deleted: true }> {
    return store.write(async (tx) => {
      const row = await findLocked(tx, call.caller, id)
      await assertMayChange(deps, tx, call.caller, row)
      await keys.bindings.clear(tx, call, 'guardrail_policy_id', row.id)
      await rows.remove(tx, row.id)
      await recordChange(deps, tx, call, row, { action: 'guardrail_policy.deleted' })
      return { deleted: true }
    })
  }

  async function presentOne(reader: Reader, row: PolicyRow): Promise<GuardrailPolicy> {
    return (await presentAll(deps, reader, [row]))[0]!
  }

  /** The database allows one default a scope: a second one is refused with the name of the first. */
  async function unlessTaken<T>(owner: PolicyRow['owner'], unit: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await store.write(unit)
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw defaultTaken((await rows.defaultOf(store.read, owner))?.name ?? null)
    }
  }
}

/** Who owns a new policy, and who makes it. */
export type Owned = Pick<PolicyRow, 'owner' | 'org_id' | 'user_id'>

/** An organization's key acts for it, so the policies it makes are the team's. */
function ownerOfNew(caller: TenantCaller, { scope }: NewPolicy): Pick<PolicyRow, 'owner' | 'org_id'> {
  const wanted = scope ?? (caller.orgId ? 'team' : 'personal')
  if (wanted === 'personal') {
    if (caller.orgId) throw personalFromOrgKey()
    return { owner: `user:${caller.userId}`, org_id: null }
  }
  if (!caller.activeOrgId) throw teamNeedsOrg()
  return { owner: `org:${caller.activeOrgId}`, org_id: caller.activeOrgId }
}

const SETTABLE = ['name', 'description', 'rules', 'is_default'] as const

/** The validated members of a patch. Runs before the transaction, since compiling rules takes long. */
async function readPatch(patch: PolicyPatch): Promise<Partial<PolicyRow>> {
  const { name, description } = patch
  const rules = await validateContent(patch)
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(rules === undefined ? {} : { rules }),
  }
}
