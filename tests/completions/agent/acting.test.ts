import { describe, expect, test } from 'bun:test'
import { createAgent } from '../../../src/completions'
import type { AgentResult, Task, ToolAccess } from '../../../src/completions/agent-schema'
import type { EngineService, RunRequest, ToolCall } from '../../../src/engines'
import type { TakePart } from '../../../src/engines/meter'
import type { Tools } from '../../../src/tools'
import type { RequestedCall, ToolOutcome } from '../../../src/tools/schema'
import { fakeClock } from '../../support/clock'
import { actingOf, taskOf, watch } from './task'

const SIGNAL = new AbortController().signal

type Line = { text?: string; calls?: [name: string, args?: string][] }

/** Engines that speak these lines in turn, the last one for ever, and tools that echo what they are given. */
function stage(lines: Line[], tool: (request: RequestedCall) => Promise<Partial<ToolOutcome>> = async () => ({})) {
  const clock = fakeClock()
  const requests: RunRequest[] = []
  const ran: RequestedCall[] = []
  const next = (request: RunRequest) => {
    const line = lines[Math.min(requests.length, lines.length - 1)]!
    requests.push(request)
    const toolCalls: ToolCall[] = (line.calls ?? []).map(([name, args = '{}']) => ({
      id: 'same',
      name,
      arguments: args,
    }))
    const usage = { promptTokens: 10, completionTokens: 5, stated: true }
    const finish = toolCalls.length ? ('tool-calls' as const) : ('stop' as const)
    return {
      text: line.text ?? '',
      reasoning: '',
      refusal: '',
      toolCalls,
      finish,
      usage,
      engineId: 'svc-1-reason',
      free: false,
      fallbackUsed: false,
    }
  }
  const engines = {
    countPrompt: () => 100,
    window: () => 100_000,
    answer: async (_: string, request: RunRequest) => next(request),
    run: async (_: string, request: RunRequest, take: TakePart) => {
      const { text, toolCalls, finish, usage, ...source } = next(request)
      for (const word of text.match(/\s*\S+/g) ?? []) await take({ type: 'text', text: word })
      for (const call of toolCalls) await take({ type: 'tool-call', ...call })
      await take({ type: 'usage', ...usage })
      await take({ type: 'finish', reason: finish })
      return source
    },
  } as unknown as EngineService
  const tools = {
    run: async (_: unknown, call: RequestedCall) => {
      ran.push(call)
      const args: unknown = call.arguments === '{"q":"a"}' ? { q: 'a' } : {}
      const outcome = { status: 'success', description: 'done', arguments: args, result: 1 }
      return { ...outcome, text: `result of ${call.name}`, ...(await tool(call)) }
    },
  } as unknown as Tools
  return { agent: createAgent({ engines, tools, clock }), asked: requests, ran }
}

const definitions = [{ name: 'find', description: 'Finds.', parameters: { type: 'object' } }]

const task = (more: Partial<ToolAccess> = {}, input: Partial<Task> = {}): Task =>
  taskOf({
    engineId: 'svc-1-reason',
    mode: 'think',
    system: null,
    maxOutputTokens: 500,
    signal: SIGNAL,
    acting: actingOf({ tools: new Map(), definitions, approved: new Set() }, more),
    ...input,
  })

const FIND: Line = { text: 'Looking.', calls: [['find', '{"q":"a"}']] }
const ANSWER: Line = { text: 'Found it.' }

