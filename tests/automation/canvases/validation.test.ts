import { describe, expect, test } from 'bun:test'
import { compileCanvas } from '../../../src/automation/canvases-compile'
import type { CanvasGraph, CanvasNode, CanvasProblem } from '../../../src/automation/canvases-schema'
import { ABOUT, edge, graph, INPUT, MODEL, node, OUTPUT, PROMPT, simple } from './drawing'

const problemsOf = (drawn: CanvasGraph): CanvasProblem[] => {
  const built = compileCanvas(drawn, ABOUT)
  return built.compiled ? [] : built.problems
}
const found = (drawn: CanvasGraph) => problemsOf(drawn).map(({ code, nodeId }) => (nodeId ? `${code} ${nodeId}` : code))

/** The simple canvas with one node more between prompt and model. */
const holding = (type: string, config: Record<string, unknown>, label?: string): CanvasGraph =>
  graph(
    [INPUT, PROMPT, node('it', type, config, label), MODEL, OUTPUT],
    ['in>prompt', 'prompt>it', 'it>model', 'model>out'],
  )

/** The nodes of the simple canvas, joined in another way. */
const joined = (...arrows: string[]) => graph(simple().nodes, ['in>prompt', 'prompt>model', ...arrows])
const beside = (one: CanvasNode) => ({ ...simple(), nodes: [...simple().nodes, one] })
const FORK = [INPUT, node('if', 'condition', { expression: 'true' }), OUTPUT]
const TWO = [INPUT, node('other', 'input'), PROMPT, OUTPUT]
const DISGUISED = [{ ...INPUT, data: { type: 'output', label: 'in' } }, OUTPUT]

const SHAPES: [what: string, drawn: CanvasGraph, ...problems: string[]][] = [
  ['an empty canvas', graph([], []), 'missing_input', 'no_output'],
  ['no input', graph([PROMPT, MODEL, OUTPUT], ['prompt>model', 'model>out']), 'missing_input'],
  ['two inputs', graph(TWO, ['in>prompt', 'other>prompt', 'prompt>out']), 'multiple_inputs other'],
  ['no output', graph([INPUT, PROMPT, MODEL], ['in>prompt', 'prompt>model']), 'no_output'],
  [
    'an output that nothing leads to',
    graph([INPUT, PROMPT, OUTPUT], ['in>prompt']),
    'unreachable_node out',
    'no_output',
  ],
  ['a node apart', beside(node('lost', 'prompt', { content: 'x' })), 'unreachable_node lost'],
  ['a cycle', joined('model>prompt', 'model>out'), 'cycle_detected prompt'],
  ['an edge from a node to itself', joined('model>model', 'model>out'), 'cycle_detected model'],
  [
    'a model without a prompt before it',
    graph([INPUT, MODEL, PROMPT, OUTPUT], ['in>model', 'model>prompt', 'prompt>out']),
    'model_no_prompt model',
  ],
  ['an edge to nowhere', joined('model>out', 'model>gone'), 'invalid_edge model'],
  ['an edge from nowhere', joined('model>out', 'gone>out'), 'invalid_edge out'],
  ['an edge between nothing', joined('model>out', 'a>b'), 'invalid_edge'],
  [
    'an edge out of a condition that says neither answer',
    graph(FORK, ['in>if', 'if?true>out', 'if>out', 'if?maybe>out']),
    ...['invalid_edge if', 'invalid_edge if'],
  ],
  ['two nodes of one id', beside(PROMPT), 'invalid_config prompt'],
  ['a type nobody knows', holding('loop', {}), 'invalid_node_type it'],
  ['a type that every object has', holding('constructor', {}), 'invalid_node_type it'],
  ['a type that is no type', holding('__proto__', {}), 'invalid_node_type it'],
  [
    'a node that is one thing outside and another inside',
    graph(DISGUISED, ['in>out']),
    ...['invalid_node_type in', 'missing_input'],
  ],
]

