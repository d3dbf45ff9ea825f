import type { Call } from '../kernel/caller'
import { AppError, quoted } from '../kernel/errors'
import { fence } from '../kernel/fence'
import type { Role } from '../orgs/schema'
import { readArguments } from './arguments'
import { cut, MAX_TEXT_CHARS, present } from './results'
import { refusal } from './rules'
import { createTally, type Tally } from './tally'
import { type AskedCall, type Tool, type ToolContext, ToolFailure, type ToolOutcome, type Toolset } from './tool'

type Deps = {
  /** The caller's role in their active org; null without one. */
  roleOf(call: Call): Promise<Role | null>
  /** Reports a failure that is this server's fault. */
  onFault(name: string, error: unknown): void
}

/** Runs an engine's calls. Failures become outcomes the engine can read; it rejects only when the run is aborted. */
export function createRun({ roleOf, onFault }: Deps) {
  const tallies = new WeakMap<Toolset, Tally>()

  return async function run(toolset: Toolset, asked: AskedCall, context: ToolContext): Promise<ToolOutcome> {
    context.signal.throwIfAborted()
    const tally = tallyOf(toolset)
    const tool = toolset.tools.get(asked.name)
    if (!tool) return failed(null, 'unknown tool', unknownTool(asked.name, toolset))
    if (!tally.take()) return failed(null, 'too many calls', tally.refusal)
    const read = await readArguments(tool, asked.arguments)
    if (!read.fits) return failed(read.args, 'bad arguments', read.problem)
    const closed = await whyClosed(toolset, tool, context)
    if (closed) {
      const outcome = failed(read.args, closed.description, closed.sentence)
      const asks = tool.asksCaller && closed.description === APPROVAL
      return asks ? { ...outcome, status: 'awaiting_approval' } : outcome
    }
    return tally.withTurn(() => attempt(tool, read.args, context, tally), context.signal)
  }

  function tallyOf(toolset: Toolset): Tally {
    const known = tallies.get(toolset) ?? createTally()
    tallies.set(toolset, known)
    return known
  }

  async function whyClosed(toolset: Toolset, tool: Tool, { call }: ToolContext) {
    const needsRole = tool.permissionLevel !== 'user'
    const forbidden = refusal(tool, call, needsRole ? await roleOf(call) : null)
    if (forbidden) return { description: 'not permitted', sentence: forbidden }
    if (tool.requiresApproval && !toolset.approved.has(tool.name)) {
      return { description: APPROVAL, sentence: needsApproval(tool.name) }
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

/** Settles with the tool's answer, its time-out or the abort of the run, whichever comes first. */
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

/** Adds a third party's error text to the failure, after guardrails checked it like a result. */
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

const needsApproval = (name: string) =>
  `approval required. ${name} was not run: the user must first allow it by naming it in metadata.approved_tools. Say so.`

const MOST_NAMED = 20

function unknownTool(name: string, { tools }: Toolset): string {
  const names = [...tools.keys()]
  const listed = names.slice(0, MOST_NAMED).join(', ')
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''
  const known = names.length ? `There are ${listed}${more}.` : 'There are none.'
  return `There is no tool named ${quoted(name)}. ${known}`
}
