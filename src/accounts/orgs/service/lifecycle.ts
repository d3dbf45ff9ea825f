import { storeAnswer } from '../../../idempotency'
import type { Call, Caller } from '../../../kernel/caller'
import { randomHex } from '../../../kernel/crypto'
import { OrgId, type UserId } from '../../../kernel/ids'
import { isUniqueViolation, type Tx } from '../../../kernel/store'
import { ownerOnly, permissionMissing, slugTaken } from '../errors'
import { accessChanged, orgDeleted } from '../events'
import { invitationRows } from '../invitation-rows'
import { memberRows } from '../member-rows'
import { presentOrg } from '../present'
import { orgRepository as rows } from '../repository'
import { mayDo, slugify } from '../rules'
import type { NewOrg, Org, OrgPatch } from '../schema'
import type { OrgRow } from '../table'
import { assertMayOwn, assertPerson, reachLocked } from './access'
import { type OrgDeps, recordOn } from './deps'

/** Creating, changing and deleting orgs. */
export function createLifecycle(deps: OrgDeps) {
  const { store, events, clock } = deps
  return { createOrg, foundOrg, update, remove, change, end }

  /**
   * Creates an org with its owner, in the caller's transaction. Throws 409 `conflict` when a requested slug is taken;
   * a slug derived from the name gets a suffix instead.
   */
  async function createOrg(tx: Tx, call: Call<Caller>, ownerId: UserId, input: NewOrg): Promise<OrgRow> {
    const now = clock.now()
    const row: OrgRow = {
      id: OrgId.create(),
      name: input.name,
      slug: input.slug ?? slugify(input.name),
      type: input.type ?? 'team',
      plan_note: null,
      suspended_at: null,
      deleted_at: null,
      created_at: now,
      updated_at: now,
    }
    if (!(await rows.insertOrg(tx, row))) {
      if (input.slug) throw slugTaken(input.slug)
      row.slug = `${row.slug}-${randomHex(4)}`
      if (!(await rows.insertOrg(tx, row))) throw slugTaken(row.slug)
    }
    await memberRows.insert(tx, { org_id: row.id, user_id: ownerId, role: 'owner', joined_at: now })
    await recordOn(deps, tx, call, row.id, { action: 'org.created' })
    return row
  }

  /** `POST /orgs`: the caller becomes its owner. Throws 403 for an org's key, 409 `conflict` for a taken slug and one org too many. */
  async function foundOrg(call: Call, input: NewOrg): Promise<Org> {
    assertPerson(call.caller, 'found another one')
    return store.write(async (tx) => {
      await assertMayOwn(deps, tx, call, call.caller.userId)
      const org = await createOrg(tx, call, call.caller.userId, input)
      return storeAnswer(tx, call, presentOrg(org, 'owner', 1))
    })
  }

  /** `PATCH /orgs/{id}`, needs `manageMembers`. Throws 409 for a taken slug. */
  function update(call: Call, id: string, patch: OrgPatch): Promise<Org> {
    return refusingTakenSlug(patch.slug, () =>
      store.write(async (tx) => {
        const { org, role } = await reachLocked(tx, call.caller, id)
        if (!mayDo(role, 'manageMembers')) throw permissionMissing(role, 'manageMembers')
        const after = await change(tx, call, org, { name: patch.name, slug: patch.slug })
        return presentOrg(after, role, (await rows.memberCounts(tx, [org.id])).get(org.id) ?? 0)
      }),
    )
  }

  /** Changes the given fields, in the caller's transaction. Throws 409 `conflict` for a taken slug. */
  async function change(tx: Tx, call: Call<Caller>, org: OrgRow, wanted: OrgChange): Promise<OrgRow> {
    const changes = Object.entries(wanted).filter(([, value]) => value !== undefined)
    if (!changes.length) return org
    if (wanted.slug && wanted.slug !== org.slug && (await rows.orgBySlug(tx, wanted.slug))) throw slugTaken(wanted.slug)
    const after = await rows.update(tx, org.id, { ...Object.fromEntries(changes), updated_at: clock.now() })
    await recordOn(deps, tx, call, org.id, { action: 'org.updated', fields: changes.map(([name]) => name) })
    return after
  }

  /** `DELETE /orgs/{id}`, for its owners. */
  function remove(call: Call, id: string): Promise<{ deleted: true }> {
    return store.write(async (tx) => {
      const { org, role } = await reachLocked(tx, call.caller, id)
      if (role !== 'owner') throw ownerOnly('delete the organization', role)
      await end(tx, call, org)
      return { deleted: true }
    })
  }

  /**
   * Deletes an org in the caller's transaction: members and invitations are removed, the keys room revokes its keys,
   * and its slug becomes free. Its ledger, its usage and its audit chain stay.
   */
  async function end(tx: Tx, call: Call<Caller>, org: OrgRow): Promise<void> {
    const now = clock.now()
    const count = (await rows.memberCounts(tx, [org.id])).get(org.id) ?? 0
    await events.emit(tx, orgDeleted, `org:${org.id}`, { orgId: org.id, call })
    await invitationRows.removeAll(tx, org.id)
    await memberRows.removeAll(tx, org.id)
    await rows.update(tx, org.id, { deleted_at: now, updated_at: now, slug: org.id })
    await recordOn(deps, tx, call, org.id, { action: 'org.deleted', metadata: { members: count } })
    await events.emit(tx, accessChanged, `org:${org.id}`, { orgId: org.id })
  }
}

type OrgChange = { [Name in 'name' | 'slug' | 'type' | 'plan_note']?: OrgRow[Name] | undefined }

/** Two concurrent requests for one slug: the unique index rejects the second, which gets 409 `conflict`. */
async function refusingTakenSlug<T>(slug: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (slug !== undefined && isUniqueViolation(error)) throw slugTaken(slug)
    throw error
  }
}
