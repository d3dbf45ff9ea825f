import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { compileCanvas } from '../../../src/automation/canvases-compile'
import type { CanvasGraph, CanvasNode, CanvasStep } from '../../../src/automation/canvases-schema'
import { checker } from '../../../src/kernel/schema'
import { Manifest } from '../../../src/skills/schema'
import { ABOUT, INPUT, node } from './drawing'

const RUNS = { numRuns: 300 }

/** Text of every alphabet, and never blank. */
const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).map((text) => `a${text}`)

const CONFIGS = {
  prompt: fc.record({ content: words }),
  model: fc.record({
    modelId: fc.constantFrom('svc-1-flash', 'svc-1-reason'),
    temperature: fc.constantFrom(0, 1.5, 2),
  }),
  tool: fc.record(
    {
      name: fc.constant('by_id'),
      description: words,
      inputSchema: fc.constantFrom({ type: 'object', properties: { city: {} } }, { type: 'object' }),
      requiresApproval: fc.boolean(),
    },
    { requiredKeys: ['name', 'description'] },
  ),
  knowledge: fc.record({ fileKeys: fc.constantFrom(['faq.md'], ['a/b.md', 'c.txt']) }),
  vision: fc.record({ source: fc.constant('upload'), instructions: words }),
  condition: fc.record({
    expression: fc.constantFrom('true', 'previous.output.text contains "x"', '!(trigger.a >= 2)'),
  }),
  output: fc.record({ format: fc.constantFrom('text', 'json', 'markdown', 'file') }),
} as const

const inner = fc.constantFrom(...(Object.keys(CONFIGS) as (keyof typeof CONFIGS)[])).chain((type) =>
  fc.record({
    type: fc.constant(type),
    config: CONFIGS[type],
    label: words,
    seeds: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
  }),
)

const input = fc.constantFrom(
  {},
  { triggerType: 'keyword', keywords: ['a'] },
  { triggerType: 'event', eventPattern: 'a.b' },
  { triggerType: 'schedule', cron: '0 9 * * 1' },
)

/** Any canvas that is right: every node hangs on earlier ones, a prompt stands first, an output last. */
const canvases: fc.Arbitrary<CanvasGraph> = fc
  .record({ input, nodes: fc.array(inner, { maxLength: 18 }), shuffle: fc.infiniteStream(fc.nat()) })
  .map(({ input: config, nodes, shuffle }) => {
    const drawn: CanvasNode[] = [node('in', 'input', config), node('n0', 'prompt', { content: 'Begin.' })]
    const edges: CanvasGraph['edges'] = [{ source: 'in', target: 'n0' }]
    const all = [...nodes, { type: 'output' as const, config: {}, label: 'out', seeds: [0, 1, 2] }]
    for (const [at, { type, config: own, label, seeds }] of all.entries()) {
      const id = `n${at + 1}`
      drawn.push(node(id, type, type === 'tool' ? { ...own, name: `look_${at}` } : own, label))
      for (const seed of seeds) {
        const source = drawn[1 + (seed % (drawn.length - 2))]!
        const handle = source.type === 'condition' ? { sourceHandle: seed % 3 ? 'true' : 'false' } : {}
        edges.push({ source: source.id, target: id, ...handle })
      }
    }
    const input = new Map(drawn.map(({ id }) => [id, shuffle.next().value]))
    return { nodes: drawn.sort((a, b) => input.get(a.id)! - input.get(b.id)!), edges }
  })

function built(graph: CanvasGraph) {
  const made = compileCanvas(graph, ABOUT)
  if (!made.compiled) throw new Error(JSON.stringify(made.problems))
  return made
}

const STEPS = new Set(['model', 'tool', 'vision', 'condition', 'output'])

/** Which nodes the edges lead to when conditions answer so. */
function reached({ nodes, edges }: CanvasGraph, answers: ReadonlyMap<string, boolean>): Set<string> {
  const seen = new Set(['in'])
  for (const id of seen) {
    const taken = edges.filter(
      ({ source, sourceHandle }) => source === id && (!sourceHandle || sourceHandle === String(answers.get(id))),
    )
    for (const { target } of taken) seen.add(target)
  }
  return new Set(nodes.filter(({ id, type }) => seen.has(id) && STEPS.has(type)).map(({ id }) => id))
}

