import { Elysia } from 'elysia'
import { Deleted, Member, MemberList, MemberPatch, NewInvitation } from '../accounts/orgs/schema'
import { answer, errors } from '../http/envelope'
import { type operatorEdge, toOperatorCall } from '../http/operator-edge'
import { pageFields } from '../kernel/page'
import { checked, checkedQuery, t } from '../kernel/schema'
import * as words from './schema-people'
import type { OperatorService } from './service'

const ByRef = checkedQuery(t.Object({ ref: t.String() }))
const ByMember = checkedQuery(t.Object({ ref: t.String(), user: t.String() }))
const BySession = checkedQuery(t.Object({ ref: t.String(), session: t.String() }))
const List = checkedQuery(words.PeopleQuery)

type Edge = ReturnType<typeof operatorEdge>
type People = Pick<OperatorService, 'orgs' | 'members' | 'users'>

/** `/ops/v1/orgs` and `/ops/v1/users`: organizations, members and accounts (dx 2.9). */
export const peopleRoutes = ({ orgs, members, users }: People, edge: Edge) =>
  new Elysia().use(edge).use(orgRoutes(orgs, edge)).use(memberRoutes(members, edge)).use(userRoutes(users, edge))

const orgRoutes = (orgs: People['orgs'], edge: Edge) =>
  new Elysia({ prefix: '/ops/v1/orgs' })
    .use(edge)
    .get(
      '',
      async (context) => {
        const page = await orgs.list(toOperatorCall(context), context.query)
        return { orgs: page.items, ...pageFields(page) }
      },
      {
        holds: ['plan_note'],
        role: 'billing',
        query: List,
        response: { 200: answer(words.OperatorOrgPage), ...errors(400) },
      },
    )
    .post('', (context) => orgs.create(toOperatorCall(context), context.body), {
      body: checked(words.NewOperatorOrg),
      response: { 200: answer(words.OperatorOrg), ...errors(400, 404, 409) },
    })
    .get('/:ref', (context) => orgs.get(toOperatorCall(context), context.params.ref), {
      holds: ['plan_note'],
      role: 'billing',
      params: ByRef,
      response: { 200: answer(words.OrgDetail), ...errors(404, 409) },
    })
    .patch('/:ref', (context) => orgs.update(toOperatorCall(context), context.params.ref, context.body), {
      params: ByRef,
      body: checked(words.OperatorOrgPatch),
      response: { 200: answer(words.OperatorOrg), ...errors(400, 404, 409) },
    })
    .delete('/:ref', (context) => orgs.remove(toOperatorCall(context), context.params.ref), {
      params: ByRef,
      response: { 200: answer(words.OperatorOrg), ...errors(404, 409) },
    })

const memberRoutes = (members: People['members'], edge: Edge) =>
  new Elysia({ prefix: '/ops/v1/orgs/:ref' })
    .use(edge)
    .get(
      '/members',
      async (context) => ({ members: await members.list(toOperatorCall(context), context.params.ref) }),
      {
        holds: 'facts',
        params: ByRef,
        response: { 200: answer(MemberList), ...errors(404, 409) },
      },
    )
    .post('/members', (context) => members.add(toOperatorCall(context), context.params.ref, context.body), {
      params: ByRef,
      body: checked(words.NewMember),
      response: { 200: answer(Member), ...errors(400, 404, 409) },
    })
    .patch(
      '/members/:user',
      (context) => {
        const { ref, user } = context.params
        return members.setRole(toOperatorCall(context), ref, user, context.body.role)
      },
      { params: ByMember, body: checked(MemberPatch), response: { 200: answer(Member), ...errors(400, 404, 409) } },
    )
    .delete(
      '/members/:user',
      (context) => members.remove(toOperatorCall(context), context.params.ref, context.params.user),
      { params: ByMember, response: { 200: answer(Deleted), ...errors(404, 409) } },
    )
    .post('/invitations', (context) => members.invite(toOperatorCall(context), context.params.ref, context.body), {
      params: ByRef,
      body: checked(NewInvitation),
      response: { 200: answer(words.IssuedInvitation), ...errors(400, 404, 409) },
    })

const userRoutes = (users: People['users'], edge: Edge) =>
  new Elysia({ prefix: '/ops/v1/users' })
    .use(edge)
    .get(
      '',
      async (context) => {
        const page = await users.list(toOperatorCall(context), context.query)
        return { users: page.items, ...pageFields(page) }
      },
      { holds: 'facts', query: List, response: { 200: answer(words.OperatorUserPage), ...errors(400) } },
    )
    .post('', (context) => users.create(toOperatorCall(context), context.body), {
      body: checked(words.NewOperatorUser),
      response: { 200: answer(words.CreatedUser), ...errors(400, 409) },
    })
    .get('/:ref', (context) => users.get(toOperatorCall(context), context.params.ref), {
      holds: 'facts',
      params: ByRef,
      response: { 200: answer(words.UserDetail), ...errors(404) },
    })
    .patch(
      '/:ref',
      (context) => users.setDisabled(toOperatorCall(context), context.params.ref, context.body.disabled),
      {
        params: ByRef,
        body: checked(words.UserPatch),
        response: { 200: answer(words.OperatorUser), ...errors(400, 404) },
      },
    )
    .post(
      '/:ref/console-link',
      (context) => users.consoleLink(toOperatorCall(context), context.params.ref, context.body),
      {
        role: 'support',
        holds: 'links',
        params: ByRef,
        body: checked(words.ConsoleLinkInput),
        response: { 200: answer(words.ConsoleLink), ...errors(400, 403, 404, 409) },
      },
    )
    .post('/:ref/password', (context) => users.setPassword(toOperatorCall(context), context.params.ref, context.body), {
      params: ByRef,
      body: checked(words.PasswordInput),
      response: { 200: answer(words.PasswordReset), ...errors(400, 404, 409) },
    })
    .get(
      '/:ref/sessions',
      async (context) => ({ sessions: await users.sessionsOf(toOperatorCall(context), context.params.ref) }),
      { holds: 'facts', params: ByRef, response: { 200: answer(words.SessionList), ...errors(404) } },
    )
    .delete(
      '/:ref/sessions/:session',
      (context) => users.endSession(toOperatorCall(context), context.params.ref, context.params.session),
      {
        params: BySession,
        response: { 200: answer(t.Object({ ended: t.Integer() })), ...errors(404) },
      },
    )
