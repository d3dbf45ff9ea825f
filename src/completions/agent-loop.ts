import {
  addDetails,
  type EngineService,
  type Message,
  type RunRequest,
  type TokenDetails,
  type TokenLogprob,
  type ToolCall,
} from '../engines'
import type { Clock } from '../kernel/clock'
import { beginningOf, shorten } from '../kernel/text'
import type { Trace } from '../kernel/trace'
import { centralSentences, sentencesOf } from '../text'
import type { Tools } from '../tools'
import { observe } from './agent-observe'
import {
  type AgentResult,
  type Emit,
  type OfferedTools,
  type Spent,
  type SpokenTurn,
  type Task,
  type ToolAccess,
  TURN_GAP,
} from './agent-schema'
import {
  answerOnce,
  assertPassable,
  correctionsOf,
  demands,
  isBroken,
  NOT_CALLED,
  openingMessages,
  type Turn,
  takeTurn,
  toRequest,
  wantedBy,
} from './agent-turn'

/** Maximum share of the room for the summary of older turns. */
const SUMMARY_SHARE = 0.2

const MAX_SUMMARY_CHARS = 4_000

const MAX_SENTENCES = 12

const MAX_READ_CHARS = 40_000

type Count = (messages: readonly Message[]) => number

/** Turns to send in full, and the summary of the older turns for the system prompt. */
type Fitted = { turns: readonly Message[]; summary: string | null }

const HEADING = 'The conversation is longer than what follows. Sentences of its earlier part, quoted:'

const SPEAKER: Record<Message['role'], string> = { user: 'User', assistant: 'You', system: 'Note', tool: 'Tool' }

const SILENT = 'The engine returned no text; "tools_used" has the results of its tools.'

/** Results are not cut below this length. */
const MIN_CHARS = 400

type Deps = { engines: EngineService; tools: Tools; clock: Clock; trace?: Trace }

export type Agent = ReturnType<typeof createAgent>

/** Tool calls beyond these limits are neither run nor kept in the messages. */
const MAX_CALLS_A_TURN = 16
const MAX_CALLS_A_RUN = 100
/** With fewer tokens left than this, the engine is not called for another turn. */
const MIN_ANSWER_TOKENS = 32
/** Largest share of an engine's window that is reserved for the answer. */
const ANSWER_SHARE = 0.25
const OUT_OF_TURNS = 'Tool use stopped at "max_iterations"; the answer uses the results so far.'
const OUT_OF_CREDIT = 'Tool use stopped because the credit does not cover another engine call.'
/** Instruction for the engine. The caller does not see it. */
const SYNTHESISE = 'No more tools can be called. Answer now, as well as you can, from what you have.'

