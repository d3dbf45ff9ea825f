import { operator } from '../http/verbs'
import { PageQuery, pageAs } from '../kernel/page'
import { t } from '../kernel/schema'
import * as words from './orgs/schema'
import type { UserService } from './users'

/** `/ops/v1/users`: accounts (docs/operating.md 2.9). */
export const userVerbs = (users: UserService) =>
  [
    operator.get(
      '/users',
      { holds: 'facts', query: PageQuery, reply: words.OperatorUserPage },
      async (call, { query }) => pageAs('users', await users.list(call, query)),
    ),
    operator.post('/users', { body: words.NewOperatorUser, reply: words.CreatedUser }, (call, { body }) =>
      users.create(call, body),
    ),
    operator.get('/users/:ref', { holds: 'facts', reply: words.UserDetail }, (call, { id }) => users.get(call, id)),
    operator.patch('/users/:ref', { body: words.UserPatch, reply: words.OperatorUser }, (call, { id, body }) =>
      users.update(call, id, body),
    ),
    operator.post(
      '/users/:ref/console-link',
      { role: 'support', holds: 'links', body: words.ConsoleLinkInput, reply: words.ConsoleLink },
      (call, { id, body }) => users.consoleLink(call, id, body),
    ),
    operator.post(
      '/users/:ref/password',
      { body: words.PasswordInput, reply: words.PasswordReset },
      (call, { id, body }) => users.setPassword(call, id, body),
    ),
    operator.get('/users/:ref/sessions', { holds: 'facts', reply: words.SessionList }, async (call, { id }) => ({
      sessions: await users.sessionsOf(call, id),
    })),
    operator.delete('/users/:ref/sessions/:session', { reply: t.Object({ ended: t.Integer() }) }, (call, { id, ids }) =>
      users.endSession(call, id, ids.session!),
    ),
  ] as const
