import { describe, expect, test } from 'bun:test'
import type { CanvasGraph } from '../../../src/automation/canvases-schema'
import { eventually } from '../../support/eventually'
import { serveLocally } from '../../support/listening'
import type { Person } from '../../support/world'
import { graph, INPUT, node, OUTPUT, PROMPT, simple } from '../canvases/drawing'
import { createWorkflowWorld } from './world'

const { world } = await createWorkflowWorld()

const drawn = async (by: Person, graph_json: CanvasGraph = simple()): Promise<string> =>
  (await by.send('POST', 'evi/canvases', { name: 'Drawn', graph_json })).body.canvas.id
const workflowOf = (by: Person, canvas: string, input: object = {}) =>
  by.send('POST', `evi/canvases/${canvas}/workflow`, input)
const stateOf = (run: { nodes: { nodeId: string; status: string }[] }) =>
  Object.fromEntries(run.nodes.map(({ nodeId, status }) => [nodeId, status]))

/** Two ways: a tool where something is asked for, else the answer alone. */
const branching = (tool: object) =>
  graph(
    [
      INPUT,
      PROMPT,
      node('asks', 'condition', { expression: 'trigger.message contains "look"' }),
      node('look', 'tool', {
        name: 'look_up',
        description: 'Looks up',
        arguments: { q: '{{trigger.message}}' },
        ...tool,
      }),
      node('model', 'model', { modelId: 'svc-1-flash' }),
      OUTPUT,
    ],
    ['in>prompt', 'prompt>asks', 'asks?true>look', 'asks?false>model', 'look>out', 'model>out'],
  )

describe('a canvas as a workflow (docs/api.md 9, 10)', () => {
  test('compiles to one workflow, which follows the canvas and is named and switched apart from it', async () => {
    const ada = await world.person()
    const canvas = await drawn(ada)
    expect((await ada.send('GET', `evi/canvases/${canvas}/workflow`)).status).toBe(404)
    const { status, body } = await workflowOf(ada, canvas)
    expect(status).toBe(200)
    expect(body.workflow).toMatchObject({ name: 'Drawn', triggerType: 'manual', enabled: true, canvasId: canvas })
    expect(body.workflow.steps.map(({ nodeId }: { nodeId: string }) => nodeId)).toEqual(['model', 'out'])
    const input = node('in', 'input', { triggerType: 'schedule', cron: '0 9 * * 1', timezone: 'Europe/Vienna' })
    const graph_json = { ...simple(), nodes: simple().nodes.map((one) => (one.id === 'in' ? input : one)) }
    await ada.send('PATCH', `evi/canvases/${canvas}`, { graph_json, name: 'Other' })
    expect((await workflowOf(ada, canvas, { enabled: false })).body.workflow).toMatchObject({
      id: body.workflow.id,
      name: 'Drawn',
      enabled: false,
      triggerType: 'schedule',
      triggerConfig: { cron: '0 9 * * 1', timezone: 'Europe/Vienna' },
      nextRunAt: null,
    })
    expect((await workflowOf(ada, canvas, { enabled: true })).body.workflow.nextRunAt).not.toBeNull()
    expect((await ada.send('GET', `evi/canvases/${canvas}/workflow`)).body.workflow.id).toBe(body.workflow.id)
    expect((await ada.send('GET', 'workflows')).body.workflows).toHaveLength(1)
  })

  test('an input that waits for an event is started by it', async () => {
    const ada = await world.person()
    const input = node('in', 'input', { triggerType: 'event', eventPattern: 'order.*' })
    const canvas = await drawn(ada, graph([input, PROMPT, OUTPUT], ['in>prompt', 'prompt>out']))
    expect((await workflowOf(ada, canvas)).body.workflow.triggerConfig).toEqual({ eventPattern: 'order.*' })
    await ada.send('POST', 'events', { orgId: ada.userId, eventType: 'order.paid', payload: { n: 1 } })
    const { body } = await eventually(
      () => ada.send('GET', `evi/canvases/${canvas}/runs`),
      (reply) => reply.body.runs[0]?.completedAt != null,
    )
    expect(stateOf(body.runs[0])).toEqual({ out: 'completed' })
  })

  test('what does not compile is 422 with its nodes, and nothing is made', async () => {
    const ada = await world.person()
    const canvas = await drawn(ada, graph([INPUT, OUTPUT, node('lone', 'prompt', { content: 'x' })], ['in>out']))
    const { status, body } = await workflowOf(ada, canvas)
    expect(status).toBe(422)
    expect(body).toMatchObject({ compiled: false, errors: [{ code: 'unreachable_node', nodeId: 'lone' }] })
    const long = Array.from({ length: 51 }, (_, at) => node(`o${at}`, 'output'))
    const arrows = long.map(({ id }, at) => `${at ? `o${at - 1}` : 'in'}>${id}`)
    const tall = await workflowOf(ada, await drawn(ada, graph([INPUT, ...long], arrows)))
    expect(tall.status).toBe(422)
    expect(tall.body.errors[0].message).toContain('51 steps')
    expect((await ada.send('GET', 'workflows')).body.workflows).toEqual([])
  })

  test('fifty requests at once make one', async () => {
    const ada = await world.person()
    const canvas = await drawn(ada)
    const replies = await Promise.all(Array.from({ length: 50 }, () => workflowOf(ada, canvas)))
    expect(replies.filter(({ status }) => ![200, 409].includes(status))).toEqual([])
    expect((await ada.send('GET', 'workflows')).body.workflows).toHaveLength(1)
  })
})

