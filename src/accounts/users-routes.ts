import type { OperatorEdge } from '../http/operator-edge'
import { operatorRoutes, operatorVerb } from '../http/verbs'
import { PageQuery, pageFields } from '../kernel/page'
import { t } from '../kernel/schema'
import * as words from './orgs/schema'
import type { UserService } from './users'

/** `/ops/v1/users`: accounts (dx 2.9). */
export const userOperatorRoutes = (users: UserService, edge: OperatorEdge) =>
  operatorRoutes(
    [
      operatorVerb(
        { method: 'get', path: '/users', holds: 'facts', query: PageQuery, reply: words.OperatorUserPage },
        async (call, { query }) => {
          const page = await users.list(call, query)
          return { users: page.items, ...pageFields(page) }
        },
      ),
      operatorVerb(
        { method: 'post', path: '/users', body: words.NewOperatorUser, reply: words.CreatedUser },
        (call, { body }) => users.create(call, body),
      ),
      operatorVerb({ method: 'get', path: '/users/:ref', holds: 'facts', reply: words.UserDetail }, (call, { id }) =>
        users.get(call, id),
      ),
      operatorVerb(
        { method: 'patch', path: '/users/:ref', body: words.UserPatch, reply: words.OperatorUser },
        (call, { id, body }) => users.setDisabled(call, id, body.disabled),
      ),
      operatorVerb(
        {
          method: 'post',
          path: '/users/:ref/console-link',
          role: 'support',
          holds: 'links',
          body: words.ConsoleLinkInput,
          reply: words.ConsoleLink,
        },
        (call, { id, body }) => users.consoleLink(call, id, body),
      ),
      operatorVerb(
        { method: 'post', path: '/users/:ref/password', body: words.PasswordInput, reply: words.PasswordReset },
        (call, { id, body }) => users.setPassword(call, id, body),
      ),
      operatorVerb(
        { method: 'get', path: '/users/:ref/sessions', holds: 'facts', reply: words.SessionList },
        async (call, { id }) => ({ sessions: await users.sessionsOf(call, id) }),
      ),
      operatorVerb(
        { method: 'delete', path: '/users/:ref/sessions/:session', reply: t.Object({ ended: t.Integer() }) },
        (call, { id, ids }) => users.endSession(call, id, ids.session!),
      ),
    ] as const,
    edge,
  )
