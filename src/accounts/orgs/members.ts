import type { Mail } from '../../cluster'
import { storeAnswer } from '../../idempotency'
import { defineJob } from '../../jobs'
import type { Call, Caller, OperatorCaller } from '../../kernel/caller'
import { iso } from '../../kernel/clock'
import { type OrgId, UserId } from '../../kernel/ids'
import type { Reader, Tx } from '../../kernel/store'
import {
  assertMayOwn,
  assertPerson,
  findUser,
  lockOrgForCaller,
  type OrgDeps,
  orgForCaller,
  recordOrgChange,
} from './access'
import { orgErrors } from './errors'
import { accessChanged, memberJoined, memberLeft } from './events'
import { presentMember, view } from './present'
import { invitationRows, type MemberWithAccount, orgRepository, memberRows as rows } from './repository'
import {
  assertMayAssign,
  INVITATION_MS,
  invitationStatus,
  mintInvitationToken,
  normalizeEmail,
  recogniseInvitationToken,
} from './rules'
import {
  type Invitation,
  InvitationId,
  type IssuedInvitation,
  type Member,
  type NewInvitation,
  type NewMember,
  type Org,
  type ResentInvitation,
  type Role,
} from './schema'
import type { InvitationRow, UserRow } from './table'

/** Members of an org and their roles. An org always keeps at least one owner. */
export const memberVerbs = { list: listMembers, add: addMember, setRole, remove: removeMember, join }

/** `GET /orgs/{id}/members`, for all members; oldest membership first. */
async function listMembers({ store, clock }: OrgDeps, { caller }: Call<Caller>, id: string): Promise<Member[]> {
  const { org, role } = await orgForCaller(store.read, caller, id)
  return (await rows.list(store.read, org.id, clock.now())).map((member) => presentMember(member, role))
}

/** For operators: adds an account as a member. An existing member gets the role. Throws 409 for the last owner. */
function addMember(deps: OrgDeps, call: Call<OperatorCaller>, id: string, { user, role }: NewMember): Promise<Member> {
  return deps.store.write(async (tx) => {
    const { org, role: callerRole } = await lockOrgForCaller(tx, call.caller, id)
    const { id: userId } = await findUser(tx, user)
    const isNew = await join(deps, tx, call, { orgId: org.id, userId, role, invitedBy: null })
    const member = await findMember(deps, tx, call.caller, org.id, userId)
    return presentMember(await changeRole(deps, tx, call, member, isNew ? member.role : role), callerRole)
  })
}

/**
 * `PATCH /orgs/{id}/members/{userId}`. To hand an org over, an owner makes another owner and then steps down. Throws
 * 409 `conflict` for the last owner.
 */
function setRole(deps: OrgDeps, call: Call<Caller>, id: string, user: string, role: Role): Promise<Member> {
  return deps.store.write(async (tx) => {
    const { org, role: callerRole } = await lockOrgForCaller(tx, call.caller, id)
    const member = await findMember(deps, tx, call.caller, org.id, user)
    assertMayAssign(callerRole, member.role, role)
    return presentMember(await changeRole(deps, tx, call, member, role), callerRole)
  })
}

/**
 * `DELETE /orgs/{id}/members/{userId}`: removes a member and revokes their keys for the org. Removing oneself needs no
 * permission. Throws 409 `conflict` for the last owner.
 */
function removeMember(deps: OrgDeps, call: Call<Caller>, id: string, user: string): Promise<{ deleted: true }> {
  return deps.store.write(async (tx) => {
    const { caller } = call
    const { org, role: callerRole } = await lockOrgForCaller(tx, caller, id)
    const isSelf = caller.type !== 'operator' && caller.orgId === null && user === caller.userId
    const member = await findMember(deps, tx, caller, org.id, user)
    if (!isSelf) assertMayAssign(callerRole, member.role)
    await assertNotLastOwner(tx, member)
    const { org_id: orgId, user_id: userId } = member
    await deps.events.emit(tx, memberLeft, `org:${orgId}`, { orgId, userId, call })
    await rows.remove(tx, member)
    await recordOrgChange(deps, tx, call, orgId, { action: 'org.member_removed', metadata: { user_id: userId } })
    await deps.events.emit(tx, accessChanged, `user:${userId}`, { userId })
    return { deleted: true }
  })
}

