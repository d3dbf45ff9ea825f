import type { OrgService, UserRow } from '../accounts'
import type { Member, NewInvitation, Role } from '../accounts/orgs/schema'
import type { Call, OperatorCaller } from '../kernel/caller'
import { notFound } from '../kernel/errors'
import { type OrgId, UserId } from '../kernel/ids'
import type { Reader, Store, Tx } from '../kernel/store'
import { userNotFound } from './errors-people'
import type { IssuedInvitation, NewMember } from './schema-people'

type Deps = { store: Store; orgs: OrgService }
type OperatorCall = Call<OperatorCaller>

/** Members of any org, for operators: no role is needed, but one owner always stays (dx 2.9). */
export function createMemberVerbs({ store, orgs }: Deps) {
  return { list, add, setRole, remove, invite }

  /** Oldest membership first. */
  async function list(_call: OperatorCall, ref: string): Promise<Member[]> {
    const { id } = await orgs.find(store.read, ref)
    return orgs.members.all(store.read, id)
  }

  /** Adds an account; an existing member gets the role. Throws 409 for the last owner. */
  function add(call: OperatorCall, ref: string, { user, role }: NewMember): Promise<Member> {
    return inOrg(ref, async (tx, orgId) => {
      const { id: userId } = await findUser(orgs, tx, user)
      const isNew = await orgs.members.join(tx, call, { orgId, userId, role, invitedBy: null })
      const member = await orgs.members.find(tx, orgId, userId)
      return orgs.members.changeRole(tx, call, member, isNew ? member.role : role)
    })
  }

  /** Throws 409 for the last owner. */
  function setRole(call: OperatorCall, ref: string, user: string, role: Role): Promise<Member> {
    return inOrg(ref, async (tx, orgId) => {
      const { id } = await findUser(orgs, tx, user)
      return orgs.members.changeRole(tx, call, await orgs.members.find(tx, orgId, id), role)
    })
  }

  /** Also revokes the member's keys for the org. Throws 409 for the last owner. */
  function remove(call: OperatorCall, ref: string, user: string): Promise<{ deleted: true }> {
    return inOrg(ref, async (tx, orgId) => {
      const { id } = await findUser(orgs, tx, user)
      await orgs.members.removeMember(tx, call, await orgs.members.find(tx, orgId, id))
      return { deleted: true }
    })
  }

  /** Creates an invitation and returns its token, for the operator to pass on. Throws 409 for a member. */
  function invite(call: OperatorCall, ref: string, input: NewInvitation): Promise<IssuedInvitation> {
    return inOrg(ref, async (tx, orgId) => {
      const { invitation, token } = await orgs.invitations.issue(tx, call, { ...input, orgId, invitedBy: null })
      return { ...invitation, object: 'invitation', org_id: orgId, token }
    })
  }

  function inOrg<T>(ref: string, work: (tx: Tx, orgId: OrgId) => Promise<T>): Promise<T> {
    return store.write(async (tx) => {
      const org = await orgs.find(tx, ref)
      if (org.deleted_at !== null) throw notFound('organization')
      await orgs.lock(tx, org.id)
      return work(tx, org.id)
    })
  }
}

/** An account by id, beginning of the id, or e-mail address. Throws 404, or 400 when several ids begin so. */
export async function findUser(orgs: OrgService, reader: Reader, ref: string): Promise<UserRow> {
  const exact = UserId.is(ref) ? await orgs.user(reader, ref) : await orgs.userByEmail(reader, ref)
  const user = exact ?? (await orgs.userByIdPrefix(reader, ref))
  if (!user) throw userNotFound(ref)
  return user
}
