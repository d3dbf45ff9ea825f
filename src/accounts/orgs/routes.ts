import { Elysia } from 'elysia'
import { answer, errors } from '../../http/envelope'
import { type Guard, toCall } from '../../http/guard'
import { PageQuery, pageFields } from '../../kernel/page'
import { checked, checkedPath, checkedQuery, t } from '../../kernel/schema'
import * as words from './schema'
import type { OrgService } from './service'

const ById = checkedPath(t.Object({ id: t.String() }))
const ByMember = checkedPath(t.Object({ id: t.String(), userId: t.String() }))
/** For routes without a body: if one is sent it must be JSON, and is ignored. */
const Nothing = checked(t.Unknown())
const ByToken = checkedPath(t.Object({ token: t.String() }))

/** `/orgs` and `/invitations` (contract 18.4). */
export const orgRoutes = (orgs: OrgService, guard: Guard) =>
  new Elysia({ tags: ['Organizations'] })
    .use(orgPaths(orgs, guard))
    .use(memberPaths(orgs, guard))
    .use(guard)
    .post('/invitations/:token/accept', (context) => orgs.invitations.accept(toCall(context), context.params.token), {
      scope: 'billing',
      idempotent: true,
      params: ByToken,
      body: Nothing,
      response: { 200: answer(words.JoinedOrg), ...errors(400, 401, 403, 404, 409, 429) },
      detail: { summary: 'Join the organization that invited your e-mail address' },
    })

const orgPaths = (orgs: OrgService, guard: Guard) =>
  new Elysia({ prefix: '/orgs', tags: ['Organizations'] })
    .use(guard)
    .get(
      '',
      async (context) => {
        const page = await orgs.list(toCall(context), context.query)
        return { organizations: page.items, ...pageFields(page) }
      },
      {
        signedIn: true,
        query: checkedQuery(PageQuery),
        response: { 200: answer(words.OrgPage), ...errors(400, 401, 403, 429) },
        detail: { summary: 'List the organizations you belong to, newest first' },
      },
    )
    .post('', async (context) => context.status(201, await orgs.foundOrg(toCall(context), context.body)), {
      scope: 'billing',
      idempotent: true,
      body: checked(words.NewOrg),
      response: { 201: answer(words.Org), ...errors(400, 401, 403, 409, 429) },
      detail: { summary: 'Create an organization; you become its owner' },
    })
    .get('/:id', (context) => orgs.get(toCall(context), context.params.id), {
      signedIn: true,
      params: ById,
      response: { 200: answer(words.Org), ...errors(401, 403, 404, 429) },
      detail: { summary: 'Read one organization' },
    })
    .patch('/:id', (context) => orgs.update(toCall(context), context.params.id, context.body), {
      scope: 'billing',
      params: ById,
      body: checked(words.OrgPatch),
      response: { 200: answer(words.Org), ...errors(400, 401, 403, 404, 409, 429) },
      detail: { summary: 'Change the name or slug of an organization' },
    })
    .delete('/:id', (context) => orgs.remove(toCall(context), context.params.id), {
      scope: 'billing',
      params: ById,
      response: { 200: answer(words.Deleted), ...errors(401, 403, 404, 429) },
      detail: { summary: 'Delete an organization and revoke its keys' },
    })
    .post('/:id/activate', (context) => orgs.activate(toCall(context), context.params.id), {
      scope: 'billing',
      idempotent: true,
      params: ById,
      body: Nothing,
      response: { 200: answer(words.ActiveOrg), ...errors(400, 401, 403, 404, 429) },
      detail: { summary: 'Make an organization the active one of your sessions and personal keys' },
    })
    .delete('/:id/activate', (context) => orgs.deactivate(toCall(context), context.params.id), {
      scope: 'billing',
      params: ById,
      response: { 200: answer(words.ActiveOrg), ...errors(401, 403, 404, 429) },
      detail: { summary: 'Deactivate an organization' },
    })

const memberPaths = (orgs: OrgService, guard: Guard) =>
  new Elysia({ prefix: '/orgs/:id', tags: ['Organizations'] })
    .use(guard)
    .get('/members', async (context) => ({ members: await orgs.members.list(toCall(context), context.params.id) }), {
      signedIn: true,
      params: ById,
      response: { 200: answer(words.MemberList), ...errors(401, 403, 404, 429) },
      detail: { summary: 'List the members of an organization' },
    })
    .patch(
      '/members/:userId',
      async (context) => {
        const { id, userId } = context.params
        return { member: await orgs.members.setRole(toCall(context), id, userId, context.body.role) }
      },
      {
        scope: 'billing',
        params: ByMember,
        body: checked(words.MemberPatch),
        response: { 200: answer(words.MemberReply), ...errors(400, 401, 403, 404, 409, 429) },
        detail: { summary: 'Change the role of a member' },
      },
    )
    .delete(
      '/members/:userId',
      (context) => orgs.members.remove(toCall(context), context.params.id, context.params.userId),
      {
        scope: 'billing',
        params: ByMember,
        response: { 200: answer(words.Deleted), ...errors(401, 403, 404, 409, 429) },
        detail: { summary: 'Remove a member, or leave the organization' },
      },
    )
    .post(
      '/invitations',
      async (context) =>
        context.status(201, await orgs.invitations.invite(toCall(context), context.params.id, context.body)),
      {
        scope: 'billing',
        idempotent: true,
        params: ById,
        body: checked(words.NewInvitation),
        response: { 201: answer(words.InvitationReply), ...errors(400, 401, 403, 404, 409, 429) },
        detail: {
          summary: 'Invite an e-mail address to an organization',
          description:
            'The token is in this answer only; pass it on to the invited person. It can be used once, within seven days, by ' +
            'the account with the invited address.',
        },
      },
    )
