import type { Call, Caller } from '../../../kernel/caller'
import { type OrgId, UserId } from '../../../kernel/ids'
import type { Reader, Tx } from '../../../kernel/store'
import { lastOwner, memberNotFound } from '../errors'
import { accessChanged, memberJoined, memberLeft } from '../events'
import { type MemberWithAccount, memberRows as rows } from '../member-rows'
import { presentMember } from '../present'
import { assertMayAssign } from '../rules'
import type { Member, Role } from '../schema'
import { assertMayOwn, reach, reachLocked } from './access'
import { type OrgDeps, recordOn } from './deps'

export type NewMembership = { orgId: OrgId; userId: UserId; role: Role; invitedBy: UserId | null }

/** Members of an org and their roles. An org always keeps at least one owner. */
export function createMembers(deps: OrgDeps) {
  const { store, events, clock } = deps
  return { list, all, setRole, remove, join, changeRole, removeMember, find }

  /** `GET /orgs/{id}/members`, for all members; oldest membership first. */
  async function list({ caller }: Call, id: string): Promise<Member[]> {
    const { org } = await reach(store.read, caller, id)
    return all(store.read, org.id)
  }

  /** The same without a permission check. */
  async function all(reader: Reader, orgId: OrgId): Promise<Member[]> {
    return (await rows.list(reader, orgId)).map(presentMember)
  }

  /**
   * `PATCH /orgs/{id}/members/{userId}`. To hand an org over, an owner makes another owner and then steps down. Throws
   * 409 `conflict` for the last owner.
   */
  function setRole(call: Call, id: string, userId: string, role: Role): Promise<Member> {
    return store.write(async (tx) => {
      const { org, role: callerRole } = await reachLocked(tx, call.caller, id)
      const member = await find(tx, org.id, userId)
      assertMayAssign(callerRole, member.role, role)
      return changeRole(tx, call, member, role)
    })
  }

  /**
   * `DELETE /orgs/{id}/members/{userId}`: removes a member; removing oneself needs no permission. Throws 409 `conflict`
   * for the last owner.
   */
  function remove(call: Call, id: string, userId: string): Promise<{ deleted: true }> {
    return store.write(async (tx) => {
      const { org, role: callerRole } = await reachLocked(tx, call.caller, id)
      const isSelf = call.caller.orgId === null && userId === call.caller.userId
      const member = await find(tx, org.id, userId)
      if (!isSelf) assertMayAssign(callerRole, member.role)
      await removeMember(tx, call, member)
      return { deleted: true }
    })
  }

  /** Throws 404 for a user who is not a member, and for a malformed id. */
  async function find(reader: Reader, orgId: OrgId, userId: string): Promise<MemberWithAccount> {
    const member = UserId.is(userId) ? await rows.find(reader, orgId, userId) : undefined
    if (!member) throw memberNotFound()
    return member
  }

  /** Adds a member, in the caller's transaction; false when they are one already. Throws 409 as `assertMayOwn`. */
  async function join(tx: Tx, call: Call<Caller>, { orgId, userId, role, invitedBy }: NewMembership): Promise<boolean> {
    if (role === 'owner') await assertMayOwn(deps, tx, call, userId)
    const isNew = await rows.insert(tx, { org_id: orgId, user_id: userId, role, joined_at: clock.now() })
    if (!isNew) return false
    await recordOn(deps, tx, call, orgId, { action: 'org.member_joined', metadata: { user_id: userId, role } })
    const facts = { org_id: orgId, user_id: userId, role, invited_by: invitedBy }
    await events.emit(tx, memberJoined, `org:${orgId}`, facts)
    return true
  }

  /** Changes a member's role; the transaction must hold the org's lock. Throws 409 `conflict` for the last owner, and as `assertMayOwn`. */
  async function changeRole(tx: Tx, call: Call<Caller>, member: MemberWithAccount, role: Role): Promise<Member> {
    if (member.role === role) return presentMember(member)
    await assertNotLastOwner(tx, member)
    if (role === 'owner') await assertMayOwn(deps, tx, call, member.user_id)
    await rows.setRole(tx, member, role)
    const metadata = { user_id: member.user_id, from: member.role, to: role }
    await recordOn(deps, tx, call, member.org_id, { action: 'org.member_updated', metadata })
    return presentMember({ ...member, role })
  }

  /** Removes a member; the transaction must hold the org's lock. Throws 409 `conflict` for the last owner. */
  async function removeMember(tx: Tx, call: Call<Caller>, member: MemberWithAccount): Promise<void> {
    await assertNotLastOwner(tx, member)
    const { org_id: orgId, user_id: userId } = member
    await events.emit(tx, memberLeft, `org:${orgId}`, { orgId, userId, call })
    await rows.remove(tx, member)
    await recordOn(deps, tx, call, orgId, { action: 'org.member_removed', metadata: { user_id: userId } })
    await events.emit(tx, accessChanged, `user:${userId}`, { userId })
  }

  async function assertNotLastOwner(tx: Tx, { role, org_id }: MemberWithAccount): Promise<void> {
    if (role === 'owner' && (await rows.owners(tx, org_id)) === 1) throw lastOwner()
  }
}

export type Members = ReturnType<typeof createMembers>