describe('think, act, observe', () => {
  test('a turn without calls is the full result', async () => {
    const { agent, asked: requests } = stage([ANSWER])
    const result = await agent.answer(task())
    expect(requests).toHaveLength(1)
    expect(requests[0]!.tools).toEqual(definitions)
    expect(result).toMatchObject({ content: 'Found it.', finish: 'stop', toolUses: [], warnings: [] })
  })

  test('what a tool found is read by the next turn, and everything is added up', async () => {
    const { agent, asked: requests } = stage([FIND, ANSWER])
    const agentResult = await agent.answer(task())
    const [, call, result] = requests[1]!.messages as [unknown, { toolCalls: ToolCall[] }, unknown]
    expect(call).toMatchObject({ role: 'assistant', content: 'Looking.', toolCalls: [{ name: 'find' }] })
    expect(result).toEqual({
      role: 'tool',
      toolCallId: call.toolCalls[0]!.id,
      toolName: 'find',
      content: 'result of find',
    })
    expect(agentResult).toMatchObject({ content: 'Looking.\n\nFound it.', promptTokens: 20, completionTokens: 10 })
    expect(agentResult.turns).toHaveLength(2)
    expect(agentResult.toolUses).toMatchObject([{ name: 'find', status: 'success', arguments: { q: 'a' }, result: 1 }])
  })

  test('aloud it says the same, and tells of each call when it begins and when it ends', async () => {
    const lines: Line[] = [FIND, { calls: [['find']] }, ANSWER]
    const whole = await stage(lines).agent.answer(task())
    const { seen, agentResult: result } = await watch((emit) => stage(lines).agent.answer(task(), emit))
    expect({ ...result, ttftMs: null, toolUses: [] } as AgentResult).toEqual({ ...whole, toolUses: [] })
    expect(seen.map((step) => (step.type === 'text' ? step.text : '')).join('')).toBe(whole.content)
    expect(seen.map(({ type }): string => type).filter((type) => type !== 'text')).toEqual([
      'tool-began',
      'tool-ended',
      'thinking',
      'tool-began',
      'tool-ended',
      'thinking',
    ])
  })

  test('ids are of our own making, one for each call, whatever the engine sends', async () => {
    const { agent, asked: requests } = stage([{ calls: [['find'], ['find']] }, ANSWER])
    const ids = (await agent.answer(task())).toolUses.map(({ id }) => id)
    expect(new Set(ids).size).toBe(2)
    for (const id of ids) expect(id).toMatch(/^call_[0-9A-Za-z]{24}$/)
    expect(JSON.stringify(requests[1]!.messages)).not.toContain('same')
  })

  test('calls of one turn run concurrently, and are reported in the order of the requests', async () => {
    const both = Promise.withResolvers<void>()
    let begun = 0
    const { agent, asked: requests } = stage([{ calls: [['slow'], ['fast']] }, ANSWER], async ({ name }) => {
      if (++begun === 2) both.resolve()
      await both.promise
      if (name === 'slow') await new Promise((resolve) => setImmediate(resolve))
      return {}
    })
    expect((await agent.answer(task())).toolUses.map(({ name }) => name)).toEqual(['slow', 'fast'])
    expect(requests[1]!.messages.slice(-2)).toMatchObject([{ toolName: 'slow' }, { toolName: 'fast' }])
  })

  test('arguments nested without end, or no object, are shown to a watcher as none', async () => {
    const deep = `{"a":${'['.repeat(60_000)}${']'.repeat(60_000)}}`
    const calls: [string, string][] = [deep, '[1]', '{"a":', '{"__proto__":{"b":1}}'].map((args) => ['find', args])
    const { agent } = stage([{ calls }, ANSWER], async () => ({ arguments: null }))
    const { seen } = await watch((emit) => agent.answer(task(), emit))
    const began = seen.flatMap((step) => (step.type === 'tool-began' ? [step.arguments] : []))
    expect(began).toEqual([{}, {}, {}, {}])
    expect(began.every((args) => JSON.stringify(args) === '{}')).toBe(true)
  })

  test('a tool that fails is read like any other', async () => {
    const { agent, asked: requests } = stage([FIND, ANSWER], async () => ({
      status: 'error',
      description: 'failed',
      text: 'Error: no',
    }))
    const result = await agent.answer(task())
    expect(requests[1]!.messages.at(-1)).toMatchObject({ role: 'tool', content: 'Error: no' })
    expect(result.toolUses).toMatchObject([{ status: 'error', description: 'failed' }])
    expect(result.content).toEndWith('Found it.')
  })
})