/** Operators may use any reference of `findUser`. Throws 404 for a user who is not a member, and a malformed id. */
async function findMember(
  { clock }: OrgDeps,
  reader: Reader,
  caller: Caller,
  orgId: OrgId,
  user: string,
): Promise<MemberWithAccount> {
  const userId = caller.type === 'operator' ? (await findUser(reader, user)).id : user
  const member = UserId.is(userId) ? await rows.find(reader, orgId, userId, clock.now()) : undefined
  if (!member) throw orgErrors.memberNotFound()
  return member
}

type NewMembership = { orgId: OrgId; userId: UserId; role: Role; invitedBy: UserId | null }

/** Adds a member in the caller's transaction. Returns false for an existing member. Throws 409 like `assertMayOwn`. */
async function join(
  deps: OrgDeps,
  tx: Tx,
  call: Call<Caller>,
  { orgId, userId, role, invitedBy }: NewMembership,
): Promise<boolean> {
  if (role === 'owner') await assertMayOwn(deps, tx, call, userId)
  const isNew = await rows.insert(tx, { org_id: orgId, user_id: userId, role, joined_at: deps.clock.now() })
  if (!isNew) return false
  await recordOrgChange(deps, tx, call, orgId, { action: 'org.member_joined', metadata: { user_id: userId, role } })
  const facts = { org_id: orgId, user_id: userId, role, invited_by: invitedBy }
  await deps.events.emit(tx, memberJoined, `org:${orgId}`, facts)
  return true
}

/** Changes a member's role. Needs the org's lock. Throws 409 `conflict` for the last owner, and like `assertMayOwn`. */
async function changeRole(
  deps: OrgDeps,
  tx: Tx,
  call: Call<Caller>,
  member: MemberWithAccount,
  role: Role,
): Promise<MemberWithAccount> {
  if (member.role === role) return member
  await assertNotLastOwner(tx, member)
  if (role === 'owner') await assertMayOwn(deps, tx, call, member.user_id)
  await rows.setRole(tx, member, role)
  const metadata = { user_id: member.user_id, from: member.role, to: role }
  await recordOrgChange(deps, tx, call, member.org_id, { action: 'org.member_updated', metadata })
  return { ...member, role }
}

async function assertNotLastOwner(tx: Tx, { role, org_id }: MemberWithAccount): Promise<void> {
  if (role === 'owner' && (await rows.owners(tx, org_id)) === 1) throw orgErrors.lastOwner()
}

/**
 * Invitations: for one e-mail address, single use, valid for seven days. Only the hash of the token is stored. The
 * inviter sees the token once, to pass it on. It works only for the account with the invited address.
 */
export const invitationVerbs = { invite, issue, look, accept, list: listInvitations, withdraw, resend }

type Issued = { invitation: Invitation; token: string }

/**
 * `POST /orgs/{id}/invitations`. Inviting an address again replaces its earlier invitation. Throws 403 `forbidden`
 * (only owners invite owners), 409 `conflict` for a member.
 */
function invite(
  deps: OrgDeps,
  call: Call<Caller>,
  id: string,
  input: NewInvitation,
): Promise<Issued | IssuedInvitation> {
  return deps.store.write(async (tx) => {
    const { caller } = call
    const { org, role } = await lockOrgForCaller(tx, caller, id)
    assertMayAssign(role, input.role)
    const invitedBy = caller.type === 'operator' ? null : caller.userId
    const { invitation, token } = await issue(deps, tx, call, { orgId: org.id, invitedBy, ...input })
    if (caller.type === 'operator') return { ...invitation, object: 'invitation', org_id: org.id, token }
    return storeAnswer(tx, call, { invitation, token })
  })
}

