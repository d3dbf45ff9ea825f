import { describe, expect, test } from 'bun:test'
import { compileCanvas } from '../../../src/automation/canvases-compile'
import type { CanvasGraph, CanvasNode, CanvasStep } from '../../../src/automation/canvases-schema'
import { ABOUT, graph, INPUT, MODEL, node, OUTPUT, PROMPT, simple, withTool } from './drawing'

function built(drawn: CanvasGraph) {
  const made = compileCanvas(drawn, ABOUT)
  if (!made.compiled) throw new Error(JSON.stringify(made.problems))
  return made
}

/** Steps as `3 name →5`: place, name, and where it leads when that is not the next. */
function notify(steps: readonly CanvasStep[]): string[] {
  return steps.map(({ name, config, onSuccess }, at) => {
    const branches = [onSuccess, ...(config.onTrue === undefined ? [] : [`${config.onTrue}|${config.onFalse}`])]
    return [at, name, ...branches.filter((way) => way !== undefined).map((way) => `→${way}`)].join(' ')
  })
}

const says = (id: string) => node(id, 'prompt', { content: `${id}.` })
const model = (id: string, config = {}) => node(id, 'model', { modelId: 'svc-1-flash', ...config })
const asks = (id: string) => node(id, 'condition', { expression: 'previous.output.text contains "yes"' })
const out = (id: string) => node(id, 'output')

describe('the skill of a canvas', () => {
  test('its prompts in order, its tools, what it knows, its model and its permissions', () => {
    const drawn = graph(
      [
        INPUT,
        says('two'),
        says('one'),
        node('files', 'knowledge', { fileKeys: ['faq.md', 'hours.md'], files: { 'faq.md': 'We deliver.' } }),
        node('more', 'knowledge', { fileKeys: ['faq.md'] }),
        node('look', 'tool', { name: 'look_up', description: 'Looks up', arguments: { q: 'x' } }),
        model('first', { modelId: 'svc-1-reason' }),
        model('second'),
        OUTPUT,
      ],
      ['in>one', 'one>two', 'two>files', 'files>more', 'more>first', 'first>look', 'look>second', 'second>out'],
    )
    expect(built(drawn).manifest).toMatchObject({
      ...ABOUT,
      category: 'productivity',
      systemPromptExtension: 'one.\n\ntwo.',
      tools: [{ name: 'look_up', description: 'Looks up' }],
      permissions: ['execute:tools'],
      knowledge: ['faq.md', 'hours.md'],
      knowledgeFiles: { 'faq.md': 'We deliver.' },
      modelPreference: 'svc-1-reason',
      trigger: { type: 'manual' },
      license: 'MIT',
      keywords: [],
    })
    expect(built(drawn).manifest.tools[0]).not.toHaveProperty('arguments')
  })

  const calling = { name: 'look_up', description: 'Looks up', endpoint: { url: 'https://tools.example.com/look' } }
  test.each<[Record<string, unknown>, object]>([
    [{}, { trigger: { type: 'manual' }, permissions: [], category: 'productivity' }],
    [{ triggerType: 'api' }, { trigger: { type: 'manual' }, permissions: [] }],
    [
      { triggerType: 'keyword', keywords: ['refund'] },
      { trigger: { type: 'keyword', config: { keywords: ['refund'] } }, permissions: [] },
    ],
    [
      { triggerType: 'event', eventPattern: 'order.*' },
      { trigger: { type: 'event', config: { eventPattern: 'order.*' } }, permissions: ['autonomous:run'] },
    ],
    [
      { triggerType: 'webhook_event', eventPattern: 'order.paid' },
      { trigger: { type: 'event', config: { eventPattern: 'order.paid' } }, category: 'automation' },
    ],
    [{ triggerType: 'hook_event', eventPattern: 'share' }, { trigger: { type: 'event' } }],
    [
      { triggerType: 'schedule', cron: '0 9 * * 1', timezone: 'Europe/Berlin' },
      {
        trigger: { type: 'schedule', config: { cron: '0 9 * * 1', timezone: 'Europe/Berlin' } },
        permissions: ['autonomous:run'],
      },
    ],
  ])('an input %j', (config, manifest) => {
    const drawn = graph([node('in', 'input', config), PROMPT, OUTPUT], ['in>prompt', 'prompt>out'])
    expect(built(drawn).manifest).toMatchObject(manifest)
  })

  test('a tool with an address calls outside, and is marked as such', () => {
    const drawn = graph([INPUT, node('look', 'tool', calling), OUTPUT], ['in>look', 'look>out'])
    expect(built(drawn).manifest).toMatchObject({
      permissions: ['external:http', 'execute:tools'],
      category: 'integration',
    })
  })

  test('compiles to the same every time', () => {
    expect(JSON.stringify(built(withTool()))).toBe(JSON.stringify(built(structuredClone(withTool()))))
  })
})