describe('the shape of a canvas (docs/api.md 9.1)', () => {
  test('one that is right has no problem', () => {
    expect(found(simple())).toEqual([])
  })

  test.each(SHAPES)('%s', (_, drawn, ...problems) => {
    expect(found(drawn)).toEqual(problems)
  })

  test('a problem is reported in a sentence that names the node', () => {
    const [problem] = problemsOf(holding('loop', {}, 'Again'))
    expect(problem!.message).toBe(
      'Node "Again" has the unknown type "loop". ' +
        'Use input, prompt, model, tool, knowledge, vision, condition, output.',
    )
  })

  test('a cycle is reported as its path', () => {
    const [problem] = problemsOf(joined('model>prompt', 'model>out'))
    expect(problem!.message).toBe('The edges form a loop: Node "prompt" → Node "model" → Node "prompt".')
  })

  test('edges need no id, and a source handle only out of a condition', () => {
    const drawn = simple()
    const bare = drawn.edges.map(({ source, target }) => ({ source, target, sourceHandle: null }))
    expect(found({ ...drawn, edges: bare })).toEqual([])
  })

  test('of very many problems the first hundred are told', () => {
    const lost = Array.from({ length: 97 }, (_, at) => node(`n${at}`, 'nothing'))
    expect(problemsOf(graph([INPUT, PROMPT, OUTPUT, ...lost], ['in>prompt', 'prompt>out']))).toHaveLength(100)
  })
})

const input = (config: Record<string, unknown>): CanvasGraph =>
  graph([node('it', 'input', config), PROMPT, OUTPUT], ['it>prompt', 'prompt>out'])
const tool = { name: 'look_up', description: 'Looks up' }
const picture = { source: 'upload', instructions: 'What is this?' }

const vision = (config: object) => holding('vision', { ...picture, ...config })
const schema = (inputSchema: object) => holding('tool', { ...tool, inputSchema })
const STRANGER = { fileKeys: ['a.md'], files: { 'b.md': 'x' } }

const CONFIGS: [what: string, drawn: CanvasGraph, says: string][] = [
  ['a trigger nobody knows', input({ triggerType: 'alarm' }), '"triggerType" is "alarm"'],
  ['a keyword trigger without keywords', input({ triggerType: 'keyword' }), '"keywords" is required'],
  ['a keyword trigger with none', input({ triggerType: 'keyword', keywords: [] }), '"keywords" is required'],
  ['an event trigger without a pattern', input({ triggerType: 'event' }), '"eventPattern" is required'],
  ['a webhook trigger without a pattern', input({ triggerType: 'webhook_event' }), '"eventPattern" is required'],
  ['a schedule without a time', input({ triggerType: 'schedule' }), '"cron" is required'],
  ['a schedule that is none', input({ triggerType: 'schedule', cron: 'soon' }), '"cron" is "soon"'],
  ['a schedule of every minute', input({ triggerType: 'schedule', cron: '* * * * *' }), 'every 5 minutes'],
  ['a zone that is none', input({ triggerType: 'schedule', cron: '0 9 * * *', timezone: 'Mars/X' }), '"timezone" is'],
  ['an event that is none', input({ triggerType: 'event', eventPattern: 'Order Paid' }), '"eventPattern" is'],
  ['a prompt without text', holding('prompt', {}), '"content" is missing'],
  ['a prompt of blanks', holding('prompt', { content: ' \n ' }), '"content" is'],
  ['a prompt of numbers', holding('prompt', { content: 7 }), '"content" is 7; it must be a string'],
  ['a prompt too long', holding('prompt', { content: 'x'.repeat(20_001) }), 'has 20001 characters'],
  ['an engine nobody knows', holding('model', { modelId: 'acme-9' }), '"modelId" is "acme-9", which is not an engine'],
  ['an engine that every object has', holding('model', { modelId: 'constructor' }), 'not an engine'],
  ['a temperature out of range', holding('model', { modelId: 'svc-1-flash', temperature: 3 }), 'between 0 and 2'],
  ['a tool with a name that is none', holding('tool', { ...tool, name: 'Look Up!' }), '"name" is "Look Up!"'],
  ['a tool without a description', holding('tool', { name: 'look_up' }), '"description" is missing'],
  ['a tool whose arguments are no object', schema({ type: 'string' }), '"inputSchema.type" must be "object"'],
  ['a tool whose schema is none', schema({ properties: 5 }), '"inputSchema.properties"'],
  ['knowledge without files', holding('knowledge', { fileKeys: [] }), '"fileKeys" is empty'],
  ['a file out of the bundle', holding('knowledge', { fileKeys: ['../../etc/passwd'] }), 'must be a relative path'],
  ['text of a file it does not name', holding('knowledge', STRANGER), '"files" contains "b.md", which is not in'],
  ['a picture from nowhere', vision({ source: 'eye' }), '"source" is "eye"'],
  ['a picture without instructions', holding('vision', { source: 'upload' }), '"instructions" is missing'],
  ['a picture at no address', vision({ source: 'url' }), '"url" is required'],
  ['a picture at an address that runs', vision({ source: 'url', url: 'javascript:alert(1)' }), '"url" is "javascript'],
  ['a picture of no step', vision({ source: 'step' }), '"step" is required'],
  ['a picture of a step that comes later', vision({ source: 'step', step: 'model' }), 'not a step before this one'],
  ['an output in no format', graph([INPUT, node('it', 'output', { format: 'pdf' })], ['in>it']), '"format" is "pdf"'],
]