/** Creates an invitation and its token. Needs the org's lock. Throws 409 `conflict` for a member. */
async function issue(
  deps: OrgDeps,
  tx: Tx,
  call: Call<Caller>,
  { orgId, invitedBy, email, role }: NewInvitation & { orgId: OrgId; invitedBy: UserId | null },
): Promise<Issued> {
  const address = normalizeEmail(email)
  const existingUser = await orgRepository.userByEmail(tx, address)
  if (existingUser && (await orgRepository.role(tx, orgId, existingUser.id))) throw orgErrors.alreadyMember(address)
  const now = deps.clock.now()
  const { token, hash } = mintInvitationToken()
  const row: InvitationRow = {
    id: InvitationId.create(),
    org_id: orgId,
    email: address,
    role,
    token_hash: hash,
    invited_by: invitedBy,
    created_at: now,
    expires_at: now + INVITATION_MS,
    accepted_at: null,
  }
  await invitationRows.replace(tx, row)
  const metadata = { invitation_id: row.id, role }
  await recordOrgChange(deps, tx, call, orgId, { action: 'org.member_invited', metadata })
  return { invitation: presentInvitation(row, now), token }
}

const presentInvitation = (row: InvitationRow, now: number): Invitation => ({
  id: row.id,
  email: row.email,
  role: row.role,
  status: invitationStatus(row, now),
  expires_at: iso(row.expires_at),
})

/** `GET /orgs/{id}/invitations`: pending and expired ones, newest first. Throws 403 without `manageMembers`. */
async function listInvitations({ store, clock }: OrgDeps, { caller }: Call<Caller>, id: string): Promise<Invitation[]> {
  const { org, role } = await orgForCaller(store.read, caller, id)
  assertMayAssign(role)
  return (await invitationRows.open(store.read, org.id)).map((row) => presentInvitation(row, clock.now()))
}

/** `DELETE /orgs/{id}/invitations/{invitationId}`: its token stops working. Throws 404 for an accepted invitation. */
function withdraw(deps: OrgDeps, call: Call<Caller>, id: string, invitation: string): Promise<{ deleted: true }> {
  return deps.store.write(async (tx) => {
    const { id: invitation_id, org_id } = await changeInvitation(tx, call, id, invitation, null)
    const metadata = { invitation_id }
    await recordOrgChange(deps, tx, call, org_id, { action: 'org.invitation_withdrawn', metadata })
    return { deleted: true }
  })
}

/**
 * `POST /orgs/{id}/invitations/{invitationId}/resend`: a new token, valid for seven days. The earlier one stops
 * working. Mails the token to the address, or returns it in `url` when this server sends no mail.
 */
function resend(deps: InvitationDeps, call: Call<Caller>, id: string, invitation: string): Promise<ResentInvitation> {
  return deps.store.write(async (tx) => {
    const now = deps.clock.now()
    const { token, hash } = mintInvitationToken()
    const set = { token_hash: hash, expires_at: now + INVITATION_MS }
    const row = await changeInvitation(tx, call, id, invitation, set)
    const metadata = { invitation_id: row.id, role: row.role }
    await recordOrgChange(deps, tx, call, row.org_id, { action: 'org.member_invited', metadata })
    const shown = presentInvitation(row, now)
    if (deps.canMail()) await deps.mailInvitation(tx, row.id)
    const resent = deps.canMail() ? { invitation: shown } : { invitation: shown, url: urlOf(deps, token) }
    return call.caller.type === 'operator' ? resent : storeAnswer(tx, call as Call, resent)
  })
}

/** Page where an invited person joins. Browsers do not send the part after the `#` to any server. */
const urlOf = ({ origin }: { origin(): string }, token: string): string => `${origin()}/console/invitation#${token}`

type InvitationDeps = OrgDeps & {
  origin(): string
  canMail(): boolean
  mailInvitation(tx: Tx, id: InvitationId): Promise<unknown>
}

