import { expect, test } from 'bun:test'
import { createWorld } from '../../support/world'
import { createTeam, emailOf, issueInvitation, type Team } from './team'

const world = await createWorld()

let keys = 0
type Ask = (team: Team) => [string, unknown?] | Promise<[string, unknown?]>

const POSTS: [string, number, Ask][] = [
  ['an org is founded', 201, () => ['orgs', { name: 'once' }]],
  ['an org is chosen', 200, ({ id }) => [`orgs/${id}/activate`]],
  ['an invitation is made', 201, ({ id }) => [`orgs/${id}/invitations`, { email: 'a@example.com', role: 'viewer' }]],
  [
    'an invitation is accepted',
    200,
    async ({ owner }) => {
      const other = await createTeam(world)
      const { token } = await issueInvitation(world, other.id, await emailOf(world, owner))
      return [`invitations/${token}/accept`]
    },
  ],
]

test.each(POSTS)('%s once, however often it is sent with one Idempotency-Key', async (_what, status, ask) => {
  const team = await createTeam(world)
  const [path, body] = await ask(team)
  const key = { 'idempotency-key': `org-${++keys}` }
  const first = await team.owner.send('POST', path, body, key)
  const again = await team.owner.send('POST', path, body, key)
  expect([first.status, again.status]).toEqual([status, status])
  expect(again.text).toBe(first.text)
  expect([first, again].map(({ headers }) => headers.get('x-idempotent-replay'))).toEqual([null, 'true'])
})
