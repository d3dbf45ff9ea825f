import {
  addDetails,
  ENOUGH,
  type EngineService,
  engineErrors,
  type Message,
  originOf,
  type Part,
  type RunRequest,
  type TokenLogprob,
  type ToolCall,
  toolNamed,
  type WholeAnswer,
} from '../engines'
import type { Clock } from '../kernel/clock'
import { crc32Base62, randomBase62 } from '../kernel/crypto'
import { messageOf } from '../kernel/errors'
import { parsedJson } from '../kernel/json'
import { createPairKeeper, Pieces, storable } from '../kernel/text'
import { createJsonFilter, jsonAnswer } from './agent-filters'
import type { AgentResult, CountedTurn, Emit, FinishedBecause, OfferedTools, Task } from './agent-schema'

const RANDOM_CHARS = 18

const CALL_ID = /^call_[0-9A-Za-z]{24}$/

/** The result of one engine call. Its tool calls have our own ids and the corrected names of the tools. */
export type Turn = CountedTurn &
  Pick<WholeAnswer, 'text' | 'reasoning' | 'refusal' | 'toolCalls' | 'fallbackUsed' | 'logprobs' | 'fingerprint'> & {
    finish: FinishedBecause
    stoppedBy?: string | undefined
    /** Milliseconds to the first part. Null when the answer came in one piece. */
    ttftMs: number | null
  }

type Deps = { engines: EngineService; clock: Clock }

/**
 * The answer of one engine call. If calls of the client's functions cannot be passed on, the engine is called once
 * more, unless they were shown already. Throws what engines throw.
 */
export function answerOnce(deps: Deps, task: Task, emit: Emit | null): Promise<AgentResult> {
  const { engineId, offered } = task
  const messages = openingMessages(task)
  return takeTurn(deps, engineId, toRequest(task, messages), emit, offered).then((turn) => {
    if (emit || !offered || !isBroken(turn, offered)) return agentResultOf(turn, task)
    messages.push(...correctionsOf(turn, offered))
    const again = takeTurn(deps, engineId, toRequest(task, messages), null, offered)
    return again.then((better) => agentResultOf(better, task))
  })
}

/** The first messages to an engine: the system prompt, earlier turns, the question, and any turns after it. */
export function openingMessages({ system, history, prompt, images, after }: Task): Message[] {
  const messages: Message[] = system === null ? [] : [{ role: 'system', content: system }]
  for (const message of history) messages.push(message)
  // A blank prompt adds no text part, because engines reject empty parts.
  messages.push({
    role: 'user',
    content: images.length
      ? [
          ...images.map((image): Part => ({ type: 'image', ...image })),
          ...(prompt.trim() ? [{ type: 'text' as const, text: prompt }] : []),
        ]
      : prompt,
  })
  for (const message of after) messages.push(message)
  return messages
}

/** The engine request with these messages. */
export function toRequest(task: Task, messages: Message[]): RunRequest {
  const { call, stealth = false, forVisitors, mode, temperature, maxOutputTokens, json, signal, offered } = task
  const { sampling, effort, files } = task
  const request: RunRequest = { messages, mode, maxOutputTokens, signal, origin: originOf(call, stealth) }
  if (temperature !== undefined) request.temperature = temperature
  if (files) request.files = files
  if (sampling) request.sampling = sampling
  if (effort) request.effort = effort
  if (forVisitors) request.forVisitors = forVisitors
  if (json) request.json = json
  if (offered)
    Object.assign(request, { tools: offered.tools, toolChoice: offered.choice, oneCallATurn: offered.oneCallATurn })
  return request
}

/** One engine call: in one piece, or as a stream whose parts are emitted as they arrive. */
export const takeTurn = (
  deps: Deps,
  question: string,
  request: RunRequest,
  emit: Emit | null,
  offered: OfferedTools | null,
): Promise<Turn> =>
  emit
    ? streamed(deps, question, request, emit, offered)
    : deps.engines.answer(question, request).then((answer) => turnOfAnswer(answer, request))