/** Runs the steps as a workflow does: the places in the order they run. */
function walked(steps: readonly CanvasStep[], answerOf: (at: number) => boolean | undefined): number[] {
  const results = new Map<number, boolean>()
  const way: number[] = []
  for (let at = 0; at < steps.length; ) {
    const { type, config, onSuccess } = steps[at]!
    way.push(at)
    if (type !== 'condition') {
      at = onSuccess ?? at + 1
      continue
    }
    const waiting = [...String(config.expression).matchAll(/steps\.(\d+)\.output\.result == (true|false)/g)]
    const result = answerOf(at) ?? waiting.some(([, step, wanted]) => String(results.get(Number(step))) === wanted)
    results.set(at, result)
    at = Number(result ? config.onTrue : config.onFalse)
  }
  return way
}

/** The place of each step, by the node it stands for: labels are made apart first. */
const labelled = (graph: CanvasGraph): CanvasGraph => ({
  ...graph,
  nodes: graph.nodes.map((one) => ({ ...one, data: { ...one.data, label: one.id } })),
})

describe('any canvas that is right', () => {
  test('compiles to a manifest that fits the schema of skills', () => {
    const fits = checker(Manifest)
    fc.assert(
      fc.property(canvases, (graph) => {
        expect(fits.issues(built(graph).manifest)).toEqual([])
      }),
      RUNS,
    )
  })

  test('compiles to the same whatever the order of its edges', () => {
    fc.assert(
      fc.property(canvases, (graph) => {
        expect(built({ ...graph, edges: graph.edges.toReversed() })).toEqual(built(graph))
      }),
      RUNS,
    )
  })

  test('compiles to steps that lead on, never back, and have names of their own', () => {
    fc.assert(
      fc.property(canvases, (graph) => {
        const { steps } = built(graph)
        expect(new Set(steps.map(({ name }) => name)).size).toBe(steps.length)
        for (const [at, { config, onSuccess, type }] of steps.entries()) {
          const branches = type === 'condition' ? [config.onTrue, config.onFalse] : [onSuccess ?? at + 1]
          for (const way of branches) {
            expect(way).toBeGreaterThan(at)
            expect(way).toBeLessThan(steps.length + (at === steps.length - 1 ? 1 : 0))
          }
          for (const [, read] of JSON.stringify(config).matchAll(/steps\.(\d+)\./g))
            expect(Number(read)).toBeLessThan(at)
        }
      }),
      RUNS,
    )
  })

  test('runs what the answers of its conditions lead to, all of it, nothing else, and in order', () => {
    fc.assert(
      fc.property(canvases, fc.infiniteStream(fc.boolean()), (drawn, coins) => {
        const graph = labelled(drawn)
        const { steps } = built(graph)
        const answers = new Map(graph.nodes.map(({ id }) => [id, coins.next().value as boolean]))
        const way = walked(steps, (at) =>
          graph.nodes.some(({ id }) => id === steps[at]!.name) ? answers.get(steps[at]!.name) : undefined,
        )
        const ran = way.map((at) => steps[at]!.name).filter((name) => answers.has(name))
        expect(ran.toSorted()).toEqual([...reached(graph, answers)].toSorted())
        for (const { source, target } of graph.edges) {
          if (ran.includes(source) && ran.includes(target))
            expect(ran.indexOf(source)).toBeLessThan(ran.indexOf(target))
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('anything at all', () => {
  const anyNode = fc.record(
    {
      id: fc.oneof(
        fc.constantFrom('in', 'a', 'b', '__proto__', 'constructor'),
        fc.string({ minLength: 1, maxLength: 9 }),
      ),
      type: fc.oneof(
        fc.constantFrom(...STEPS, 'input', 'prompt', 'knowledge', 'toString'),
        fc.string({ maxLength: 9 }),
      ),
      data: fc.record({ label: fc.string(), config: fc.dictionary(fc.string(), fc.jsonValue()) }, { requiredKeys: [] }),
    },
    { requiredKeys: ['id', 'type'] },
  )
  const anyEdge = fc.record({
    source: fc.constantFrom('in', 'a', 'b', 'x', '__proto__'),
    target: fc.constantFrom('in', 'a', 'b', 'constructor'),
    sourceHandle: fc.constantFrom(null, 'true', 'false', 'maybe'),
  })

  test('either compiles or says why, in sentences', () => {
    fc.assert(
      fc.property(fc.array(anyNode), fc.array(anyEdge), (nodes, edges) => {
        const made = compileCanvas({ nodes: [INPUT, ...nodes] as CanvasNode[], edges }, ABOUT)
        if (made.compiled) return
        expect(made.problems.length).toBeGreaterThan(0)
        for (const { message } of made.problems) expect(message).toMatch(/^[A-Z].*[.?]$/s)
      }),
      RUNS,
    )
  })
})
