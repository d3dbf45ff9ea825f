import { describe, expect, test } from 'bun:test'
import { versionsOf } from '../../../src/automation/canvases'
import { CanvasId } from '../../../src/automation/canvases-schema'
import { canvas } from '../../../src/automation/resource'
import { canvases } from '../../../src/automation/table'
import { createTeam } from '../../accounts/orgs/team'
import { operatorSender } from '../../operators/support'
import { fakeClock } from '../../support/clock'
import { at, refusals } from '../../support/refusals'
import { createWorld } from '../../support/world'
import { simple, withTool } from './drawing'
import { AUTHOR, actionsOf, canvasOf, order, publish } from './world'

const world = await createWorld()
const EMPTY = { nodes: [], edges: [] }

describe('a canvas', () => {
  test('begins empty, as a draft', async () => {
    const ada = await world.person()
    const { status, body } = await ada.send('POST', 'evi/canvases', { name: 'Mine' })
    expect(status).toBe(201)
    expect(body.canvas).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Mine',
      description: null,
      status: 'draft',
      graphJson: EMPTY,
      compiledManifest: null,
      compiledWorkflowSteps: null,
      isPublic: false,
      publishedSkillId: null,
      createdAt: expect.any(String),
      updatedAt: body.canvas.createdAt,
    })
    expect((await ada.send('GET', `evi/canvases/${body.canvas.id}`)).body.canvas).toEqual(body.canvas)
  })

  test('is one of two hundred at most; the owner throws one away first', async () => {
    const ada = await world.person()
    const row = await canvas.rows.find(world.app.store.read, [`user:${ada.userId}`], await canvasOf(ada))
    const more = Array.from({ length: 199 }, () => ({ ...row!, id: CanvasId.create() }))
    await world.app.store.write((tx) => tx.insert(tx.of(canvases)).values(more))
    const refused = await ada.send('POST', 'evi/canvases', { name: 'One more' })
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 409, code: 'conflict' })
    expect(refused.body.error.message).toBe(
      'This scope has 200 canvases, which is the maximum here (SVC_MAX_CANVASES). Delete one of them first.',
    )
    expect((await (await world.person()).send('POST', 'evi/canvases', { name: 'Of another' })).status).toBe(201)
    await ada.send('DELETE', `evi/canvases/${row!.id}`)
    expect((await ada.send('POST', 'evi/canvases', { name: 'One more' })).status).toBe(201)
  })

  test('keeps what an editor adds to nodes and edges', async () => {
    const ada = await world.person()
    const drawn = simple()
    const graph_json = {
      nodes: drawn.nodes.map((node) => ({ ...node, selected: true, measured: { width: 20.5, height: -3 } })),
      edges: drawn.edges.map((edge) => ({ ...edge, animated: false, sourceHandle: null })),
    }
    const { body } = await ada.send('POST', 'evi/canvases', {
      name: 'Mine',
      graph_json: { ...graph_json, viewport: {} },
    })
    expect(body.canvas.graphJson).toEqual(graph_json)
  })

  test('is changed member by member', async () => {
    const ada = await world.person()
    const id = await canvasOf(ada)
    const change = async (patch: object) => (await ada.send('PATCH', `evi/canvases/${id}`, patch)).body.canvas
    expect(await change({ name: 'Other' })).toMatchObject({ name: 'Other', description: null })
    expect(await change({ description: 'About' })).toMatchObject({ name: 'Other', description: 'About' })
    expect(await change({ is_public: true })).toMatchObject({ isPublic: true })
    expect(await change({ description: null })).toMatchObject({ description: null, isPublic: true })
    expect(await change({ graph_json: EMPTY })).toMatchObject({ graphJson: EMPTY, name: 'Other' })
  })

  test('that is compiled is a draft again when something else is drawn, and only then', async () => {
    const ada = await world.person()
    const id = await canvasOf(ada)
    await ada.send('POST', `evi/canvases/${id}/compile`)
    const change = async (patch: object) => (await ada.send('PATCH', `evi/canvases/${id}`, patch)).body.canvas
    const compiled = { status: 'testing', compiledManifest: { slug: 'mine' }, compiledWorkflowSteps: [{}, {}] }
    expect(await change({ name: 'Other' })).toMatchObject(compiled)
    expect(await change({ graph_json: simple() })).toMatchObject(compiled)
    expect(await change({ graph_json: withTool() })).toMatchObject({
      status: 'draft',
      compiledManifest: null,
      compiledWorkflowSteps: null,
    })
  })

  test('is gone when it is deleted', async () => {
    const ada = await world.person()
    const id = await canvasOf(ada)
    expect((await ada.send('DELETE', `evi/canvases/${id}`)).body).toMatchObject({ deleted: true })
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/compile'],
      ['GET', '/versions'],
    ] as const) {
      expect((await ada.send(method, `evi/canvases/${id}${path}`)).status).toBe(404)
    }
  })

  test('takes no member that is not the caller to set', async () => {
    const ada = await world.person()
    const stolen = {
      status: 'published',
      publishedSkillId: crypto.randomUUID(),
      user_id: crypto.randomUUID(),
      owner: 'x',
    }
    const { body } = await ada.send('POST', 'evi/canvases', { name: 'a', ...stolen, is_public: true })
    expect(body.canvas).toMatchObject({ status: 'draft', publishedSkillId: null, isPublic: false })
  })
})