function turnOfAnswer(answer: WholeAnswer, request: RunRequest): Turn {
  const { engineId, free, fallbackUsed, reasoning, refusal, finish, usage } = answer
  const stop = request.sampling?.stop?.length ? createStopFilter(request.sampling.stop) : null
  const heard = stop ? stop.add(answer.text) + stop.end() : answer.text
  const hit = stop?.hit() ?? null
  const likely = request.sampling?.logprobs === undefined ? undefined : answer.logprobs
  const calls = hit === null ? answer.toolCalls : []
  const turn: Turn = {
    engineId,
    free,
    fallbackUsed,
    text: storable(request.json ? jsonAnswer(heard, finish === 'stop' && hit === null, request.json) : heard),
    reasoning,
    refusal,
    toolCalls: calls.length ? calls.map((call) => ownCall(call, request, newCallId(request.mode), finish)) : calls,
    finish: hit === null ? finish : 'stop',
    stoppedBy: hit ?? knownStop(request, answer.stoppedBy),
    ttftMs: null,
    fingerprint: answer.fingerprint,
    promptTokens: usage.promptTokens,
    completionTokens: usage.completionTokens,
  }
  if (likely) turn.logprobs = hit === null ? likely : likelyIn(heard, likely)
  return addDetails(turn, usage)
}

/**
 * Takes a text in pieces and passes it on up to the first stop text. Holds back anything that may be the beginning of a
 * stop text, so it does not matter where the pieces are cut.
 */
function createStopFilter(stops: readonly string[]) {
  const longest = Math.max(...stops.map(({ length }) => length))
  let waiting = ''
  let hit: string | null = null

  return {
    add(piece: string): string {
      if (hit !== null) return ''
      const text = waiting + piece
      const found = stops
        .map((stop) => ({ stop, at: text.indexOf(stop) }))
        .filter(({ at }) => at >= 0)
        .sort((a, b) => a.at - b.at || b.stop.length - a.stop.length)[0]
      if (found) {
        hit = found.stop
        waiting = ''
        return text.slice(0, found.at)
      }
      let held = Math.min(longest - 1, text.length)
      while (held > 0 && !stops.some((stop) => stop.startsWith(text.slice(-held)))) held -= 1
      waiting = held ? text.slice(-held) : ''
      return held ? text.slice(0, -held) : text
    },
    /** The rest that was held back, at the end of the text. */
    end(): string {
      const rest = waiting
      waiting = ''
      return rest
    },
    /** The stop text that was found. Null if none was. */
    hit: (): string | null => hit,
  }
}

/** The tokens that lie entirely in the beginning of an answer that was cut. */
const likelyIn = (text: string, logprobs: readonly TokenLogprob[]): readonly TokenLogprob[] => {
  let remaining = text.length
  return logprobs.filter(({ token }) => {
    remaining -= String(token).length
    return remaining >= 0
  })
}