describe('what a node says (docs/api.md 9.1)', () => {
  test.each(CONFIGS)('%s', (_, drawn, says) => {
    expect(problemsOf(drawn)).toMatchObject([{ code: 'invalid_config', nodeId: 'it' }])
    expect(problemsOf(drawn)[0]!.message).toContain(says)
  })

  test('two tools cannot have one name', () => {
    const drawn = graph(
      [INPUT, node('one', 'tool', tool), node('it', 'tool', tool), OUTPUT],
      ['in>one', 'one>it', 'it>out'],
    )
    expect(problemsOf(drawn)).toMatchObject([{ code: 'invalid_config', nodeId: 'it' }])
  })

  test.each<[string, number, (at: number) => ReturnType<typeof node>]>([
    ['20 tools', 21, (at) => node(`n${at}`, 'tool', { ...tool, name: `look_${at}` })],
    ['20,000 characters of prompts', 3, (at) => node(`n${at}`, 'prompt', { content: 'x'.repeat(8_000) })],
    ['50 files', 51, (at) => node(`n${at}`, 'knowledge', { fileKeys: [`f${at}.md`] })],
    [
      '500,000 characters of knowledge',
      6,
      (at) => node(`n${at}`, 'knowledge', { fileKeys: [`${at}.md`], files: { [`${at}.md`]: 'x'.repeat(100_000) } }),
    ],
  ])('all together hold at most %s', (_, count, make) => {
    const nodes = Array.from({ length: count }, (_unused, at) => make(at))
    const edges = nodes.flatMap(({ id }) => [edge(`in>${id}`), edge(`${id}>out`)])
    expect(problemsOf({ nodes: [INPUT, ...nodes, OUTPUT], edges })).toMatchObject([{ code: 'invalid_config' }])
    const fewer = nodes.slice(1)
    const fitting = edges.filter(({ source, target }) => ![source, target].includes(nodes[0]!.id))
    expect(found({ nodes: [INPUT, ...fewer, OUTPUT], edges: fitting })).toEqual([])
  })

  test.each([
    ['(((', 'ends too early'],
    ['a ==', 'is no value of a run'],
    ["require('child_process')", 'is no value of a run'],
    ['constructor.constructor("return process")()', 'is no value of a run'],
    ['previous.output.text ===  1', 'starts nothing that is known'],
    ['`process.exit()`', 'starts nothing that is known'],
    ['steps["gone"].output.text == 1', 'reads steps["gone"], which is not a step before it'],
    ['steps["model"].output.text == 1', 'reads steps["model"], which is not a step before it'],
    ['previous.output.text matches "("', 'is not closed'],
  ])('a condition that says %s', (expression, says) => {
    const drawn = graph(
      [INPUT, PROMPT, node('it', 'condition', { expression }), MODEL, OUTPUT],
      ['in>prompt', 'prompt>it', 'it?true>model', 'it?false>out', 'model>out'],
    )
    expect(problemsOf(drawn)).toMatchObject([{ code: 'invalid_expression', nodeId: 'it' }])
    expect(problemsOf(drawn)[0]!.message).toContain(says)
  })
})
