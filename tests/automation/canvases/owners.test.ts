import { describe, expect, test } from 'bun:test'
import { versionRepository } from '../../../src/automation/canvases/repository'
import { canvas } from '../../../src/automation/canvases/resource'
import { createTeam } from '../../accounts/orgs/team'
import { operatorSender } from '../../operators/support'
import { createWorld } from '../../support/world'
import { simple } from './drawing'
import { AUTHOR } from './world'

const world = await createWorld()

describe("an org's canvases", () => {
  test('are changed by keys of those who manage its skills, and by nobody who only looks on', async () => {
    const team = await createTeam(world)
    const [made, looking] = [await team.orgKey(team.member), await team.orgKey(team.viewer)]
    const input = { name: 'Shared', graph_json: simple() }
    const { id } = (await made.send('POST', 'evi/canvases', input)).body.canvas
    const path = `evi/canvases/${id}`
    const published = { slug: 'shared-canvas', version: '1.0.0', author: AUTHOR }
    expect((await made.send('POST', `${path}/publish`, published)).status).toBe(200)
    const [version] = (await looking.send('GET', `${path}/versions`)).body.versions
    const changes = [
      ['POST', 'evi/canvases', input],
      ['PATCH', path, { name: 'Taken' }],
      ['POST', `${path}/compile`, undefined],
      ['POST', `${path}/publish`, { ...published, version: '1.0.1' }],
      ['POST', `${path}/versions/${version.id}/restore`, undefined],
      ['DELETE', path, undefined],
    ] as const
    for (const [method, where, body] of changes) {
      const reply = await looking.send(method, where, body)
      expect([method, where, reply.status, reply.body.error.code]).toEqual([method, where, 403, 'forbidden'])
    }
    expect((await looking.send('GET', path)).body.canvas).toMatchObject({ name: 'Shared', status: 'published' })
    expect((await made.send('DELETE', path)).status).toBe(200)
  })

  test('become the org’s skills, published by a key or in a session that has the org active', async () => {
    const team = await createTeam(world)
    const by = await team.orgKey(team.member)
    const session = await world.signedIn(team.admin)
    await session.send('POST', `orgs/${team.id}/activate`)
    const { id } = (await by.send('POST', 'evi/canvases', { name: 'Shared', graph_json: simple() })).body.canvas
    const publish = (version: string, send: typeof by.send) =>
      send('POST', `evi/canvases/${id}/publish`, { slug: 'of-both', version, author: AUTHOR })
    const [first, second] = [await publish('1.0.0', by.send), await publish('1.0.1', session.send)]
    expect([first.status, second.status, second.body.skillId]).toEqual([200, 200, first.body.skillId])
    expect((await by.send('GET', 'skills?filter=mine')).text).toContain(first.body.skillId)
  })

  test('end with the org, their versions too, each on its record', async () => {
    const { store } = world.app.container
    const team = await createTeam(world)
    const by = await team.orgKey(team.owner)
    const { id } = (await by.send('POST', 'evi/canvases', { name: 'Shared', graph_json: simple() })).body.canvas
    const other = (await by.send('POST', 'evi/canvases', { name: 'Empty' })).body.canvas.id
    const published = { slug: 'ends-with-org', version: '1.0.0', author: AUTHOR }
    expect((await by.send('POST', `evi/canvases/${id}/publish`, published)).status).toBe(200)
    const left = async () => [
      ...(await canvas.rows.list(store.read, [`org:${team.id}`], { limit: 9 })).items,
      ...(await versionRepository.list(store.read, id, { limit: 9 })).items,
    ]
    expect(await left()).toHaveLength(3)
    expect((await team.owner.send('DELETE', `orgs/${team.id}`)).status).toBe(200)
    expect(await left()).toEqual([])
    const { body } = await operatorSender(world)('GET', `audit?owner=org:${team.id}&action=canvas.deleted`)
    expect(body.events.map(({ entityId }: { entityId: string }) => entityId).sort()).toEqual([id, other].sort())
  })

  test('of two who delete one at the same moment one is too late, and it is on the record once', async () => {
    const ada = await world.person()
    const { id } = (await ada.send('POST', 'evi/canvases', { name: 'Gone' })).body.canvas
    const replies = await Promise.all([1, 2, 3].map(() => ada.send('DELETE', `evi/canvases/${id}`)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404, 404])
    const { body } = await ada.send('GET', 'audit?action=canvas.deleted')
    expect(body).toHaveLength(1)
  })
})

test.each([
  ['two\nlines', 'two lines'],
  ['\u001b[31m', 'Canvas'],
  ['a\u202eb', 'a·b'],
])('a canvas named %j becomes a skill named %p, which passes its review', async (name, title) => {
  const ada = await world.person()
  const { id } = (await ada.send('POST', 'evi/canvases', { name, graph_json: simple() })).body.canvas
  const input = { slug: `named-${crypto.randomUUID().slice(0, 8)}`, version: '1.0.0', author: AUTHOR }
  const { status, body } = await ada.send('POST', `evi/canvases/${id}/publish`, input)
  expect([status, body.published]).toEqual([200, true])
  expect((await ada.send('GET', `skills/${body.skillId}`)).body.name).toBe(title)
  expect((await ada.send('GET', `evi/canvases/${id}`)).body.canvas.name).toBe(name)
})