/** The loop of think, act and observe (docs/api.md 22.5). Without tools it makes one engine call. */
export function createAgent(deps: Deps) {
  const { engines, clock } = deps

  return {
    /** Runs one tool call outside of a run, as the caller's guardrail policy allows. */
    async callTool(
      { call, toolset, guard, conversationId }: Pick<ToolAccess, 'call' | 'toolset' | 'guard' | 'conversationId'>,
      request: Omit<ToolCall, 'id'>,
      signal: AbortSignal,
    ): Promise<{ status: 'success' | 'error'; result: unknown; error: string | null }> {
      const spent: Spent = { turns: [], toolUses: [], textLength: 0 }
      const [text = ''] = await observe(
        deps,
        { call, toolset, guard, conversationId, spent },
        signal,
        [{ ...request, id: 'call_0' }],
        null,
      )
      const { status, result } = spent.toolUses[0]!
      return {
        status: status === 'success' ? status : 'error',
        result,
        error: status !== 'success' ? text.replace(/^Error: /, '') : null,
      }
    },

    /**
     * Answers a task. With `emit` the engine streams, and every step is emitted as it arrives. An error thrown by
     * `emit` ends the run and is rethrown. Without `emit` each turn is one exchange, which is cheaper. Throws what
     * engines throw, and 402.
     */
    answer(task: Task, emit: Emit | null = null): Promise<AgentResult> {
      return task.acting ? act(task, task.acting, emit) : answerOnce(deps, task, emit)
    },
  }

  async function act(task: Task, acting: ToolAccess, emit: Emit | null): Promise<AgentResult> {
    const startedAt = clock.monotonic()
    const messages = openingMessages(task)
    const tally = createTally(acting.spent)
    let stopped: Stop | null = null
    for (let iteration = 1; !stopped; iteration++) {
      stopped = await whyStop(task, acting, messages, iteration)
      if (stopped?.tokens === 0) return tally.cutShort(stopped.why, acting.unpaid)
      if (stopped) {
        // Appended to the last tool result instead of a message of its own, because engines differ in which role they
        // accept after a tool result.
        const last = messages.at(-1)
        if (last?.role === 'tool')
          messages[messages.length - 1] = { ...last, content: `${last.content}\n\n${SYNTHESISE}` }
      }
      const offered = offeredNow(task, acting, iteration)
      // The last turn lists the tools too: some upstreams reject a history with calls of tools that are not listed.
      const request: RunRequest = {
        ...toRequest({ ...task, offered: task.offered && offered }, [...messages]),
        ...(offered.choice === 'auto' ? {} : { toolChoice: offered.choice }),
        tools: offered.tools,
        ...(stopped ? { toolChoice: 'none', maxOutputTokens: stopped.tokens } : {}),
      }
      const turn = await takeTurn(deps, task.engineId, request, emit && tally.following(emit), task.offered && offered)
      const wanted = stopped ? [] : task.offered ? wantedBy(offered, turn.toolCalls) : turn.toolCalls
      const theirs = wanted.filter(({ name }) => task.offered?.tools.some((tool) => tool.name === name))
      if (theirs.length && isBroken({ ...turn, toolCalls: theirs }, offered)) {
        if (emit || stopped) assertPassable({ ...turn, toolCalls: theirs }, offered, task.mode)
        tally.add(turn)
        messages.push(...correctionsOf(turn, offered))
        continue
      }
      // The engine repeats its other calls once the client has answered.
      if (theirs.length) return tally.handOver(turn, theirs)
      const calls = wanted.slice(0, callsLeft(acting))
      if (!calls.length) return tally.end(turn, stopped?.why ?? (demands(offered) ? NOT_CALLED : undefined))
      tally.add(turn)
      const { text, reasoning } = turn
      messages.push({ role: 'assistant', content: text, toolCalls: [...calls], ...(reasoning ? { reasoning } : {}) })
      const seen = await observe(deps, acting, task.signal, calls, emit)
      for (const [place, content] of seen.entries()) {
        const { id, name } = calls[place]!
        messages.push({ role: 'tool', toolCallId: id, toolName: name, content })
      }
      // Maximum tokens of a prompt that leave room for an answer in the window.
      const window = engines.window(task.engineId)
      fitResults(messages, window - Math.min(task.maxOutputTokens, window * ANSWER_SHARE), (all) =>
        engines.countPrompt(all, acting.toolset.definitions),
      )
      task.signal.throwIfAborted()
      if (emit)
        await emit({ type: 'thinking', iteration: iteration + 1, elapsedMs: Math.round(clock.monotonic() - startedAt) })
    }
    throw new Error('a synthesis ends the loop')
  }

  /** Null when the next turn may call tools. The first turn always may, because its money is already held. */
  async function whyStop(task: Task, acting: ToolAccess, messages: Message[], iteration: number): Promise<Stop | null> {
    if (iteration === 1) return null
    const promptTokens = engines.countPrompt(messages, acting.toolset.definitions)
    const wanted = { promptTokens, completionTokens: task.maxOutputTokens }
    const tokens = await acting.afford(wanted)
    if (tokens < MIN_ANSWER_TOKENS) return { why: OUT_OF_CREDIT, tokens: 0 }
    if (tokens < wanted.completionTokens) return { why: OUT_OF_CREDIT, tokens }
    if (callsLeft(acting) === 0) {
      const { maxCalls = MAX_CALLS_A_RUN } = acting
      return { why: `Tool use stopped after ${maxCalls} calls; the answer uses the results so far.`, tokens }
    }
    return iteration > acting.maxIterations ? { why: OUT_OF_TURNS, tokens } : null
  }
}

