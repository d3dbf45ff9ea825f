import type { ToolCall } from '../engines'
import type { Clock } from '../kernel/clock'
import { failpoint } from '../kernel/failpoint'
import { parseUntrustedJson } from '../kernel/json'
import type { Trace } from '../kernel/trace'
import type { Tools } from '../tools'
import type { MadeThings, ToolOutcome } from '../tools/schema'
import type { Emit, ToolAccess, ToolUse } from './agent-schema'

type Deps = { tools: Tools; clock: Clock; trace?: Trace }
/**
 * Runs the tool calls of one turn concurrently, and emits a step as each begins and ends. Returns the texts for the
 * engine, in the order of the calls. For a failed tool that text is the error (docs/api.md 22.5).
 */
export async function observe(
  { tools, clock, trace }: Deps,
  {
    toolset,
    spent,
    call,
    conversationId,
    guard = null,
  }: Pick<ToolAccess, 'toolset' | 'spent' | 'call' | 'conversationId' | 'guard'>,
  signal: AbortSignal,
  calls: readonly ToolCall[],
  emit: Emit | null,
): Promise<string[]> {
  const guarded = await Promise.all(calls.map((request) => guardedCall(request, guard, signal)))
  for (const { request, name } of emit ? guarded : []) {
    // Arguments to show in a stream. Anything but an object is shown as `{}`. The tool itself reports the error.
    const value = parsed(request.arguments || '{}')
    await emit!({
      type: 'tool-began',
      id: request.id,
      name,
      arguments:
        typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {},
    })
  }
  const made = ({ artifacts, costCents }: MadeThings) => {
    spent.made ??= { artifacts: [], costCents: 0 }
    spent.made.artifacts.push(...artifacts)
    spent.made.costCents += costCents
  }
  const context = { call, signal, now: clock.now(), conversationId, guard, made }
  const running = new Map(
    guarded.map(({ request, blockedUse }, place): [number, Promise<{ place: number; outcome: ToolOutcome }>] => [
      place,
      (blockedUse ? Promise.resolve(blockedUse) : tools.run(toolset, request, context)).then((outcome) => ({
        place,
        outcome,
      })),
    ]),
  )
  const from = clock.monotonic()
  failpoint('in_mid_tool')
  const texts: string[] = []
  const uses: ToolUse[] = []
  const first = spent.toolUses.length
  while (running.size) {
    const { place, outcome } = await Promise.race(running.values())
    running.delete(place)
    const { status, description, result } = outcome
    const { request, name } = guarded[place]!
    const ms = clock.monotonic() - from
    trace?.(call.requestId, 'tool', name, ms, { status })
    texts[place] = outcome.text
    const use: ToolUse = { id: request.id, name, status, description, result, arguments: outcome.arguments ?? {} }
    uses[place] = use
    spent.toolUses.push(use)
    spent.timings ??= new Map()
    spent.timings.set(use, { from, ms })
    if (emit) await emit({ type: 'tool-ended', ...use })
  }
  // The uses were added in the order in which they ended. The record lists them in the order of the calls.
  spent.toolUses.splice(first, uses.length, ...uses)
  return texts
}

/** A call after the guard. `name` is the tool's name as it may be shown. `refused` is the outcome of a blocked call. */
type GuardedCall = { request: ToolCall; name: string; blockedUse: ToolOutcome | null }

/** The call with its arguments as redacting rules leave them. A blocked call is shown without arguments. */
async function guardedCall(request: ToolCall, guard: ToolAccess['guard'], signal: AbortSignal): Promise<GuardedCall> {
  if (!guard?.hasRules('tool_call')) return { request, name: request.name, blockedUse: null }
  const parsedArguments = parsed(request.arguments)
  const { value, blocked, name } = await guard.checkToolData(
    'tool_call',
    request.name,
    parsedArguments ?? request.arguments,
    signal,
  )
  if (blocked) {
    const sentence = blocked.message ?? `The guardrail ${blocked.guardrailId} does not allow this call.`
    const failed = { status: 'error' as const, description: 'blocked by a guardrail', arguments: null, result: null }
    return { request: { ...request, arguments: '{}' }, name, blockedUse: { ...failed, text: `Error: ${sentence}` } }
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return { request: value === parsedArguments ? request : { ...request, arguments: text }, name, blockedUse: null }
}

/** Parsed as strictly as a request body: JSON nested very deeply can be parsed, but not serialized again. */
function parsed(text: string): unknown {
  try {
    return parseUntrustedJson(Buffer.from(text), { large: 'text' })
  } catch {
    return undefined
  }
}