describe('the runs of a canvas on its nodes', () => {
  const calls: unknown[] = []
  const receiver = serveLocally(async (request) => {
    if (request.url.endsWith('/broken')) return new Response(null, { status: 500 })
    calls.push(await request.json())
    return Response.json({ found: 'it' })
  })
  const endpoint = { url: `http://127.0.0.1:${receiver.port}/look` }

  test('the way that was taken is completed and the other one skipped; a tool of the canvas is called', async () => {
    const ada = await world.person()
    const canvas = await drawn(ada, branching({ endpoint }))
    const { id } = (await workflowOf(ada, canvas)).body.workflow
    const { body } = await ada.send('POST', `workflows/${id}/run`, { triggerData: { message: 'look there' } })
    const { run } = (await ada.send('GET', `evi/canvases/${canvas}/runs/${body.run.id}`)).body
    expect(run).toMatchObject({ status: 'completed', workflowId: id })
    expect(stateOf(run)).toEqual({ asks: 'completed', look: 'completed', model: 'skipped', out: 'completed' })
    expect(run.nodes.find(({ nodeId }: { nodeId: string }) => nodeId === 'look')).toMatchObject({
      type: 'tool',
      times: 1,
      output: { found: 'it' },
      error: null,
    })
    expect(calls).toEqual([{ tool: 'look_up', arguments: { q: 'look there' }, request_id: expect.any(String) }])
    const other = await ada.send('POST', `workflows/${id}/run`, { triggerData: { message: 'hello' } })
    expect(other.body.run.status).toBe('completed')
    const { runs } = (await ada.send('GET', `evi/canvases/${canvas}/runs`)).body
    expect(runs.map(stateOf)[0]).toEqual({ asks: 'completed', look: 'skipped', model: 'completed', out: 'completed' })
    expect(runs).toHaveLength(2)
  })

  test('a node that failed says why, and those after it are skipped', async () => {
    const ada = await world.person()
    const broken = { url: endpoint.url.replace('/look', '/broken') }
    const canvas = await drawn(ada, branching({ endpoint: broken }))
    const { id } = (await workflowOf(ada, canvas)).body.workflow
    const { body } = await ada.send('POST', `workflows/${id}/run`, { triggerData: { message: 'look' } })
    const { run } = (await ada.send('GET', `evi/canvases/${canvas}/runs/${body.run.id}`)).body
    expect(run.status).toBe('failed')
    expect(stateOf(run)).toEqual({ asks: 'completed', look: 'failed', model: 'skipped', out: 'skipped' })
    expect(run.nodes[1].error).toEqual(expect.any(String))
  })

  test('no step keeps what would start a program, from a canvas or written by hand (L15)', async () => {
    const ada = await world.person()
    const program = { command: 'npx', args: ['-y', 'left'], env: { TOKEN: 'word-of-the-env' } }
    const canvas = await drawn(ada, branching({ endpoint: { ...endpoint, ...program }, ...program }))
    const compiled = (await ada.send('POST', `evi/canvases/${canvas}/compile`)).body
    expect(compiled.warnings[0]).toContain('tools[0].command')
    const made = (await workflowOf(ada, canvas)).body.workflow
    const { endpoint: _, ...tool } = made.steps.find(({ type }: { type: string }) => type === 'tool').config.tool
    const step = { name: 'look', type: 'tool', config: { name: 'look_up', tool: { ...tool, ...program }, ...program } }
    const input = { name: 'By hand', triggerType: 'manual', steps: [step] }
    const own = (await ada.send('POST', 'workflows', input)).body.workflow
    expect(own.steps[0].config.tool).toEqual(tool)
    const { steps } = (await ada.send('PATCH', `workflows/${own.id}`, { steps: [step] })).body.workflow
    const { canvas: stored } = (await ada.send('GET', `evi/canvases/${canvas}`)).body
    for (const one of [compiled, made, own, steps, stored.compiledManifest, stored.compiledWorkflowSteps])
      expect(JSON.stringify({ ...one, warnings: [] })).not.toMatch(/"(command|args|env)"|word-of-the-env/)
  })

  test('an address that may not be called is refused before anything is made', async () => {
    const ada = await world.person()
    const canvas = await drawn(ada, branching({ endpoint: { url: 'http://10.0.0.1/look' } }))
    expect((await workflowOf(ada, canvas)).body.error).toMatchObject({ code: 'url_blocked' })
    expect((await ada.send('GET', 'workflows')).body.workflows).toEqual([])
  })
})