const drawing = (nodes: unknown[], edges: unknown[] = []) => ({ name: 'a', graph_json: { nodes, edges } })
const AWAY = { id: 'a', type: 'input', position: { x: 'left', y: 0 } }
const refused = await world.person()
const kept = await canvasOf(refused)
const also = async () => expect((await refused.send('GET', 'evi/canvases')).body.canvases).toHaveLength(1)
refusals('POST /evi/canvases refuses at the member', { world, as: refused, request: 'POST evi/canvases', also }, [
  ...at('name', {}, { name: '' }, { name: '  ' }, { name: 'x'.repeat(129) }, { name: 7 }),
  ...at('description', { name: 'a', description: 'x'.repeat(501) }),
  ...at('graph_json', { name: 'a', graph_json: [] }),
  ...at('graph_json.edges', { name: 'a', graph_json: { nodes: [] } }),
  ...at('graph_json.nodes[0].id', drawing([{}]), drawing([{ id: 'x'.repeat(3_000_000), type: 'a' }])),
  ...at('graph_json.nodes[0]', drawing([null])),
  ...at('graph_json.nodes[0].type', drawing([{ id: 'a', type: 5 }])),
  ...at('graph_json.edges[0].target', drawing([], [{ source: 'a' }])),
  ...at('graph_json.nodes[0].position.x', drawing([AWAY])),
  ...at('graph_json', drawing([{ id: 'a', type: 'a', more: 'x'.repeat(2_100_000) }])),
  ['a change of nothing', {}, '', { request: `PATCH evi/canvases/${kept}` }],
  ['a change of nothing it has', { other: 1 }, '', { request: `PATCH evi/canvases/${kept}` }],
])

describe('the list', () => {
  test('has the last updated first, page by page', async () => {
    const clock = fakeClock()
    const ada = await (await createWorld({ clock })).person()
    const ids: string[] = []
    for (let at = 0; at < 5; at++) {
      ids.unshift(await canvasOf(ada, EMPTY, `c${at}`))
      clock.advance(1)
    }
    await ada.send('PATCH', `evi/canvases/${ids[4]}`, { name: 'touched' })
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await ada.send('GET', `evi/canvases?limit=2${cursor && `&cursor=${cursor}`}`)
      seen.push(...body.canvases.map(({ id }: { id: string }) => id))
      expect(body.has_more).toBe(body.next_cursor !== null)
      cursor = body.next_cursor
    }
    expect(seen).toEqual([ids[4]!, ...ids.slice(0, 4)])
  })

  test('ends a page early where graphs are large, and loses none', async () => {
    const ada = await world.person()
    const large = { nodes: [{ id: 'a', type: 'input', more: 'x'.repeat(1_500_000) }], edges: [] }
    for (let at = 0; at < 5; at++) await canvasOf(ada, large)
    const { body: first } = await ada.send('GET', 'evi/canvases')
    expect(first).toMatchObject({ canvases: [{}, {}], has_more: true })
    const { body: second } = await ada.send('GET', `evi/canvases?cursor=${first.next_cursor}`)
    const { body: third } = await ada.send('GET', `evi/canvases?cursor=${second.next_cursor}`)
    const all = [first, second, third].flatMap(({ canvases }) => canvases.map(({ id }: { id: string }) => id))
    expect(new Set(all).size).toBe(5)
    expect(third.has_more).toBe(false)
  })

  test('has at most 50 a page, also where more are asked for', async () => {
    const ada = await world.person()
    for (let at = 0; at < 51; at++) await canvasOf(ada)
    const { body } = await ada.send('GET', 'evi/canvases?limit=100')
    expect({ has: body.canvases.length, more: body.has_more }).toEqual({ has: 50, more: true })
  })

  test.each(['limit=101', 'limit=0', 'limit=x', 'cursor=nonsense'])('refuses %s', async (query) => {
    expect((await (await world.person()).send('GET', `evi/canvases?${query}`)).status).toBe(400)
  })

  test("an org's key shares its canvases only with the org's other keys", async () => {
    const org = await world.person({ ofOrg: true })
    const id = await canvasOf(org)
    const { body: made } = await org.send('POST', 'keys', { name: 'second', scope: 'org' })
    const second = { authorization: `Bearer ${made.key}` }
    expect((await world.send('GET', `evi/canvases/${id}`, undefined, second)).status).toBe(200)
    expect((await (await world.person()).send('GET', 'evi/canvases')).body.canvases).toEqual([])
  })
})