/** Job that mails an invitation. Only the job and the recipient know the token. */
export const invitationMail = (deps: Pick<OrgDeps, 'store' | 'clock'> & { mail: Mail; origin(): string }) =>
  defineJob<{ id: InvitationId }, null>({
    name: 'orgs.invitation',
    retry: { attempts: 4, delayMs: (attempt) => 2 ** attempt * 1_000 },
    timeLimitMs: 60_000,
    concurrency: 4,
    keepMs: 0,
    async run({ id: key, payload: { id }, signal, write }) {
      const { token, hash } = mintInvitationToken()
      const row = await write((tx) => invitationRows.change(tx, null, id, { token_hash: hash }))
      const org = row && (await orgRepository.org(deps.store.read, row.org_id))
      if (!row || !org) return {}
      const text = `You are invited to join ${org.name}. Open this link to accept:\n\n${urlOf(deps, token)}\n\nIt works once, within seven days, for ${row.email}.\n`
      await deps.mail.send({ to: [row.email], subject: `Invitation to ${org.name}`, text, key, signal })
      return {}
    },
  })

/** Changes an open invitation. The caller needs `manageMembers`, and for an owner's invitation the owner role. */
async function changeInvitation(
  tx: Tx,
  { caller }: Call<Caller>,
  id: string,
  invitation: string,
  set: Parameters<typeof invitationRows.change>[3],
): Promise<InvitationRow> {
  const { org, role } = await lockOrgForCaller(tx, caller, id)
  assertMayAssign(role)
  const row = InvitationId.is(invitation) ? await invitationRows.change(tx, org.id, invitation, set) : undefined
  if (!row) throw orgErrors.invitationNotFound()
  assertMayAssign(role, row.role)
  return row
}

/**
 * `POST /invitations/{token}/accept`: adds the caller if the invitation is for their address. Throws the same 404 for
 * every token they cannot use, 403 for an org's key.
 */
function accept(deps: OrgDeps, call: Call, token: string): Promise<{ organization: Org }> {
  const { caller } = call
  return deps.store.write(async (tx) => {
    const invitation = await findOpenInvitation(deps, tx, await orgRepository.user(tx, caller.userId), token)
    assertPerson(caller, 'join one')
    await orgRepository.lock(tx, invitation.org_id)
    if (!(await invitationRows.accept(tx, invitation.id, deps.clock.now()))) throw orgErrors.invitationNotFound()
    const { org_id, role, invited_by } = invitation
    await join(deps, tx, call, { orgId: org_id, userId: caller.userId, role, invitedBy: invited_by })
    return storeAnswer(tx, call, { organization: await view(tx, caller, org_id) })
  })
}

async function findOpenInvitation(
  deps: OrgDeps,
  tx: Tx,
  user: UserRow | undefined,
  token: string,
): Promise<InvitationRow> {
  const found = await openByToken(deps, tx, token)
  if (!found || found.email !== user?.email) throw orgErrors.invitationNotFound()
  return found
}

async function openByToken({ clock }: OrgDeps, reader: Reader, token: string): Promise<InvitationRow | undefined> {
  const hash = recogniseInvitationToken(token)
  const found = hash === null ? undefined : await invitationRows.byToken(reader, hash)
  return found?.accepted_at === null && found.expires_at > clock.now() ? found : undefined
}

/** An open invitation as its page shows it to the holder of the token. */
export type OpenInvitation = { org: string; email: string; role: Role; hasAccount: boolean }

/** Returns the content of an open invitation without using it up. Null when the invitation is no longer open. */
async function look(deps: OrgDeps, token: string): Promise<OpenInvitation | null> {
  const { read } = deps.store
  const found = await openByToken(deps, read, token)
  const org = found && (await orgRepository.org(read, found.org_id))
  if (!org) return null
  const { email, role } = found
  return { org: org.name, email, role, hasAccount: (await orgRepository.userByEmail(read, email)) !== undefined }
}
