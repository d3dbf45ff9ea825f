import { storeAnswer } from '../../../idempotency'
import type { Call, Caller } from '../../../kernel/caller'
import type { OrgId, UserId } from '../../../kernel/ids'
import type { Tx } from '../../../kernel/store'
import { alreadyMember, invitationNotFound } from '../errors'
import { invitationRows as rows } from '../invitation-rows'
import { memberRows } from '../member-rows'
import { presentInvitation } from '../present'
import { orgRepository } from '../repository'
import { assertMayAssign, INVITATION_MS, mintInvitationToken, normalizeEmail, recogniseInvitationToken } from '../rules'
import { type Invitation, InvitationId, type NewInvitation, type Org } from '../schema'
import type { InvitationRow, UserRow } from '../table'
import { assertPerson, reachLocked } from './access'
import { type OrgDeps, recordOn } from './deps'
import type { Members } from './members'
import { view } from './visits'

export type IssuedInvitation = { invitation: Invitation; token: string }

/**
 * Invitations: for one e-mail address, single use, valid for seven days. Only the hash of the token is stored. The
 * inviter sees the token once, to pass it on; it works only for the account with the invited address.
 */
export function createInvitations(deps: OrgDeps & { members: Members }) {
  const { store, clock, members } = deps
  return { invite, issue, accept }

  /**
   * `POST /orgs/{id}/invitations`; inviting an address again replaces its earlier invitation. Throws 403 `forbidden`
   * (only owners invite owners), 409 `conflict` for a member.
   */
  function invite(call: Call, id: string, input: NewInvitation): Promise<IssuedInvitation> {
    return store.write(async (tx) => {
      const { org, role } = await reachLocked(tx, call.caller, id)
      assertMayAssign(role, input.role)
      return storeAnswer(tx, call, await issue(tx, call, { orgId: org.id, invitedBy: call.caller.userId, ...input }))
    })
  }

  /** Creates an invitation and its token; the transaction must hold the org's lock. Throws 409 `conflict` for a member. */
  async function issue(
    tx: Tx,
    call: Call<Caller>,
    { orgId, invitedBy, email, role }: NewInvitation & { orgId: OrgId; invitedBy: UserId | null },
  ): Promise<IssuedInvitation> {
    const address = normalizeEmail(email)
    const existingUser = await orgRepository.userByEmail(tx, address)
    if (existingUser && (await memberRows.find(tx, orgId, existingUser.id))) throw alreadyMember(address)
    const now = clock.now()
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
    await rows.replace(tx, row)
    const metadata = { invitation_id: row.id, role }
    await recordOn(deps, tx, call, orgId, { action: 'org.member_invited', metadata })
    return { invitation: presentInvitation(row, now), token }
  }

  /**
   * `POST /invitations/{token}/accept`: adds the caller when the invitation is for their address. Throws the same 404
   * for every token they cannot use, 403 for an org's key.
   */
  function accept(call: Call, token: string): Promise<{ organization: Org }> {
    const { caller } = call
    return store.write(async (tx) => {
      const invitation = await findOpenInvitation(tx, await orgRepository.user(tx, caller.userId), token)
      assertPerson(caller, 'join one')
      await orgRepository.lock(tx, invitation.org_id)
      if (!(await rows.accept(tx, invitation.id, clock.now()))) throw invitationNotFound()
      const { org_id, role, invited_by } = invitation
      await members.join(tx, call, { orgId: org_id, userId: caller.userId, role, invitedBy: invited_by })
      return storeAnswer(tx, call, { organization: await view(tx, caller, org_id) })
    })
  }

  async function findOpenInvitation(tx: Tx, user: UserRow | undefined, token: string): Promise<InvitationRow> {
    const hash = recogniseInvitationToken(token)
    const found = hash === null ? undefined : await rows.byToken(tx, hash)
    const isOpen = found && found.accepted_at === null && found.expires_at > clock.now()
    if (!isOpen || found.email !== user?.email) throw invitationNotFound()
    return found
  }
}
