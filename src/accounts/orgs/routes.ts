import type { Guard } from '../../http/guard'
import { operator, tenant, tenantRoutes, verb } from '../../http/verbs'
import type { Caller } from '../../kernel/caller'
import { PageQuery, pageFields } from '../../kernel/page'
import { t } from '../../kernel/schema'
import * as words from './schema'
import type { OrgService } from './service'

/** For routes without a body. A body that is sent must be JSON, and is ignored. */
const Nothing = t.Unknown()

const isOperator = ({ type }: Caller): boolean => type === 'operator'

/** Parts of an org that only operators may see: an admin and the billing role. */
const OF_ORGS = { holds: ['plan_note'], role: 'billing' } as const

/**
 * `/orgs` and `/invitations` (docs/api.md 18.4), for tenants and operators. Operators may also name orgs by slug or
 * name (docs/operating.md 2.9).
 */
export const orgVerbs = ({ members, invitations, ...orgs }: OrgService) =>
  [
    verb.get(
      '/orgs',
      {
        signedIn: true,
        query: PageQuery,
        reply: words.OrgPage,
        ...OF_ORGS,
        operators: { reply: words.OperatorOrgPage },
        summary: 'List the organizations you belong to, newest first',
      },
      async (call, { query }) => {
        const page = await orgs.list(call, query)
        return { [isOperator(call.caller) ? 'orgs' : 'organizations']: page.items, ...pageFields(page) } as never
      },
    ),
    verb.post(
      '/orgs',
      {
        body: words.NewOrg,
        reply: words.Org,
        creates: true,
        errors: [409],
        operators: { body: words.NewOperatorOrg, reply: words.OperatorOrg },
        summary: 'Create an organization; you become its owner',
      },
      (call, { body }) => orgs.create(call, body),
    ),
    tenant.get(
      '/orgs/:id',
      { signedIn: true, reply: words.Org, summary: 'Read one organization' },
      async (call, { id }) => (await orgs.get(call, id)) as words.Org,
    ),
    verb.patch(
      '/orgs/:id',
      {
        body: words.OrgPatch,
        reply: words.Org,
        errors: [409],
        operators: { path: '/orgs/:ref', body: words.OperatorOrgPatch, reply: words.OperatorOrg },
        summary: 'Change the name or slug of an organization',
      },
      (call, { id, body }) => orgs.update(call, id, body),
    ),
    verb.delete(
      '/orgs/:id',
      {
        reply: words.Deleted,
        operators: { path: '/orgs/:ref', reply: words.OperatorOrg },
        summary: 'Delete an organization and revoke its keys',
      },
      async (call, { id }) => {
        const org = await orgs.remove(call, id)
        return isOperator(call.caller) ? (org as words.OperatorOrg) : { deleted: true as const }
      },
    ),
    tenant.post(
      '/orgs/:id/activate',
      {
        body: Nothing,
        reply: words.ActiveOrg,
        idempotent: true,
        summary: 'Make an organization the active one of your sessions and personal keys',
      },
      (call, { id }) => orgs.activate(call, id),
    ),
    tenant.delete(
      '/orgs/:id/activate',
      { reply: words.ActiveOrg, summary: 'Deactivate an organization' },
      (call, { id }) => orgs.deactivate(call, id),
    ),
    verb.get(
      '/orgs/:id/members',
      {
        signedIn: true,
        reply: words.MemberList,
        holds: 'facts',
        operators: { path: '/orgs/:ref/members' },
        summary: 'List the members of an organization',
      },
      async (call, { id }) => ({ members: await members.list(call, id) }),
    ),
    operator.post('/orgs/:ref/members', { body: words.NewMember, reply: words.Member }, (call, { id, body }) =>
      members.add(call, id, body),
    ),
    verb.patch(
      '/orgs/:id/members/:userId',
      {
        body: words.MemberPatch,
        reply: words.MemberReply,
        errors: [409],
        operators: { path: '/orgs/:ref/members/:user', reply: words.Member },
        summary: 'Change the role of a member',
      },
      async (call, { id, ids, body }) => {
        const member = await members.setRole(call, id, ids.user ?? ids.userId!, body.role)
        return isOperator(call.caller) ? member : { member }
      },
    ),
    verb.delete(
      '/orgs/:id/members/:userId',
      {
        reply: words.Deleted,
        errors: [409],
        operators: { path: '/orgs/:ref/members/:user' },
        summary: 'Remove a member, or leave the organization',
      },
      (call, { id, ids }) => members.remove(call, id, ids.user ?? ids.userId!),
    ),
    verb.post(
      '/orgs/:id/invitations',
      {
        body: words.NewInvitation,
        reply: words.InvitationReply,
        creates: true,
        errors: [409],
        operators: { path: '/orgs/:ref/invitations', reply: words.IssuedInvitation },
        summary: 'Invite an e-mail address to an organization',
        description:
          'The token is in this answer only; pass it on to the invited person. It can be used once, within seven days, by ' +
          'the account with the invited address.',
      },
      (call, { id, body }) => invitations.invite(call, id, body),
    ),
    verb.get(
      '/orgs/:id/invitations',
      {
        reply: words.InvitationList,
        holds: 'facts',
        operators: { path: '/orgs/:ref/invitations' },
        summary: 'List the open and expired invitations of an organization, newest first',
      },
      async (call, { id }) => ({ invitations: await invitations.list(call, id) }),
    ),
    verb.delete(
      '/orgs/:id/invitations/:invitationId',
      {
        reply: words.Deleted,
        operators: { path: '/orgs/:ref/invitations/:invitation' },
        summary: 'Withdraw an invitation',
      },
      (call, { id, ids }) => invitations.withdraw(call, id, ids.invitation ?? ids.invitationId!),
    ),
    verb.post(
      '/orgs/:id/invitations/:invitationId/resend',
      {
        body: Nothing,
        idempotent: true,
        reply: words.ResentInvitation,
        operators: { path: '/orgs/:ref/invitations/:invitation/resend' },
        summary: 'Send an invitation again',
        description:
          'The earlier link stops working. The new one is mailed, or is in `url` when this server sends no mail.',
      },
      (call, { id, ids }) => invitations.resend(call, id, ids.invitation ?? ids.invitationId!),
    ),
    tenant.post(
      '/invitations/:token/accept',
      {
        body: Nothing,
        reply: words.JoinedOrg,
        idempotent: true,
        errors: [404, 409],
        summary: 'Join the organization that invited your e-mail address',
      },
      (call, { ids }) => invitations.accept(call, ids.token!),
    ),
  ] as const

export const orgRoutes = (orgs: OrgService, guard: Guard) =>
  tenantRoutes(orgVerbs(orgs), guard, { scope: 'billing', tag: 'Organizations' })
