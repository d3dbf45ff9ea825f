import { describe, expect, test } from 'bun:test'
import { clean } from '../../src/kernel/text'
import { edge, graph, INPUT, MODEL, node, OUTPUT, simple } from '../automation/canvases/drawing'
import { canvasOf } from '../automation/canvases/world'
import { effortOf } from '../support/effort'
import { createWorld, type Reply } from '../support/world'

const ada = await (await createWorld()).person()
const MAX_MS = 200

/** Asks for it to be compiled, some times over: what the quickest took is what it costs. */
async function compiledQuickly(id: string): Promise<Reply> {
  const replies: Reply[] = []
  const ms = await effortOf(async () => replies.push(await ada.send('POST', `evi/canvases/${id}/compile`)))
  expect(ms).toBeLessThan(MAX_MS)
  return replies[0]!
}

const many = (count: number, make: (at: number) => ReturnType<typeof node>) =>
  Array.from({ length: count }, (_, at) => make(at))
const prompts = (count: number) => many(count, (at) => node(`n${at}`, 'prompt', { content: 'x' }))
/** A chain through all of them, input to output. */
const chained = (nodes: ReturnType<typeof prompts>) => {
  const all = [INPUT, ...nodes, OUTPUT]
  return { nodes: all, edges: all.slice(1).map(({ id }, at) => edge(`${all[at]!.id}>${id}`)) }
}
const members = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]))
const asking = (config: object) => graph([INPUT, node('p', 'prompt', { ...config }), OUTPUT], ['in>p', 'p>out'])
const deciding = (expression: string) =>
  graph([INPUT, node('c', 'condition', { expression }), OUTPUT], ['in>c', 'c?true>out'])
/** A schema of a hundred thousand patterns' worth of work. */
const deepSchema = (): Record<string, unknown> => {
  let schema: Record<string, unknown> = { type: 'object' }
  for (let depth = 0; depth < 20; depth++)
    schema = { type: 'object', properties: { a: schema, b: { pattern: '(a+)+$' } } }
  return schema
}

/** docs/attacks.md L17: what is drawn, and the codes it is refused with; tests/automation/canvases has more of them. */
const HOSTILE: [what: string, drawn: object, codes: string[]][] = [
  [
    'a cycle of a hundred',
    { nodes: [INPUT, ...prompts(98), OUTPUT], edges: [...chained(prompts(98)).edges, edge('n97>n0')] },
    ['cycle_detected'],
  ],
  [
    '10,000 nodes',
    { nodes: [INPUT, ...many(9_998, (at) => ({ id: `n${at}`, type: 'prompt' })), OUTPUT], edges: [] },
    ['invalid_config'],
  ],
  ['101 nodes', chained(prompts(99)), ['invalid_config']],
  ['201 edges', { ...simple(), edges: Array(201).fill(edge('in>prompt')) }, ['invalid_edge']],
  ['20,000 edges', { ...simple(), edges: Array(20_000).fill({ source: 'in', target: 'prompt' }) }, ['invalid_edge']],
  [
    'ids that every object has',
    graph(
      [INPUT, node('__proto__', 'prompt', {}), node('constructor', 'tool', {}), OUTPUT],
      ['in>__proto__', '__proto__>constructor', 'constructor>out'],
    ),
    ['invalid_config', 'invalid_config', 'invalid_config'],
  ],
  ['a config of 2 MB', asking({ content: 'x'.repeat(1_900_000) }), ['invalid_config']],
  ['a config of very many members', asking(members(20_000, 1)), ['invalid_config']],
  ['an expression nested for ever', deciding(`${'('.repeat(900)}true${')'.repeat(900)}`), ['invalid_expression']],
  [
    'a hundred conditions of 2,000 characters that are none',
    {
      nodes: [INPUT, ...many(98, (at) => node(`c${at}`, 'condition', { expression: '!'.repeat(2_000) })), OUTPUT],
      edges: [],
    },
    [],
  ],
]

/** docs/attacks.md L14: texts that some interpreter, somewhere, would run. */
const PAYLOADS = [
  "require('child_process').execSync('touch /tmp/owned')",
  '`process.exit()`',
  'constructor.constructor("return process")().exit()',
  '{{constructor.constructor("return process")()}}',
  '<img src=x onerror=alert(1)>',
  '"; DROP TABLE canvases; --',
  '\u001b[2J\u202eevil',
]