describe('the steps of a canvas (docs/api.md 10)', () => {
  test('one after the other; prompts and knowledge are none', () => {
    expect(built(withTool()).steps).toEqual([
      {
        type: 'ai_transform',
        name: 'model',
        config: { prompt: 'Answer in one short sentence.\n\n{{trigger.message}}', model: 'svc-1-flash' },
        nodeId: 'model',
      },
      {
        type: 'tool',
        name: 'look',
        config: { name: 'look_up', arguments: {}, tool: { description: 'Looks up a word' } },
        nodeId: 'look',
      },
      { type: 'output', name: 'out', config: { format: 'text' }, nodeId: 'out' },
    ])
  })

  const START = [INPUT, says('p'), model('m'), asks('if')]
  /** These nodes and edges behind a condition. */
  const behind = (nodes: CanvasNode[], ...arrows: string[]) =>
    graph([...START, ...nodes], ['in>p', 'p>m', 'm>if', ...arrows])
  const CROSSED = ['if?true>help', 'if?false>else', 'else?true>help', 'else?false>no']
  const NESTED = ['if?true>again', 'again?true>a', 'again?false>b', 'a>o', 'b>o', 'if?false>no', 'no>o']
  const labelled = { ...model('a'), data: { ...model('a').data, label: 'Ask' } }
  test.each<[what: string, drawn: CanvasGraph, ...steps: string[]]>([
    [
      'two branches that meet',
      behind([model('yes'), model('no'), out('o')], 'if?true>yes', 'if?false>no', 'yes>o', 'no>o'),
      ...['0 m', '1 if →2|3', '2 yes →4', '3 no', '4 o'],
    ],
    [
      'two branches that end apart',
      behind([out('yes'), out('no')], 'if?true>yes', 'if?false>no'),
      ...['0 m', '1 if →2|3', '2 yes →4', '3 no', '4 End'],
    ],
    [
      'a branch that is skipped',
      behind([model('more'), out('o')], 'if?true>more', 'if?false>o', 'more>o'),
      ...['0 m', '1 if →2|3', '2 more', '3 o'],
    ],
    ['a branch that is not drawn', behind([out('o')], 'if?true>o'), '0 m', '1 if →2|3', '2 o', '3 End'],
    [
      'a condition in a branch',
      behind([asks('again'), model('a'), model('b'), model('no'), out('o')], ...NESTED),
      ...['0 m', '1 if →2|5', '2 again →3|4', '3 a →6', '4 b →6', '5 no', '6 o'],
    ],
    [
      'a prompt inside a branch',
      behind([says('kind'), model('yes'), out('o')], 'if?true>kind', 'kind>yes', 'yes>o', 'if?false>o'),
      ...['0 m', '1 if →2|3', '2 yes', '3 o'],
    ],
    [
      'a way round a condition: what it leads to always runs',
      behind([model('always'), out('o')], 'm>always', 'if?true>always', 'always>o'),
      ...['0 m', '1 if →2|2', '2 always', '3 o'],
    ],
    [
      'an answer of one condition and an answer of another that lead to the same',
      behind([asks('else'), out('help'), out('no')], ...CROSSED),
      ...['0 m', '1 if →4|2', '2 else →4|3', '3 no', '4 Branches meet →5|6', '5 help', '6 End'],
    ],
    [
      'several ways at once: one after the other, as they are drawn',
      graph(
        [INPUT, says('p'), model('a'), model('b'), model('c'), out('o')],
        ['in>p', 'p>c', 'p>b', 'p>a', 'a>o', 'b>o', 'c>o'],
      ),
      ...['0 a', '1 b', '2 c', '3 o'],
    ],
    [
      'nodes of one label',
      graph([INPUT, says('p'), labelled, node('b', 'output', {}, 'Ask')], ['in>p', 'p>a', 'a>b']),
      ...['0 Ask', '1 Ask 2'],
    ],
  ])('%s', (_, drawn, ...steps) => {
    expect(notify(built(drawn).steps)).toEqual(steps)
  })

  test('a model is told what stands nearest before it, and what came of the step before', () => {
    const drawn = graph(
      [INPUT, says('first'), model('one'), says('then'), asks('if'), model('two'), OUTPUT],
      ['in>first', 'first>one', 'one>then', 'then>if', 'if?true>two', 'two>out', 'if?false>out'],
    )
    const { steps } = built(drawn)
    expect(steps[0]!.config.prompt).toBe('first.\n\n{{trigger.message}}')
    expect(steps[2]!.config.prompt).toBe('then.\n\n{{steps.0.output.text}}')
  })

  test('a model behind another has its prompts, when there are none of its own', () => {
    const drawn = graph(
      [INPUT, says('only'), model('one'), model('two', { temperature: 0 }), OUTPUT],
      ['in>only', 'only>one', 'one>two', 'two>out'],
    )
    expect(built(drawn).steps[1]!.config).toEqual({
      prompt: 'only.\n\n{{steps.0.output.text}}',
      model: 'svc-1-flash',
      temperature: 0,
    })
  })

  test.each([
    [{ triggerType: 'event', eventPattern: 'a.b' }, 'Do.\n\n{{trigger.payload}}'],
    [{ triggerType: 'schedule', cron: '0 9 * * *' }, 'Do.'],
    [{ triggerType: 'keyword', keywords: ['go'] }, 'Do.\n\n{{trigger.message}}'],
  ])('started by %j the first model is told %j', (config, prompt) => {
    const drawn = graph(
      [node('in', 'input', config), node('p', 'prompt', { content: 'Do.' }), MODEL, OUTPUT],
      ['in>p', 'p>model', 'model>out'],
    )
    expect(built(drawn).steps[0]!.config.prompt).toBe(prompt)
  })

  test('a prompt that says where its values stand is left as it is', () => {
    const content = 'Sum up {{trigger.order.total}}.'
    const drawn = graph([INPUT, node('p', 'prompt', { content }), MODEL, OUTPUT], ['in>p', 'p>model', 'model>out'])
    expect(built(drawn).steps[0]!.config.prompt).toBe(content)
  })

  test.each<[Record<string, unknown>, unknown]>([
    [{ source: 'upload' }, '{{trigger.attachments}}'],
    [{ source: 'url', url: 'https://example.com/a.png' }, [{ type: 'image_url', url: 'https://example.com/a.png' }]],
    [{ source: 'step', step: 'model' }, '{{steps.0.output.artifacts}}'],
  ])('a picture from %j', (config, attachments) => {
    const drawn = graph(
      [...simple().nodes, node('see', 'vision', { instructions: 'What is it?', ...config }), out('o')],
      ['in>prompt', 'prompt>model', 'model>out', 'model>see', 'see>o'],
    )
    expect(built(drawn).steps.find(({ name }) => name === 'see')).toEqual({
      type: 'ai_transform',
      name: 'see',
      config: { prompt: 'What is it?', mode: 'vision', attachments },
      nodeId: 'see',
    })
  })

  test('a tool takes what its schema names from what came before, unless it is given', () => {
    const inputSchema = { type: 'object', properties: { city: { type: 'string' }, 'not-plain': {} } }
    const looks = (id: string, more = {}) =>
      node(id, 'tool', { name: `look_${id}`, description: 'Looks', inputSchema, ...more })
    const drawn = graph(
      [INPUT, looks('a'), looks('b'), looks('c', { arguments: { city: 'Bern' } }), OUTPUT],
      ['in>a', 'a>b', 'b>c', 'c>out'],
    )
    expect(
      built(drawn)
        .steps.slice(0, 3)
        .map(({ config }) => config.arguments),
    ).toEqual([{ city: '{{trigger.city}}' }, { city: '{{steps.0.output.city}}' }, { city: 'Bern' }])
  })
})