describe('versions of a canvas', () => {
  test('are what was published, newest first, and any of them is drawn again', async () => {
    const ada = await world.person()
    const id = await canvasOf(ada)
    const request = order()
    const { body: first } = await publish(ada, id, request)
    await ada.send('PATCH', `evi/canvases/${id}`, { graph_json: withTool() })
    await publish(ada, id, { ...request, version: '2.0.0', visibility: 'public' })
    const { body } = await ada.send('GET', `evi/canvases/${id}/versions`)
    expect(body).toMatchObject({
      versions: [
        { version: '2.0.0', visibility: 'public', graphJson: withTool(), skillId: first.skillId },
        { version: '1.0.0', visibility: 'private', graphJson: simple(), submissionId: first.submission.id },
      ],
      has_more: false,
      next_cursor: null,
    })
    const { body: restored } = await ada.send('POST', `evi/canvases/${id}/versions/${body.versions[1].id}/restore`)
    expect(restored.canvas).toMatchObject({
      status: 'draft',
      graphJson: simple(),
      compiledManifest: null,
      publishedSkillId: first.skillId,
    })
    expect((await actionsOf(ada))[0]).toBe('canvas.updated')
    const { body: paged } = await ada.send('GET', `evi/canvases/${id}/versions?limit=1`)
    expect(paged).toMatchObject({ versions: [{ version: '2.0.0' }], has_more: true })
  })

  test('of one canvas are not those of another', async () => {
    const ada = await world.person()
    const [one, other] = [await canvasOf(ada), await canvasOf(ada)]
    await publish(ada, one, order())
    const [{ id }] = (await ada.send('GET', `evi/canvases/${one}/versions`)).body.versions
    for (const version of [id, crypto.randomUUID(), 'nonsense']) {
      expect((await ada.send('POST', `evi/canvases/${other}/versions/${version}/restore`)).status).toBe(404)
    }
  })

  test('restored twice with one key is restored once', async () => {
    const ada = await world.person()
    const id = await canvasOf(ada)
    await publish(ada, id, order())
    const [version] = (await ada.send('GET', `evi/canvases/${id}/versions`)).body.versions
    const restore = () =>
      ada.send('POST', `evi/canvases/${id}/versions/${version.id}/restore`, undefined, { 'idempotency-key': 'back' })
    const [first, again] = [await restore(), await restore()]
    expect(again.text).toBe(first.text)
    expect((await actionsOf(ada)).filter((action) => action === 'canvas.updated')).toHaveLength(1)
  })
})

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
      expect({ method, where, status: reply.status, code: reply.body.error.code }).toEqual({
        method,
        where,
        status: 403,
        code: 'forbidden',
      })
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
    expect(first.status).toBe(200)
    expect(second.status).toBe(200)
    expect(second.body.skillId).toEqual(first.body.skillId)
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
      ...(await versionsOf(store.read, id, { limit: 9 })).items,
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
    expect((await ada.send('GET', 'audit?action=canvas.deleted')).body).toHaveLength(1)
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
  expect({ status, published: body.published }).toEqual({ status: 200, published: true })
  expect((await ada.send('GET', `skills/${body.skillId}`)).body.name).toBe(title)
  expect((await ada.send('GET', `evi/canvases/${id}`)).body.canvas.name).toBe(name)
})