async function streamed(
  { engines, clock }: Deps,
  question: string,
  request: RunRequest,
  emit: Emit,
  offered: OfferedTools | null,
): Promise<Turn> {
  const startedAt = clock.monotonic()
  const pairs = createPairKeeper()
  const fence = request.json ? createJsonFilter(request.json) : null
  const stop = request.sampling?.stop?.length ? createStopFilter(request.sampling.stop) : null
  const toolCalls: ToolCall[] = []
  const ids: string[] = []
  const idAt = (place: number) => (ids[place] ??= newCallId(request.mode))
  /** Arguments in pieces. They wait until the name is complete. */
  const written: { filter: ReturnType<typeof createJsonFilter>; waiting: string[] }[] = []
  let ttftMs: number | null = null
  const content = new Pieces()
  let reasoning = ''
  let refusal = ''
  let finish: FinishedBecause = 'stop'
  let stoppedBy: string | undefined
  let fingerprint: string | undefined
  const logprobs: TokenLogprob[] = []
  /** Log probabilities of text that is still held back. */
  let waiting: readonly TokenLogprob[] = []
  let usage: Omit<CountedTurn, 'engineId' | 'free'> = { promptTokens: 0, completionTokens: 0 }
  const taken = () => {
    if (!waiting.length) return {}
    const step = { logprobs: waiting }
    logprobs.push(...waiting)
    waiting = []
    return step
  }
  const by = await engines.run(question, request, (part) => {
    ttftMs ??= Math.round(clock.monotonic() - startedAt)
    switch (part.type) {
      case 'text': {
        const cut = stop ? stop.add(part.text) : part.text
        const piece = pairs.add(fence ? fence.add(cut) : cut)
        content.add(piece)
        if (part.logprobs && request.sampling?.logprobs !== undefined) waiting = [...waiting, ...part.logprobs]
        if (stop && stop.hit() !== null) waiting = likelyIn(piece, waiting)
        // Most pieces are shown unchanged.
        const isPlain = piece === part.text && !part.logprobs && !waiting.length
        const behind = piece ? emit(isPlain ? part : { type: 'text', text: piece, ...taken() }) : undefined
        if (!stop || stop.hit() === null) return behind
        // Text after the stop is neither read nor charged.
        return Promise.resolve(behind).then(() => Promise.reject(ENOUGH))
      }
      case 'reasoning':
        reasoning += part.text
        return part.text ? emit(part) : undefined
      case 'refusal':
        refusal += part.text
        return part.text ? emit(part) : undefined
      case 'call-delta': {
        const name = toolNamed(part.name, request.tools) ?? part.name
        written[part.place] ??= { filter: createJsonFilter({ schema: schemaOf(name, request) }), waiting: [] }
        const call = written[part.place]!
        call.waiting.push(call.filter.add(part.arguments))
        if (!mayCall(offered, name, part.place)) return
        return emit({ type: 'call', id: idAt(part.place), name, arguments: call.waiting.splice(0).join('') })
      }
      case 'tool-call':
        return void toolCalls.push(part)
      case 'usage':
        usage = part
        return
      case 'finish':
        finish = part.reason
        fingerprint = part.fingerprint
        stoppedBy = knownStop(request, part.stoppedBy)
    }
  })
  const last = stop?.end() ?? ''
  const rest =
    pairs.add((fence?.add(last) ?? last) + (fence?.end(finish === 'stop' && !stop?.hit()) ?? '')) + pairs.end()
  if (rest) await emit({ type: 'text', text: rest, ...taken() })
  const { promptTokens, completionTokens } = usage
  const message = {
    text: content.text + rest,
    reasoning,
    refusal,
    toolCalls: toolCalls.map((call, place) => ownCall(call, request, idAt(place), finish)),
    finish,
    stoppedBy: stop?.hit() ?? stoppedBy,
  }
  const counts = addDetails({ promptTokens, completionTokens }, usage)
  return { ...message, ...by, fingerprint, ...(logprobs.length ? { logprobs } : {}), ttftMs, ...counts }
}

/**
 * The result of one turn, with the calls of the client's functions. Throws 503 when the calls cannot be passed on, see
 * `isBroken`.
 */
function agentResultOf(turn: Turn, { mode, offered }: Pick<Task, 'mode' | 'offered'>): AgentResult {
  const { engineId, free, promptTokens, completionTokens, finish, fallbackUsed, ttftMs, text, reasoning, refusal } =
    turn
  assertPassable(turn, offered, mode)
  const toolCalls = wantedBy(offered, turn.toolCalls)
  const result: AgentResult = {
    engineId,
    free,
    promptTokens,
    completionTokens,
    content: text || refusal,
    reasoning,
    refusal,
    finish: finish === 'tool-calls' && !toolCalls.length ? 'stop' : finish,
    stoppedBy: turn.stoppedBy,
    fingerprint: turn.fingerprint,
    fallbackUsed,
    ttftMs,
    turns: [turn],
    toolUses: [],
    toolCalls,
    warnings:
      demands(offered) && !toolCalls.length ? [NOT_CALLED, ...unknownIn(turn, offered)] : unknownIn(turn, offered),
  }
  if (turn.logprobs) result.logprobs = turn.logprobs
  return addDetails(result, turn)
}

/**
 * True if the calls of a turn cannot be passed on: bad arguments, or no text and only tools that were not offered.
 * Arguments that the output limit cut are passed on, and `finish` reports the cut.
 */
export function isBroken({ toolCalls, text, finish }: Turn, offered: OfferedTools | null): boolean {
  const wanted = wantedBy(offered, toolCalls)
  if (finish !== 'length' && wanted.some((call) => !isJsonObject(call.arguments))) return true
  return toolCalls.length > 0 && !text && toolCalls.every(({ name }) => !isOffered(offered, name))
}

/** Throws 503 `engine_unavailable` for a broken turn, which is not charged. */
export function assertPassable(turn: Turn, offered: OfferedTools | null, mode: string): void {
  if (offered && isBroken(turn, offered))
    throw engineErrors.engineUnavailable.with({ retryAfterS: RETRY_AFTER_S }, mode)
}

