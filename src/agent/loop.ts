import type { EngineService, Message, RunRequest, ToolCall } from '../engines'
import type { Clock } from '../kernel/clock'
import type { Tools } from '../tools'
import { fitResults } from './fit'
import { observe } from './observe'
import { openingMessages, sayLast, toRequest } from './request'
import type { Acting, Step, Task, Thought } from './schema'
import { createTally } from './tally'
import { type Turn, thoughtOf, turnAloud, turnWhole, withOwnIds } from './turn'

type Deps = { engines: EngineService; tools: Tools; clock: Clock }

export type Agent = ReturnType<typeof createAgent>

/** Runs one engine call: as a stream, or whole when nobody watches. */
type Take = (request: RunRequest) => AsyncGenerator<Step, Turn>

/** Tool calls beyond these limits are neither run nor kept in the messages. */
const MAX_CALLS_A_TURN = 16
const MAX_CALLS_A_RUN = 100
/** With fewer tokens left than this, the engine is not called for another turn. */
const MIN_ANSWER_TOKENS = 32
/** Largest share of an engine's window that is reserved for the answer. */
const ANSWER_SHARE = 0.25
const OUT_OF_TURNS = 'Tool use stopped at "max_iterations"; the answer uses the results so far.'
const OUT_OF_CREDIT = 'Tool use stopped because the credit does not cover another engine call.'
/** Said to the engine, not to the caller. */
const SYNTHESISE = 'No more tools can be called. Answer now, as well as you can, from what you have.'

/** Think, act, observe (contract 22.5). Without tools it is one engine call. */
export function createAgent(deps: Deps) {
  const { engines, clock } = deps

  return {
    /** The thought in one piece; cheaper than a stream that nobody watches. Throws what engines throw, and 402. */
    async answer(task: Task): Promise<Thought> {
      if (!task.acting) return thoughtOf(await turnWhole(deps, task.engineId, plainRequest(task)), task)
      // biome-ignore lint/correctness/useYield: a turn that is taken whole has no steps
      const take: Take = async function* (request) {
        return await turnWhole(deps, task.engineId, request)
      }
      const steps = act(task, task.acting, take)
      let step = await steps.next()
      while (!step.done) step = await steps.next()
      return step.value
    },

    /** The same step by step; the generator's return value is the thought. */
    async *stream(task: Task): AsyncGenerator<Step, Thought> {
      const take: Take = (request) => turnAloud(deps, task.engineId, request)
      if (task.acting) return yield* act(task, task.acting, take)
      return thoughtOf(yield* take(plainRequest(task)), task)
    },
  }

  async function* act(task: Task, acting: Acting, take: Take): AsyncGenerator<Step, Thought> {
    const startedAt = clock.monotonic()
    const messages = openingMessages(task)
    const tally = createTally(acting.spent)
    let stopped: Stop | null = null
    for (let iteration = 1; !stopped; iteration++) {
      stopped = await whyStop(task, acting, messages, iteration)
      if (stopped?.tokens === 0) return tally.cutShort(stopped.why, acting.unpaid)
      if (stopped) sayLast(messages, SYNTHESISE)
      const turn = yield* tally.aloud(take(turnRequest(task, acting, messages, stopped)))
      const calls = stopped ? [] : withOwnIds(turn.toolCalls.slice(0, callsLeft(acting)), task.mode)
      if (!calls.length) return tally.end(turn, stopped?.why)
      tally.add(turn)
      messages.push({ role: 'assistant', content: turn.text, toolCalls: calls })
      const seen = yield* observe(deps, acting, task.signal, calls)
      messages.push(...seen.map((text, place) => toolMessage(calls[place]!, text)))
      fitResults(messages, roomFor(task), (all) => engines.countPrompt(all, acting.toolset.definitions))
      task.signal.throwIfAborted()
      yield { type: 'thinking', iteration: iteration + 1, elapsedMs: Math.round(clock.monotonic() - startedAt) }
    }
    throw new Error('a synthesis ends the loop')
  }

  /** Most tokens of a prompt that leave room for an answer in the window. */
  function roomFor({ engineId, maxOutputTokens }: Task): number {
    const window = engines.window(engineId)
    return window - Math.min(maxOutputTokens, window * ANSWER_SHARE)
  }

  /** Null when the next turn may call tools. The first turn always may: its money is already held. */
  async function whyStop(task: Task, acting: Acting, messages: Message[], iteration: number): Promise<Stop | null> {
    if (iteration === 1) return null
    const promptTokens = engines.countPrompt(messages, acting.toolset.definitions)
    const wanted = { promptTokens, completionTokens: task.maxOutputTokens }
    const tokens = await acting.afford(wanted)
    if (tokens < MIN_ANSWER_TOKENS) return { why: OUT_OF_CREDIT, tokens: 0 }
    if (tokens < wanted.completionTokens) return { why: OUT_OF_CREDIT, tokens }
    if (callsLeft(acting) === 0) return { why: outOfCalls(acting), tokens }
    return iteration > acting.maxIterations ? { why: OUT_OF_TURNS, tokens } : null
  }
}

const callsLeft = ({ maxCalls = MAX_CALLS_A_RUN, spent }: Acting): number =>
  Math.max(0, Math.min(MAX_CALLS_A_TURN, maxCalls - spent.uses.length))

const outOfCalls = ({ maxCalls = MAX_CALLS_A_RUN }: Acting): string =>
  `Tool use stopped after ${maxCalls} calls; the answer uses the results so far.`

/** Why no more tools are called, and the tokens left for the answer; with 0, the text so far is the answer. */
type Stop = { why: string; tokens: number }

const plainRequest = (task: Task): RunRequest => toRequest(task, openingMessages(task))

/** The last turn names the tools as well: some upstreams refuse a history with calls of tools they were not given. */
const turnRequest = (task: Task, { toolset }: Acting, messages: Message[], stopped: Stop | null): RunRequest => ({
  ...toRequest(task, [...messages]),
  tools: toolset.definitions,
  ...(stopped ? { toolChoice: 'none', maxOutputTokens: stopped.tokens } : {}),
})

const toolMessage = ({ id, name }: ToolCall, content: string): Message => ({
  role: 'tool',
  toolCallId: id,
  toolName: name,
  content,
})