const callsLeft = ({ maxCalls = MAX_CALLS_A_RUN, spent }: ToolAccess): number =>
  Math.max(0, Math.min(MAX_CALLS_A_TURN, maxCalls - spent.toolUses.length))

/** Why no more tools are called, and the tokens left for the answer. With 0 tokens, the text so far is the answer. */
type Stop = { why: string; tokens: number }

/** The tools of a turn, including the client's own. The client's choice can require a call in the first turn only. */
function offeredNow({ offered }: Task, { toolset, first }: ToolAccess, iteration: number): OfferedTools {
  const begins = iteration === 1 ? first : undefined
  if (!offered) return { tools: toolset.definitions, choice: begins ?? 'auto', oneCallATurn: false }
  const choice = iteration > 1 && demands(offered) ? 'auto' : (begins ?? offered.choice)
  return { ...offered, choice, tools: [...toolset.definitions, ...offered.tools] }
}

/**
 * Cuts tool results, the longest first, until all messages together have at most `room` tokens or no result is longer
 * than `MIN_CHARS`. Keeps both ends of a result, because its last lines close the fence around it.
 */
export function fitResults(messages: Message[], room: number, count: (messages: readonly Message[]) => number): void {
  let max = Math.max(0, ...messages.map((message) => (message.role === 'tool' ? message.content.length : 0)))
  while (max > MIN_CHARS && count(messages) > room) {
    max = Math.max(MIN_CHARS, Math.floor(max / 2))
    for (const [place, message] of messages.entries()) {
      if (message.role !== 'tool' || message.content.length <= max) continue
      const tail = message.content.slice(-Math.floor(max / 4)).replace(/^[\udc00-\udfff]/, '')
      const content = `${shorten(message.content, Math.floor(max / 2))}\n[cut here to make room]\n${tail}`
      messages[place] = { ...message, content }
    }
  }
}

/** Adds up the turns of one run: text, tokens and how it ended. */
function createTally(spent: Spent) {
  let content = ''
  let reasoning = ''
  let fallbackUsed = false
  let ttftMs: number | null = null
  let last: Turn | null = null
  const spoken: SpokenTurn[] = []
  const logprobs: TokenLogprob[] = []

  function add(turn: Turn): void {
    const { engineId, free, promptTokens, completionTokens } = turn
    spent.turns.push(addDetails({ engineId, free, promptTokens, completionTokens }, turn))
    const text = turn.text || turn.refusal
    spoken.push({ uses: spent.toolUses.length, reasoning: turn.reasoning, text })
    content += content && text ? TURN_GAP + text : text
    reasoning += reasoning && turn.reasoning ? TURN_GAP + turn.reasoning : turn.reasoning
    logprobs.push(...(turn.logprobs ?? []))
    spent.textLength = content.length
    fallbackUsed ||= turn.fallbackUsed
    ttftMs ??= turn.ttftMs
    last = turn
  }

  /** Emits the steps of the next turn. Emits a `TURN_GAP` first if earlier turns had text. */
  function following(emit: Emit): Emit {
    let due = content !== ''
    return (step) => {
      if (!due || step.type !== 'text') return emit(step)
      due = false
      const behind = emit({ type: 'text', text: TURN_GAP })
      return behind ? behind.then(() => emit(step)) : emit(step)
    }
  }

  /** Ends the run with the turn that answers. */
  function end(turn: Turn, why?: string): AgentResult {
    add(turn)
    const finish = turn.finish === 'tool-calls' ? 'stop' : turn.finish
    return runUncached(turn, finish, why)
  }

  /** Ends the run with calls that the client makes itself. */
  function handOver(turn: Turn, toolCalls: AgentResult['toolCalls']): AgentResult {
    add(turn)
    return { ...runUncached(turn, 'tool-calls'), toolCalls, warnings: [] }
  }

  /** Ends without another turn: the text so far is the answer. Without any text, throws `refusal`. */
  function cutShort(why: string, refusal: () => Error): AgentResult {
    if (!content || !last) throw refusal()
    return runUncached(last, 'length', why)
  }

  function runUncached(
    { engineId, refusal, stoppedBy, fingerprint }: Turn,
    finish: AgentResult['finish'],
    why?: string,
  ): AgentResult {
    const sum = (count: (turn: Spent['turns'][number]) => number) =>
      spent.turns.reduce((all, turn) => all + count(turn), 0)
    // The warning for an answer without text. An engine may end with a call that is not run.
    return {
      content,
      reasoning,
      refusal,
      finish,
      stoppedBy,
      fingerprint,
      ...(logprobs.length ? { logprobs } : {}),
      engineId,
      fallbackUsed,
      ttftMs,
      toolCalls: [],
      turns: spent.turns,
      ...(spent.toolUses.length ? { spoken } : {}),
      toolUses: spent.toolUses,
      warnings: [...(why ? [why] : []), ...(content.trim() || !spent.toolUses.length ? [] : [SILENT])],
      free: spent.turns.every(({ free }) => free),
      promptTokens: sum(({ promptTokens }) => promptTokens),
      completionTokens: sum(({ completionTokens }) => completionTokens),
      ...spent.turns.reduce<TokenDetails>(addDetails, {}),
    }
  }

  return { add, following, end, handOver, cutShort }
}

