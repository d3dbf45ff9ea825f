import type { EngineService, RunRequest, ToolCall } from '../engines'
import type { Clock } from '../kernel/clock'
import { createPairKeeper, storable } from '../kernel/text'
import { newCallId } from './call-ids'
import type { CountedTurn, Emit, FinishedBecause, Offered, Task, Thought } from './schema'

/** The result of one engine call. */
export type Turn = CountedTurn & {
  text: string
  toolCalls: readonly ToolCall[]
  finish: FinishedBecause
  fallbackUsed: boolean
  /** Milliseconds to the first part; null when it came whole. */
  ttftMs: number | null
}

type Deps = { engines: EngineService; clock: Clock }

/** One engine call: whole, or as a stream whose text is emitted as it comes. */
export const takeTurn = (deps: Deps, asked: string, request: RunRequest, emit: Emit | null): Promise<Turn> =>
  emit ? streamed(deps, asked, request, emit) : whole(deps, asked, request)

async function whole({ engines }: Deps, asked: string, request: RunRequest): Promise<Turn> {
  const { text, toolCalls, finish, usage, engineId, free, fallbackUsed } = await engines.answer(asked, request)
  const { promptTokens, completionTokens } = usage
  return {
    text: storable(text),
    toolCalls,
    finish,
    ttftMs: null,
    engineId,
    free,
    fallbackUsed,
    promptTokens,
    completionTokens,
  }
}

async function streamed({ engines, clock }: Deps, asked: string, request: RunRequest, emit: Emit): Promise<Turn> {
  const startedAt = clock.monotonic()
  const running = await engines.run(asked, request)
  const ttftMs = Math.round(clock.monotonic() - startedAt)
  const { engineId, free, fallbackUsed } = running
  const pairs = createPairKeeper()
  const toolCalls: ToolCall[] = []
  let text = ''
  let finish: FinishedBecause = 'stop'
  let usage = running.soFar()
  for await (const part of running.parts) {
    if (part.type === 'text-delta') {
      const piece = pairs.add(part.text)
      text += piece
      const behind = piece ? emit({ type: 'text', text: piece }) : undefined
      if (behind) await behind
    } else if (part.type === 'finish') finish = part.reason
    else if (part.type === 'usage') usage = part
    else toolCalls.push(part)
  }
  const rest = pairs.end()
  if (rest) await emit({ type: 'text', text: rest })
  const { promptTokens, completionTokens } = usage
  return {
    text: text + rest,
    toolCalls,
    finish,
    ttftMs,
    engineId,
    free,
    fallbackUsed,
    promptTokens,
    completionTokens,
  }
}

/** A thought of one turn, with the calls of the client's functions. */
export function thoughtOf(turn: Turn, { mode, offered }: Pick<Task, 'mode' | 'offered'>): Thought {
  const { engineId, free, promptTokens, completionTokens, finish, fallbackUsed, ttftMs } = turn
  const toolCalls = withOwnIds(wantedBy(offered, turn.toolCalls), mode)
  return {
    engineId,
    free,
    promptTokens,
    completionTokens,
    content: turn.text,
    finish: finish === 'tool-calls' && !toolCalls.length ? 'stop' : finish,
    fallbackUsed,
    ttftMs,
    turns: [turn],
    toolUses: [],
    toolCalls,
    warnings: demands(offered) && !toolCalls.length ? [NOT_CALLED] : [],
  }
}

/** Whether a call is wanted for sure. */
export const demands = (offered: Offered | null): boolean =>
  offered !== null && offered.choice !== 'auto' && offered.choice !== 'none'

export const NOT_CALLED =
  'The engine was told to call a function, as "tool_choice" says, and called none that was asked for.'

/**
 * Leaves out calls that `tool_choice` does not allow, which clients rely on and engines do not always obey (contract
 * 4). A call that is wanted and does not come cannot be made for them.
 */
export function wantedBy(offered: Offered | null, calls: readonly ToolCall[]): readonly ToolCall[] {
  if (!offered || offered.choice === 'none') return []
  const { choice, oneCallATurn } = offered
  const allowed = typeof choice === 'string' ? offered.tools : [choice]
  const chosen = calls.filter((call) => allowed.some(({ name }) => name === call.name))
  return oneCallATurn ? chosen.slice(0, 1) : chosen
}

/** Replaces upstream call ids, which may repeat and would reveal the upstream. */
export const withOwnIds = (calls: readonly ToolCall[], mode: string): ToolCall[] =>
  calls.map(({ name, arguments: args }) => ({ id: newCallId(mode), name, arguments: args }))