const RETRY_AFTER_S = 5

/** Messages that describe to the engine which calls cannot be passed on, so that it makes them again. */
export const correctionsOf = ({ text, toolCalls }: Turn, offered: OfferedTools | null): Message[] => [
  { role: 'assistant', content: text, toolCalls: [...toolCalls] },
  ...toolCalls.map(({ id, name, arguments: args }): Message => {
    const problem = !isOffered(offered, name)
      ? `There is no tool ${messageOf(name)}.`
      : isJsonObject(args)
        ? 'Not run, because another call was wrong.'
        : 'The arguments are not a JSON object.'
    return { role: 'tool', toolCallId: id, toolName: name, content: `Error: ${problem} Call the tools again.` }
  }),
]

/** If the choice lists the allowed tools, the client's other tools are not known. */
const isOffered = (offered: OfferedTools | null, name: string): boolean =>
  offered?.only !== undefined || (offered?.tools.some((tool) => tool.name === name) ?? false)

/** One sentence for each call of a tool that was not offered. */
function unknownIn({ toolCalls }: Turn, offered: OfferedTools | null): string[] {
  const warnings: string[] = []
  for (const { name } of toolCalls)
    if (!isOffered(offered, name))
      warnings.push(`The engine called ${messageOf(name)}, which is not a tool of this request; the call was left out.`)
  return warnings
}

function isJsonObject(text: string): boolean {
  const value = parsedJson(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Words of engines for a call without arguments. */
const NO_ARGUMENTS: ReadonlySet<string> = new Set(['', 'null', 'none', 'nil', 'undefined', '[]', '""'])

const schemaOf = (of: string, { tools }: RunRequest) => tools?.find(({ name }) => name === of)?.parameters ?? {}

/** A call under our id, because upstream ids may repeat and would reveal the upstream, with corrected arguments. */
function ownCall({ name: called, arguments: args, extra }: ToolCall, request: RunRequest, id: string, finish: string) {
  const name = toolNamed(called, request.tools) ?? called
  const isNone = NO_ARGUMENTS.has(args.trim().toLowerCase())
  const json = isNone ? '{}' : jsonAnswer(args, finish !== 'length', { schema: schemaOf(name, request) })
  return { id, name, arguments: json, ...(extra ? { extra } : {}) }
}

/** True if the choice requires a call. */
export const demands = (offered: OfferedTools | null): boolean =>
  offered !== null && offered.choice !== 'auto' && offered.choice !== 'none'

export const NOT_CALLED =
  '"tool_choice" required a function call, but the engine called none of the requested functions.'

/**
 * Drops calls that `tool_choice` does not allow. Clients rely on it, and engines do not always obey (docs/api.md 4). A
 * required call that the engine does not make cannot be added here.
 */
export const wantedBy = (offered: OfferedTools | null, calls: readonly ToolCall[]): readonly ToolCall[] =>
  calls.length ? calls.filter(({ name }, place) => mayCall(offered, name, place)) : calls

function mayCall(offered: OfferedTools | null, name: string, place: number): boolean {
  if (!offered || offered.choice === 'none' || (offered.oneCallATurn && place > 0)) return false
  const allowed = typeof offered.choice === 'string' ? offered.tools : [offered.choice]
  return allowed.some((tool) => tool.name === name)
}

/**
 * A new id for a tool call. It encodes the mode of its run. A client that runs the tool loop sends the id back. Any
 * process can then continue the run in that mode, without stored state (docs/api.md 4).
 */
export function newCallId(mode: string): string {
  const random = randomBase62(RANDOM_CHARS)
  return `call_${random}${crc32Base62(random + mode)}`
}

/** The mode of the run that made a call. Null for an id that is not ours. Modes are not secret. */
export function modeOfCall(id: string, modes: readonly string[]): string | null {
  if (!CALL_ID.test(id)) return null
  const random = id.slice('call_'.length, -6)
  return modes.find((mode) => id.endsWith(crc32Base62(random + mode))) ?? null
}

/** The text that ended an answer, if the request listed it in `stop`. Upstreams also report their own markers. */
const knownStop = ({ sampling }: RunRequest, by: string | undefined): string | undefined =>
  by !== undefined && sampling?.stop?.includes(by) ? by : undefined