describe('limits', () => {
  test.each([1, 3, 20])(
    'at %i turns with calls one answer is asked for, without tools to call',
    async (maxIterations) => {
      const { agent, asked: requests } = stage([...Array<Line>(maxIterations).fill(FIND), ANSWER])
      const result = await agent.answer(task({ maxIterations }))
      expect(requests).toHaveLength(maxIterations + 1)
      expect(requests.at(-1)).toMatchObject({ toolChoice: 'none', tools: definitions })
      expect(requests.at(-1)!.messages.at(-1)).toMatchObject({
        role: 'tool',
        content: expect.stringMatching(/^result of find\n\nNo more tools/),
      })
      expect(requests.slice(0, -1).some(({ toolChoice }) => toolChoice === 'none')).toBe(false)
      expect(result.content).toEndWith('Found it.')
      expect(result.warnings.join()).toContain('max_iterations')
    },
  )

  test('an engine that calls tools even then is not listened to', async () => {
    const { agent, ran } = stage([FIND])
    const result = await agent.answer(task({ maxIterations: 2 }))
    expect(ran).toHaveLength(2)
    expect(result).toMatchObject({ finish: 'stop', content: 'Looking.\n\nLooking.\n\nLooking.' })
  })

  test('an engine that never answers is named in a warning', async () => {
    const { content, warnings } = await stage([{ calls: [['find']] }]).agent.answer(task({ maxIterations: 1 }))
    expect(content).toBe('')
    expect(warnings.join()).toContain('returned no text')
  })

  test('a storm of calls is cut at sixteen a turn, and ends once there were a hundred', async () => {
    const storm: Line = { calls: Array.from({ length: 500 }, () => ['find'] as [string]) }
    const { agent, ran, asked: requests } = stage([storm])
    const result = await agent.answer(task({ maxIterations: 20 }))
    expect(ran.length).toBe(100)
    expect(result.warnings.join()).toContain('100 calls')
    expect(requests[1]!.messages.filter(({ role }) => role === 'tool')).toHaveLength(16)
  })

  test('credit for part of a turn buys one answer of that length', async () => {
    const { agent, asked: requests } = stage([FIND, ANSWER])
    const result = await agent.answer(task({ afford: async () => 60 }))
    expect(requests.at(-1)).toMatchObject({ toolChoice: 'none', maxOutputTokens: 60 })
    expect(result.warnings.join()).toContain('credit')
  })

  test('without credit what was said is the answer', async () => {
    const { agent, asked: requests } = stage([FIND, ANSWER])
    const result = await agent.answer(task({ afford: async () => 0 }))
    expect(requests).toHaveLength(1)
    expect(result).toMatchObject({ content: 'Looking.', finish: 'length' })
  })

  test('without credit and without a word said it is refused', async () => {
    const { agent } = stage([{ calls: [['find']] }, ANSWER])
    await expect(agent.answer(task({ afford: async () => 0 }))).rejects.toThrow('unpaid')
  })

  test('who leaves in the middle of a tool is not kept, and what was spent is known', async () => {
    const leaving = new AbortController()
    const left = new Error('left')
    const { agent } = stage([FIND, ANSWER], async () => {
      leaving.abort(left)
      return {}
    })
    const about = task({}, { signal: leaving.signal })
    await expect(agent.answer(about)).rejects.toBe(left)
    expect(about.acting!.spent.turns).toEqual([
      { engineId: 'svc-1-reason', free: false, promptTokens: 10, completionTokens: 5 },
    ])
  })
})

describe('functions of the client', () => {
  test('a call of one ends the thought, with an id of ours, and nothing is run', async () => {
    const { agent, asked: requests, ran } = stage([FIND])
    const offered = { tools: definitions, choice: 'required' as const, oneCallATurn: false }
    const result = await agent.answer(task({}, { acting: null, offered }))
    expect(requests[0]).toMatchObject({ tools: definitions, toolChoice: 'required' })
    expect(result).toMatchObject({ finish: 'tool-calls', toolCalls: [{ name: 'find', arguments: '{"q":"a"}' }] })
    expect(result.toolCalls[0]!.id).toMatch(/^call_/)
    expect(ran).toEqual([])
  })

  test('what the client found follows the question', async () => {
    const { agent, asked: requests } = stage([ANSWER])
    const after = [
      { role: 'assistant' as const, content: '', toolCalls: [{ id: 'c1', name: 'find', arguments: '{}' }] },
      { role: 'tool' as const, toolCallId: 'c1', toolName: 'find', content: '42' },
    ]
    await agent.answer(task({}, { acting: null, after }))
    expect(requests[0]!.messages).toEqual([{ role: 'user', content: 'go' }, ...after])
  })
})
