import { expect, test } from 'bun:test'
import { createTeam } from '../../accounts/orgs/team'
import { createWorld } from '../../support/world'

const world = await createWorld()
const team = await createTeam(world)
const orgKey = await team.orgKey(team.owner)
await world.app.store.write((tx) =>
  world.app.container.billing.grant(tx, {
    owner: `org:${team.id}`,
    amount: 1e9,
    ref: 'org',
    kind: 'grant',
    note: null,
  }),
)

test("an org's key opens nothing that its maker said or had remembered, and leaves nothing among it", async () => {
  const { owner } = team
  const own = (await owner.send('POST', 'completions', { prompt: 'Of my own' })).body.conversation_id
  const memory = (await owner.send('POST', 'memory', { content: 'I am shy.' })).body.memory.id
  expect((await orgKey.send('GET', 'conversations')).body.conversations).toEqual([])
  expect((await orgKey.send('GET', `conversations/${own}`)).status).toBe(404)
  expect((await orgKey.send('DELETE', `conversations/${own}`)).status).toBe(404)
  expect((await orgKey.send('POST', 'completions', { prompt: 'go on', conversation_id: own })).status).toBe(404)
  expect((await orgKey.send('GET', 'memory')).body.memories).toEqual([])
  expect((await orgKey.send('DELETE', `memory/${memory}`)).status).toBe(404)

  const shared = (await orgKey.send('POST', 'completions', { prompt: "The team's" })).body.conversation_id
  await orgKey.send('POST', 'memory', { content: 'We ship on Mondays.' })
  const other = await team.orgKey(team.admin)
  expect((await other.send('GET', `conversations/${shared}`)).status).toBe(200)
  expect((await other.send('GET', 'memory')).body.memories).toHaveLength(1)
  expect((await owner.send('GET', `conversations/${shared}`)).status).toBe(404)
  expect((await owner.send('GET', 'memory')).body.memories).toHaveLength(1)
})
