import { describe, expect, test } from 'bun:test'
import { withoutFence } from '../../src/kernel/fence'
import { OrgId } from '../../src/kernel/ids'
import { ToolFailure } from '../../src/tools'
import { MAX_AT_ONCE, MAX_CALLS, MAX_RESULT_CHARS, MAX_TEXT_CHARS } from '../../src/tools/run'
import { callOf, keyCaller } from '../support/callers'
import { contextOf, openTools, requestOf, toolOf, wanted } from './world'

const withTool = (input: Parameters<typeof toolOf>[0], approved: string[] = [], room = {}) => {
  const tools = openTools({ system: [toolOf(input)], ...room })
  const toolset = tools.assemble(wanted({ approved }))
  return (args: unknown = {}, context = contextOf()) => tools.run(toolset, requestOf('echo', args), context)
}

describe('sixteen heavy calls at once', () => {
  const wide = (number: number) => {
    const fields = Array.from({ length: 150 }, (_, at) => [`p${number}_${at}`, { type: 'string', minLength: 1 }])
    return { type: 'object', properties: Object.fromEntries(fields) }
  }
  const branches = Array.from({ length: 8 }, () => ({ $ref: '#/$defs/d1' }))
  const level = (at: number) => ({ allOf: Array.from({ length: 8 }, () => ({ $ref: `#/$defs/d${at + 1}` })) })
  const costly = {
    type: 'object',
    allOf: branches,
    $defs: { ...Object.fromEntries([1, 2, 3, 4, 5].map((at) => [`d${at}`, level(at)])), d6: { type: 'object' } },
  }

  test.each([
    ['of schemas nobody has used', (at: number) => wide(at)],
    ['of one schema that takes long to check', () => costly],
  ])('%s let others have their turns between them', async (_, schemaOf) => {
    const names = Array.from({ length: 16 }, (_, at) => `t${at}`)
    const system = names.map((name, at) => toolOf({ name, inputSchema: schemaOf(at) }))
    const tools = openTools({ system })
    const toolset = tools.assemble(wanted())
    let turns = 0
    let over = false
    const count = () => {
      turns++
      if (!over) setImmediate(count)
    }
    setImmediate(count)
    await Promise.all(names.map((name) => tools.run(toolset, requestOf(name), contextOf())))
    over = true
    expect(turns).toBeGreaterThan(12)
  })
})

describe('a call', () => {
  test('that succeeds shows the caller its result and the engine a fenced text', async () => {
    const outcome = await withTool({})({ city: 'Rome' })
    expect(outcome).toMatchObject({ status: 'success', arguments: { city: 'Rome' }, result: { city: 'Rome' } })
    expect(withoutFence(outcome.text)).toBe('{"city":"Rome"}')
  })

  test.each([
    ['not JSON', '{"city":', /not valid JSON/],
    ['a list', '[]', /one JSON object/],
    ['null', 'null', /one JSON object/],
    ['nested without end', '['.repeat(100_000), /nested deeper/],
    ['too long', `"${'x'.repeat(300_000)}"`, /at most/],
    ['of the wrong type', '{"city":1}', /"city" must be string \(type\)/],
    ['without what is required', '{}', /must have "city" \(required\)/],
    ['empty where something is needed', '{"city":""}', /"city" must not be empty\./],
    ['longer than it may be', '{"city":"Amsterdam"}', /"city" must have at most 8 characters\./],
    ['with more than is known', '{"city":"a","b":1}', /must not have "b"/],
  ])('with arguments that are %s is not run and says why', async (_, text, problem) => {
    const inputSchema = {
      type: 'object',
      properties: { city: { type: 'string', minLength: 1, maxLength: 8 } },
      required: ['city'],
      additionalProperties: false,
    }
    const run = async () => {
      throw new Error('was run')
    }
    const outcome = await withTool({ inputSchema, run })(text)
    expect(outcome).toMatchObject({ status: 'error', description: 'bad arguments', result: null })
    expect(outcome.text).toMatch(problem)
  })

  test.each([
    ['', {}],
    ['  ', {}],
    ['```json\n{"a":1}\n```', { a: 1 }],
    ['{"__proto__":{"a":1},"b":2}', { b: 2 }],
  ])('with arguments %j means what it can only mean', async (text, args) => {
    expect((await withTool({})(text)).arguments).toEqual(args)
  })

  test('to a tool that is not there names those that are', async () => {
    const tools = openTools({ system: [toolOf()] })
    const outcome = await tools.run(tools.assemble(wanted()), requestOf('__proto__'), contextOf())
    expect(outcome.status).toBe('error')
    expect(outcome.text).toBe('Error: There is no tool named __proto__. There are echo.')
  })

  test('that fails tells the engine in the words of the tool', async () => {
    expect(await withTool({ run: async () => Promise.reject(new ToolFailure('Nothing is there.')) })()).toMatchObject({
      status: 'error',
      description: 'Nothing is there.',
      text: 'Error: Nothing is there.',
    })
  })

  test('that breaks by our fault says so without a word of what broke', async () => {
    const faults: unknown[] = []
    const run = async () => Promise.reject(new Error('secret of the house'))
    const outcome = await withTool({ run }, [], { onFault: (_: string, error: unknown) => faults.push(error) })()
    expect(outcome.text).not.toContain('secret')
    expect(faults).toHaveLength(1)
  })

  test('that takes too long ends, and the tool is told', async () => {
    let notice = false
    const run = (_: object, { signal }: { signal: AbortSignal }) => {
      signal.addEventListener('abort', () => {
        notice = true
      })
      return new Promise(() => {})
    }
    expect((await withTool({ run, timeoutMs: 20 })()).text).toBe('Error: echo gave no answer within 0.02 seconds.')
    expect(notice).toBe(true)
  })

  test('ends with the run, by rejecting with its reason', async () => {
    const ending = new AbortController()
    const run = withTool({ run: () => new Promise(() => {}) })({}, contextOf({ signal: ending.signal }))
    ending.abort(new Error('gone'))
    await expect(run).rejects.toThrow('gone')
    await expect(withTool({})({}, contextOf({ signal: AbortSignal.abort(new Error('gone')) }))).rejects.toThrow('gone')
  })

  test('with a long result is cut for the engine and for the caller, and says by how much', async () => {
    const outcome = await withTool({ run: async () => 'x'.repeat(200_000) })()
    expect(outcome.text.length).toBeLessThan(MAX_TEXT_CHARS + 300)
    expect(outcome.text).toContain('[cut here: 176001 more characters]')
    expect(outcome.result).toMatchObject({ truncated: true, total_chars: 200_002 })
    expect(JSON.stringify(outcome.result).length).toBeLessThan(MAX_RESULT_CHARS + 200)
  })
})