describe('L17: what is drawn to do harm', () => {
  test.each(HOSTILE)('%s is refused, quickly, and the server goes on', async (_, drawn, codes) => {
    const { status, body } = await compiledQuickly(await canvasOf(ada, drawn as never))
    expect(status).toBe(422)
    expect(body.errors.length).toBeLessThanOrEqual(100)
    if (codes.length) expect(body.errors.map(({ code }: { code: string }) => code)).toEqual(codes)
    for (const { message } of body.errors) expect(message.length).toBeLessThan(1_000)
    expect((await ada.send('GET', 'health')).status).toBe(200)
  })

  test('the largest that is right compiles as quickly', async () => {
    const inputSchema = { type: 'object', properties: members(150, {}) }
    const tools = many(20, (at) => node(`t${at}`, 'tool', { name: `t_${at}`, description: 'x', inputSchema }))
    const conditions = many(78, (at) => node(`c${at}`, 'condition', { expression: 'true' }))
    const edges = [
      ...tools.map(({ id }, at) => edge(`${at ? `t${at - 1}` : 'in'}>${id}`)),
      ...conditions.map(({ id }, at) => edge(`${at ? `c${at - 1}?${at % 2 === 0}` : 't19'}>${id}`)),
      ...conditions.map(({ id }) => edge(`${id}?false>out`)),
    ]
    const id = await canvasOf(ada, { nodes: [INPUT, ...tools, ...conditions, OUTPUT], edges })
    const { status, body } = await compiledQuickly(id)
    expect({ status, errors: body.errors }).toEqual({ status: 200, errors: [] })
  })

  test('ways that part and meet again do not double the work', async () => {
    const asks = many(96, (at) => node(`c${at}`, 'condition', { expression: 'true' }))
    const ladder = asks
      .slice(2)
      .flatMap((_, at) => [edge(`c${at}?true>c${at + 2}`), edge(`c${at + 1}?true>c${at + 2}`)])
    const ends = ['in>c0', 'in>c1', 'c0?true>out', 'c1?true>out', 'c95?true>out', 'c94?false>out'].map(edge)
    const id = await canvasOf(ada, { nodes: [INPUT, ...asks, OUTPUT], edges: [...ladder, ...ends] })
    expect((await compiledQuickly(id)).status).toBe(200)
  })

  test('patterns that would take for ever are refused before they are compiled', async () => {
    const tool = (at: number) =>
      node(`t${at}`, 'tool', { name: `t_${at}`, description: 'x', inputSchema: deepSchema() })
    await compiledQuickly(await canvasOf(ada, chained(many(20, tool))))
  })
})

describe('L14, F11: texts are data', () => {
  test.each(PAYLOADS)('%p stays what it is, in every place there is for a text', async (text) => {
    const drawn = graph(
      [INPUT, node('p', 'prompt', { content: text }, text), MODEL, node('o', 'output', {}, text)],
      ['in>p', 'p>model', 'model>o'],
    )
    const { body, headers } = await ada.send('POST', 'evi/canvases', {
      name: text,
      description: text,
      graph_json: drawn,
    })
    expect(body.canvas).toMatchObject({ name: text, description: text, graphJson: drawn })
    expect(headers.get('content-type')).toStartWith('application/json')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    const compiled = await ada.send('POST', `evi/canvases/${body.canvas.id}/compile`)
    expect(compiled.body.manifest).toMatchObject({ name: clean(text), systemPromptExtension: text })
    expect(compiled.body.manifest.slug).toMatch(/^[a-z0-9-]{2,64}$/)
  })

  test.each(PAYLOADS)('as a condition %p is read and never run', async (expression) => {
    const id = await canvasOf(ada, deciding(expression))
    const { status, body } = await ada.send('POST', `evi/canvases/${id}/compile`)
    expect(status).toBe(422)
    expect(body.errors).toMatchObject([{ code: 'invalid_expression', nodeId: 'c' }])
    expect(body.errors[0].message).toBe(clean(body.errors[0].message))
  })
})

test("E: nobody can write another owner's resource", async () => {
  const { body } = await ada.send('POST', 'evi/canvases', {
    name: 'a',
    id: crypto.randomUUID(),
    owner: 'org:x',
    userId: 'x',
    status: 'published',
    publishedSkillId: crypto.randomUUID(),
    compiledManifest: { name: 'x' },
    createdAt: '2001-01-01T00:00:00.000Z',
  })
  expect(body.canvas).toMatchObject({ status: 'draft', publishedSkillId: null, compiledManifest: null })
  expect(body.canvas.createdAt).not.toStartWith('2001')
  expect((await ada.send('GET', `evi/canvases/${body.canvas.id}`)).body.canvas).toEqual(body.canvas)
})
