import type { Role } from '../accounts/orgs/schema'
import type { Call } from '../kernel/caller'
import { AppError, quoted } from '../kernel/errors'
import { fence } from '../kernel/fence'
import { parseUntrustedJson } from '../kernel/json'
import { nextTurn } from '../kernel/loop'
import { shorten } from '../kernel/text'
import { refusal } from './rules'
import { type RequestedCall, type Tool, type ToolContext, ToolFailure, type ToolOutcome, type Toolset } from './tool'
import { compileInTurn, isSlow, validatorOf } from './validation-compile'

/** Larger arguments are rejected before parsing. */
const MAX_ARGUMENT_BYTES = 256 * 1024

type Arguments = Record<string, unknown>

type Read = { fits: true; args: Arguments } | { fits: false; args: Arguments | null; problem: string }

const unfit = (args: Arguments | null, problem: string): Read => ({ fits: false, args, problem })

const FENCE_BEGIN = /^```(?:json)?\s*\n/

/** Maximum number of tool calls in one run over all its iterations (docs/api.md 22.5). */
export const MAX_CALLS = 64

/** Maximum number of concurrent tool calls in one run. Further calls wait. */
export const MAX_AT_ONCE = 8

/** Total number of characters of results that one run may show its caller. */
const MAX_SHOWN_CHARS = 1024 * 1024

type Tally = ReturnType<typeof createTally>

/** Maximum text length of one result, in characters: for the engine, and for the caller. */
export const MAX_TEXT_CHARS = 24_000

export const MAX_RESULT_CHARS = 64 * 1024

type Deps = {
  /** The caller's role in their active org, or null. */
  roleOf(call: Call): Promise<Role | null>
  /** Reports a failure that this server caused. */
  onFault(name: string, error: unknown): void
}

/** Runs an engine's tool calls. Failures become outcomes that the engine can read. Rejects only on abort. */
export function createRun({ roleOf, onFault }: Deps) {
  const tallies = new WeakMap<Toolset, Tally>()

  return async function run(toolset: Toolset, request: RequestedCall, context: ToolContext): Promise<ToolOutcome> {
    context.signal.throwIfAborted()
    const known = tallies.get(toolset) ?? createTally()
    tallies.set(toolset, known)
    const tally = known
    const tool = toolset.tools.get(request.name)
    if (!tool) return failed(null, 'unknown tool', unknownTool(request.name, toolset))
    if (!tally.take()) return failed(null, 'too many calls', tally.refusal)
    // An engine may request 16 calls at once, so schema compilation and slow checks each wait for their own turn of the
    // event loop (docs/promises.md I28).
    await compileInTurn(tool.inputSchema)
    if (isSlow(tool.inputSchema)) await nextTurn()
    const read = readNow(tool, request.arguments)
    if (!read.fits) return failed(read.args, 'bad arguments', read.problem)
    const closed = await whyClosed(toolset, tool, context)
    if (closed) {
      const outcome = failed(read.args, closed.description, closed.sentence)
      const asks = tool.asksCaller && closed.description === APPROVAL
      return asks ? { ...outcome, status: 'awaiting_approval' } : outcome
    }
    return tally.withTurn(() => attempt(tool, read.args, context, tally), context.signal)
  }

  async function whyClosed(toolset: Toolset, tool: Tool, { call }: ToolContext) {
    const needsRole = tool.permissionLevel !== 'user'
    const forbidden = refusal(tool, call, needsRole ? await roleOf(call) : null)
    if (forbidden) return { description: 'not permitted', sentence: forbidden }
    if (tool.requiresApproval && !toolset.approved.has(tool.name)) {
      return {
        description: APPROVAL,
        sentence: `approval required. ${tool.name} was not run: the user must first allow it by naming it in metadata.approved_tools. Say so.`,
      }
    }
    const missing = tool.unavailable?.()
    return missing ? { description: 'not available', sentence: missing } : null
  }

  async function attempt(tool: Tool, args: Record<string, unknown>, context: ToolContext, tally: Tally) {
    try {
      const found = await guarded(tool.name, await within(tool, args, context), context)
      const { text, result } = present(tool.name, found, tally.room())
      tally.show(result)
      return { status: 'success' as const, description: 'done', arguments: args, result, text }
    } catch (error) {
      context.signal.throwIfAborted()
      if (error instanceof ToolFailure) return failed(args, error.message, await toSentence(tool.name, error, context))
      if (error instanceof AppError) return failed(args, error.message, error.message)
      onFault(tool.name, error)
      return failed(args, 'failed by a fault of this server', OUR_FAULT)
    }
  }
}

/** Settles with the tool's answer, its timeout or the abort of the run, whichever comes first. */
async function within(tool: Tool, args: Record<string, unknown>, context: ToolContext): Promise<unknown> {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const ending = new AbortController()
  const end = (reason: unknown) => {
    reject(reason)
    ending.abort(reason)
  }
  const onAbort = () => end(context.signal.reason)
  const late = () => end(new ToolFailure(`${tool.name} gave no answer within ${tool.timeoutMs / 1000} seconds.`))
  const timer = setTimeout(late, tool.timeoutMs)
  context.signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([tool.run(args, { ...context, signal: ending.signal }), ended])
  } finally {
    clearTimeout(timer)
    context.signal.removeEventListener('abort', onAbort)
  }
}

const APPROVAL = 'approval required'
const OUR_FAULT = 'The tool failed by a fault of this server. Go on without it.'

const failed = (args: Record<string, unknown> | null, description: string, sentence: string): ToolOutcome => ({
  status: 'error',
  description,
  arguments: args,
  result: null,
  text: `Error: ${sentence}`,
})

/** Adds a third party's error text to the failure, after guardrails have checked it like a result. */
async function toSentence(name: string, { message, data }: ToolFailure, context: ToolContext): Promise<string> {
  const left = data && String(await guarded(name, data, context).catch(() => ''))
  return left ? `${message}\n${fence(name, cut(left, MAX_TEXT_CHARS))}` : message
}

/** The result as redacted by `tool_result` guardrails. Throws {@link ToolFailure} when one blocks it. */
async function guarded(name: string, found: unknown, { guard, signal }: ToolContext): Promise<unknown> {
  if (!guard?.hasRules('tool_result')) return found
  const { value, blocked } = await guard.checkToolData('tool_result', name, found, signal)
  if (blocked) throw new ToolFailure(blocked.message ?? `The guardrail ${blocked.guardrailId} withheld the result.`)
  return value
}

const MAX_NAMED = 20

function unknownTool(name: string, { tools }: Toolset): string {
  const names = [...tools.keys()]
  const listed = names.slice(0, MAX_NAMED).join(', ')
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  const known = names.length ? `There are ${listed}${more}.` : 'There are none.'
  return `There is no tool named ${quoted(name)}. ${known}`
}

/** Shortens a text to `max` characters and notes the number of missing characters. */
function cut(text: string, max: number): string {
  if (text.length <= max) return text
  return `${shorten(text, max)}\n[cut here: ${text.length - max + 1} more characters]`
}

/**
 * Renders a tool's result twice: fenced as data for the engine, and as JSON for the caller. A result too large to show
 * becomes `{truncated: true, text, total_chars}`. `room` is the number of characters this run may still show.
 */
function present(name: string, found: unknown, room: number): { text: string; result: unknown } {
  const json = JSON.stringify(found) ?? 'null'
  const text = fence(name, cut(typeof found === 'string' ? found : json, MAX_TEXT_CHARS))
  const max = Math.min(MAX_RESULT_CHARS, room)
  if (json.length <= max) return { text, result: found === undefined ? null : found }
  const shown = shorten(typeof found === 'string' ? found : json, Math.max(max, 1))
  return { text, result: { truncated: true, text: shown, total_chars: json.length } }
}

/** Tracks one run's use of its limits. */
function createTally() {
  let calls = 0
  let working = 0
  let room = MAX_SHOWN_CHARS
  const waiting: (() => void)[] = []

  return {
    /** Counts a call. False when the run has used all its calls. */
    take: (): boolean => ++calls <= MAX_CALLS,
    refusal: `This answer has used its ${MAX_CALLS} tool calls. Answer now from what is known.`,

    /** Runs `work` when a slot is free. Rejects like `work`, or when the signal was aborted during the wait. */
    async withTurn<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
      if (working < MAX_AT_ONCE) working++
      else await new Promise<void>((go) => waiting.push(go))
      try {
        signal.throwIfAborted()
        return await work()
      } finally {
        // Hands the free slot to the call that has waited longest.
        const next = waiting.shift()
        if (next) next()
        else working--
      }
    },

    room: (): number => room,
    /** Subtracts a result's size from the remaining characters. */
    show(result: unknown): void {
      room = Math.max(0, room - (JSON.stringify(result)?.length ?? 0))
    },
  }
}

/**
 * Parses an engine's arguments (JSON text) and validates them against the tool's input schema. `problem` is a sentence
 * for the engine.
 */
function readNow(tool: Tool, text: string): Read {
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_ARGUMENT_BYTES) {
    return unfit(null, `The arguments have ${bytes} bytes; at most ${MAX_ARGUMENT_BYTES} are allowed.`)
  }
  const value = parse(text)
  if (value instanceof AppError)
    return unfit(null, `${value.message.replace('The body', 'The arguments')} Write them again.`)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return unfit(null, 'The arguments must be one JSON object. Write them again.')
  }
  const args = value as Arguments
  const problem = validatorOf(tool.inputSchema)(args)
  return problem
    ? unfit(args, `${problem} Correct the arguments of ${tool.name} and call it again.`)
    : { fits: true, args }
}

function parse(text: string): unknown {
  try {
    return parseUntrustedJson(Buffer.from(repaired(text)))
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** Repairs only unambiguous damage: empty text becomes `{}`, and a Markdown fence around the whole text is removed. */
function repaired(text: string): string {
  if (text.trim() === '') return '{}'
  const whole = text.trim()
  const begin = FENCE_BEGIN.exec(whole)?.[0].length
  if (begin === undefined || !whole.endsWith('```')) return text
  const inner = whole.slice(begin, -3)
  return inner.slice(inner.trimEnd().length).includes('\n') ? inner.trimEnd() : text
}