describe('who may', () => {
  const org = OrgId.create()
  const inOrg = contextOf({ call: callOf(keyCaller({ orgId: org, activeOrgId: org })) })
  const levels = ['user', 'org_member', 'org_admin', 'system'] as const
  const cells = ([null, 'viewer', 'member', 'admin', 'owner'] as const).flatMap((role, rank) =>
    levels.map((level, wanted) => ({ role, level, may: level !== 'system' && rank >= [0, 2, 3, 9][wanted]! })),
  )
  test.each(cells)('role $role, level $level: allowed is $may', async ({ role, level, may }) => {
    const tools = openTools({ system: [], roleOf: async () => role })
    const toolset = {
      tools: new Map([['echo', toolOf({ permissionLevel: level })]]),
      definitions: [],
      approved: new Set<string>(),
    }
    const outcome = await tools.run(toolset, requestOf('echo'), inOrg)
    expect(outcome.status).toBe(may ? 'success' : 'error')
    if (!may) expect(outcome.description).toBe('not permitted')
  })

  test('a key without the scope of a tool is neither offered it nor obeyed (L11)', async () => {
    const call = callOf(keyCaller({ scopes: ['completions'] }))
    const tool = toolOf({ scope: 'connectors' })
    const tools = openTools({ system: [tool] })
    expect(tools.assemble(wanted({ call })).definitions).toEqual([])
    const forced = { tools: new Map([['echo', tool]]), definitions: [], approved: new Set<string>() }
    const outcome = await tools.run(forced, requestOf('echo'), contextOf({ call }))
    expect(outcome).toMatchObject({ status: 'error', description: 'not permitted' })
  })

  test('a tool that needs approval runs only when it was approved before', async () => {
    const outcome = await withTool({ requiresApproval: true })()
    expect(outcome).toMatchObject({ status: 'error', description: 'approval required', result: null })
    expect((await withTool({ requiresApproval: true }, ['other'])()).status).toBe('error')
    expect((await withTool({ requiresApproval: true }, ['echo'])()).status).toBe('success')
  })

  test('a tool that cannot work here says why', async () => {
    const tools = openTools()
    const tool = toolOf({ unavailable: () => 'No search server is configured.' })
    const toolset = { tools: new Map([['echo', tool]]), definitions: [], approved: new Set<string>() }
    expect((await tools.run(toolset, requestOf('echo'), contextOf())).text).toBe(
      'Error: No search server is configured.',
    )
  })
})

test(`a storm of calls ends after ${MAX_CALLS}, with no more than ${MAX_AT_ONCE} at work`, async () => {
  let working = 0
  let max = 0
  const run = async () => {
    max = Math.max(max, ++working)
    await new Promise((go) => setImmediate(go))
    working--
    return 1
  }
  const tools = openTools({ system: [toolOf({ run })] })
  const toolset = tools.assemble(wanted())
  const calls = Array.from({ length: 500 }, () => tools.run(toolset, requestOf('echo'), contextOf()))
  expect((await Promise.all(calls)).filter(({ status }) => status === 'success')).toHaveLength(MAX_CALLS)
  expect(max).toBe(MAX_AT_ONCE)
})
