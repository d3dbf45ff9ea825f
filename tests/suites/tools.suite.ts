import { beforeEach, describe, expect, test } from 'bun:test'
import { createAgent } from '../../src/completions'
import type { AgentResult, Task, ToolAccess } from '../../src/completions/agent-schema'
import { countTokens, type EngineService } from '../../src/engines'
import { systemClock } from '../../src/kernel/clock'
import { type Tool, type ToolContext, ToolFailure } from '../../src/tools'
import { actingOf, taskOf } from '../completions/agent/task'
import { eventually } from '../support/eventually'
import type { Upstream } from '../support/upstream'
import { openTools, toolOf, wanted } from '../tools/world'

/** What to say to an engine so that it does what a scenario is about; its answer then holds `FOUND <topic>`. */
export type Lines = {
  once: string
  twice: string
  failing: string
  long: string
  waiting: string
  /** Only where an engine can be made to go wrong: by script, not by its own code. */
  badArguments?: string
  unknown?: string
  endless?: string
}

export type Cast = { engines: EngineService; lines: Lines; upstream?: Upstream }

const TOPIC = { type: 'object', required: ['topic'], properties: { topic: { type: 'string' } } }
const LONG = `FOUND tides ${'and more of it '.repeat(20_000)}`

/** A tool that ends only with its run; `began` tells that it is at it. */
function waiting() {
  const seen: { began: boolean; ended: unknown } = { began: false, ended: null }
  const run = (_: unknown, { signal }: ToolContext) =>
    new Promise((_resolve, reject) => {
      seen.began = true
      signal.addEventListener('abort', () => {
        seen.ended = signal.reason
        reject(signal.reason)
      })
    })
  return { seen, run }
}

function toolsOf(run: Tool['run']): Tool[] {
  const tool = (name: string, description: string, does: Tool['run']) =>
    toolOf({ name, description, inputSchema: TOPIC, timeoutMs: 60_000, run: does })
  return [
    tool('look_up', 'Looks up a topic in the library.', async ({ topic }) => `FOUND ${topic}`),
    tool('borrow_book', 'Borrows a book on a topic.', async () => {
      throw new ToolFailure('The library is closed.')
    }),
    tool('print_chapter', 'Prints a chapter on a topic.', async () => LONG),
    tool('await_delivery', 'Awaits the delivery of a book on a topic.', run),
  ]
}

/** What every engine owes to a run with tools, whichever driver it speaks by (docs/api.md 22.5). */
export function toolsSuite(name: string, { engines, lines, upstream }: Cast): void {
  const clock = systemClock
  const { seen, run } = waiting()
  const tools = openTools({ system: toolsOf(run) })
  const agent = createAgent({ engines, tools, clock })

  const taskFor = (prompt: string, more: Partial<ToolAccess> = {}, signal = new AbortController().signal): Task =>
    taskOf({ prompt, signal, acting: actingOf(tools.assemble(wanted()), more) })

  const shown = async (task: Task): Promise<AgentResult> => {
    let text = ''
    const thought = await agent.answer(task, (step) => {
      if (step.type === 'text') text += step.text
    })
    expect(thought.content).toBe(text)
    return thought
  }

  describe.each([
    ['whole', (task: Task) => agent.answer(task)],
    ['aloud', shown],
  ] as const)(`${name}, %s`, (_, take) => {
    beforeEach(() => {
      upstream?.reset()
      Object.assign(seen, { began: false, ended: null })
    })

    /** The run, and that nothing it sent is something a real server refuses. */
    const think = async (prompt: string, more: Partial<ToolAccess> = {}) => {
      const thought = await take(taskFor(prompt, more))
      expect(upstream?.faults ?? []).toEqual([])
      return thought
    }

    test('calls a tool and answers from what it found', async () => {
      const { content, toolUses, turns, finish } = await think(lines.once)
      expect(toolUses).toMatchObject([{ name: 'look_up', status: 'success', arguments: { topic: 'tides' } }])
      expect(content).toContain('FOUND tides')
      expect({ turns: turns.length, finish }).toEqual({ turns: 2, finish: 'stop' })
    })

    test('calls two at the same time', async () => {
      const { toolUses, turns } = await think(lines.twice)
      expect(toolUses.map(({ arguments: { topic } }) => topic)).toEqual(['tides', 'winds'])
      expect(turns).toHaveLength(2)
    })

    test('reads that a tool failed, and answers all the same', async () => {
      const { toolUses, content } = await think(lines.failing)
      expect(toolUses).toMatchObject([{ name: 'borrow_book', status: 'error' }])
      expect(content).not.toBe('')
    })

    test('reads of a long result as much as there is room for', async () => {
      const { toolUses, content, promptTokens } = await think(lines.long)
      expect(toolUses).toMatchObject([{ name: 'print_chapter', status: 'success', result: { truncated: true } }])
      expect(content).toContain('FOUND tides')
      expect(content.length).toBeLessThan(LONG.length / 4)
      expect(promptTokens).toBeLessThan(LONG.length / 4)
      if (upstream)
        expect(countTokens(JSON.stringify(upstream.calls.at(-1)!.body))).toBeLessThan(engines.window('svc-1-flash'))
    })

    test('adds up what its turns used', async () => {
      const { turns, promptTokens, completionTokens } = await think(lines.once)
      const sum = (of: (turn: (typeof turns)[number]) => number) => turns.reduce((all, turn) => all + of(turn), 0)
      expect(promptTokens).toEqual(sum((turn) => turn.promptTokens))
      expect(completionTokens).toEqual(sum((turn) => turn.completionTokens))
      for (const turn of turns) expect(turn.promptTokens).toBeGreaterThan(0)
    })

    test('ends in the middle of a tool when its caller leaves', async () => {
      const leaving = new AbortController()
      const left = new Error('left')
      const task = taskFor(lines.waiting, {}, leaving.signal)
      const ending = take(task).catch((error: unknown) => error)
      await eventually(() => seen.began)
      leaving.abort(left)
      expect(await ending).toBe(left)
      expect(seen.ended).toBe(left)
      expect(task.acting!.spent.turns).toHaveLength(1)
      if (upstream) expect(upstream.calls).toHaveLength(1)
    })

    const { badArguments, unknown, endless } = lines
    if (badArguments) {
      test('is told of arguments that do not fit, and repairs them', async () => {
        const { toolUses, content } = await think(badArguments)
        expect(toolUses.map(({ status }) => status)).toEqual(['error', 'success'])
        expect(toolUses[0]!.description).toBe('bad arguments')
        expect(content).toContain('FOUND tides')
      })
    }

    if (unknown) {
      test('is told of a tool that is not there', async () => {
        const { toolUses, content } = await think(unknown)
        expect(toolUses).toMatchObject([{ name: 'look_down', status: 'error', description: 'unknown tool' }])
        expect(content).toContain('FOUND tides')
      })
    }

    if (endless) {
      test('is asked for an answer at the limit, with nothing left to call', async () => {
        const { turns, toolUses, warnings, finish } = await think(endless, { maxIterations: 3 })
        expect({ turns: turns.length, uses: toolUses.length, finish }).toEqual({ turns: 4, uses: 3, finish: 'stop' })
        expect(warnings.join()).toContain('max_iterations')
        expect(JSON.stringify(upstream?.calls.at(-1)?.body)).toContain('No more tools can be called.')
      })
    }
  })
}