/**
 * The newest turns that fit into `room` tokens, and a summary of the older turns in quoted sentences (docs/api.md
 * 22.6). A history with tool calls is left unchanged, because engines reject a call without its result.
 */
export function fitHistory(history: readonly Message[], room: number, count: Count): Fitted {
  const whole: Fitted = { turns: history, summary: null }
  if (history.some((message) => message.role === 'tool' || message.toolCalls?.length)) return whole
  if (room <= 0 || from(history, room, count) === 0) return whole
  const start = from(history, room * (1 - SUMMARY_SHARE), count)
  return { turns: history.slice(start), summary: summaryOf(history.slice(0, start), room * SUMMARY_SHARE, count) }
}

/** The newest turns that fit into `room` tokens. Begins with a user's message, so no call loses its result. */
export const newestTurns = (history: readonly Message[], room: number, count: Count): readonly Message[] =>
  history.slice(room <= 0 ? history.length : from(history, room, count))

/** Index of the first message that fits. Always a user message, so that no answer is kept without its question. */
function from(history: readonly Message[], room: number, count: Count): number {
  let start = history.length
  let used = 0
  for (let at = history.length - 1; at >= 0; at--) {
    used += count([history[at]!])
    if (used > room) return start
    if (history[at]!.role === 'user') start = at
  }
  return 0
}

/** The most central sentences, quoted verbatim so that nothing is invented. Null when none fits. */
function summaryOf(older: readonly Message[], room: number, count: Count): string | null {
  const sentences = lately(older).flatMap(({ role, content }) =>
    sentencesOf(content).map((sentence) => `${SPEAKER[role]}: ${sentence}`),
  )
  for (let wanted = MAX_SENTENCES; wanted > 0; wanted = Math.floor(wanted / 2)) {
    const text = beginningOf(centralSentences(sentences, wanted).join('\n'), MAX_SUMMARY_CHARS)
    const summary = `${HEADING}\n${text}`
    if (text && count([{ role: 'system', content: summary }]) <= room) return summary
  }
  return null
}

/** The last `MAX_READ_CHARS` characters of the messages: a history may hold megabytes (docs/promises.md I28). */
function lately(older: readonly Message[]): { role: Message['role']; content: string }[] {
  const read: { role: Message['role']; content: string }[] = []
  let remaining = MAX_READ_CHARS
  for (let at = older.length - 1; at >= 0 && remaining > 0; at--) {
    const { role, content } = older[at]!
    if (typeof content !== 'string') continue
    read.unshift({ role, content: content.slice(-remaining) })
    remaining -= content.length
  }
  return read
}
