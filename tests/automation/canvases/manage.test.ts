import { describe, expect, test } from 'bun:test'
import { canvas } from '../../../src/automation/canvases/resource'
import { CanvasId } from '../../../src/automation/canvases/schema'
import { canvases } from '../../../src/automation/canvases/table'
import { fakeClock } from '../../support/clock'
import { createWorld } from '../../support/world'
import { simple, withTool } from './drawing'
import { canvasOf } from './world'

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
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
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

  const long = (length: number) => 'x'.repeat(length)
  test.each<[body: unknown, param: string]>([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: '  ' }, 'name'],
    [{ name: long(129) }, 'name'],
    [{ name: 7 }, 'name'],
    [{ name: 'a', description: long(501) }, 'description'],
    [{ name: 'a', graph_json: null }, 'graph_json'],
    [{ name: 'a', graph_json: [] }, 'graph_json'],
    [{ name: 'a', graph_json: { nodes: [] } }, 'graph_json.edges'],
    [{ name: 'a', graph_json: { nodes: [{}], edges: [] } }, 'graph_json.nodes[0].id'],
    [{ name: 'a', graph_json: { nodes: [null], edges: [] } }, 'graph_json.nodes[0]'],
    [{ name: 'a', graph_json: { nodes: [{ id: 'a', type: 5 }], edges: [] } }, 'graph_json.nodes[0].type'],
    [{ name: 'a', graph_json: { nodes: [], edges: [{ source: 'a' }] } }, 'graph_json.edges[0].target'],
    [
      { name: 'a', graph_json: { nodes: [{ id: 'a', type: 'input', position: { x: 'left', y: 0 } }], edges: [] } },
      'graph_json.nodes[0].position.x',
    ],
    [{ name: 'a', graph_json: { nodes: [{ id: long(3_000_000), type: 'a' }], edges: [] } }, 'graph_json.nodes[0].id'],
    [{ name: 'a', graph_json: { nodes: [{ id: 'a', type: 'a', more: long(2_100_000) }], edges: [] } }, 'graph_json'],
  ])('cannot be made of what row %# says: 400 at the member', async (body, param) => {
    const ada = await world.person()
    const reply = await ada.send('POST', 'evi/canvases', body)
    expect(reply.status).toBe(400)
    expect(reply.body.error).toMatchObject({ code: 'validation_error', param })
    expect((await ada.send('GET', 'evi/canvases')).body.canvases).toEqual([])
  })

  test.each([{}, { other: 1 }])('cannot be changed by %p', async (patch) => {
    const ada = await world.person()
    const reply = await ada.send('PATCH', `evi/canvases/${await canvasOf(ada)}`, patch)
    expect(reply.status).toBe(400)
    expect(reply.body.error.code).toBe('validation_error')
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

describe('the list', () => {
  test('has the last updated first, page by page', async () => {
    const clock = fakeClock()
    const own = await createWorld({ clock })
    const ada = await own.person()
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

  test.each(['limit=51', 'limit=0', 'limit=x', 'cursor=nonsense'])('refuses %s', async (query) => {
    const ada = await world.person()
    expect((await ada.send('GET', `evi/canvases?${query}`)).status).toBe(400)
  })

  test("an org's key shares its canvases with the org's other keys, and nobody else's", async () => {
    const org = await world.person({ ofOrg: true })
    const id = await canvasOf(org)
    const { body: made } = await org.send('POST', 'keys', { name: 'second', scope: 'org' })
    const second = { authorization: `Bearer ${made.key}` }
    expect((await world.send('GET', `evi/canvases/${id}`, undefined, second)).status).toBe(200)
    expect((await (await world.person()).send('GET', 'evi/canvases')).body.canvases).toEqual([])
  })
})
