import { type CallDelta, EngineFailure, type ToolCall } from '../engine'
import { argumentsOf, parsed, withoutMarks } from './compat-body'

/** A call, or a piece of one. The upstream needs its other members back on the next turn. */
export type WireCall = {
  index?: number | null
  id?: string | null
  type?: unknown
  function?: { name?: string | null; arguments?: unknown; parameters?: unknown } | null
  /** Some servers write the function's members into the call itself. */
  name?: unknown
  arguments?: unknown
  input?: unknown
}

/** Arguments as text. Some servers send the object itself instead of JSON text, some under another name. */
function textOfCalls(part: WireCall['function']): string {
  const args = part?.arguments ?? part?.parameters
  return typeof args === 'string' ? args : args === null || args === undefined ? '' : JSON.stringify(args)
}

/** The calls of a message or a delta. Throws `malformed` for anything but a list of objects, or nothing. */
function wireCalls(value: unknown): WireCall[] {
  if (value === null || value === undefined) return []
  const isCall = (item: unknown) => typeof item === 'object' && item !== null
  const isOne = typeof value === 'object' && ('function' in value || 'name' in value)
  const calls: unknown[] = Array.isArray(value) ? value : [isOne ? value : null]
  if (calls.every(isCall))
    return (calls as WireCall[]).map(({ name, arguments: args, input, ...call }) =>
      call.function || typeof name !== 'string' ? call : { ...call, function: { name, arguments: args ?? input } },
    )
  throw new EngineFailure('malformed', 'the tool calls of the answer are not a list of calls')
}

/**
 * Joins the pieces of calls by id, then by index, then by order. One id at several indexes is one call. Without ids,
 * one index can have several calls: a name begins a new call once the one before is complete. A piece without a name at
 * an unknown index belongs to the open call.
 */
export function createCallJoiner() {
  const calls: (ToolCall & { place: number })[] = []
  const byId = new Map<string, (typeof calls)[number]>()
  const byIndex = new Map<number, (typeof calls)[number]>()

  function callFor({ index, id, function: part }: WireCall): (typeof calls)[number] {
    const same = id ? byId.get(id) : undefined
    // Some servers give every call the same id. A name with other arguments after a complete call begins a new one.
    const isNext = same && part?.name && isWhole(same.arguments) && !repeats(same, part)
    if (same && !isNext) return same
    const known = typeof index === 'number' ? byIndex.get(index) : calls.at(-1)
    const open = known ?? (part?.name ? undefined : calls.at(-1))
    // Some servers give each piece of a call a new id, with the same name and index.
    const goesOn = open !== undefined && open === byIndex.get(index as number) && part?.name === open.name
    if (open && ((goesOn && !isWhole(open.arguments)) || !begins(id, part?.name, open))) return open
    const call = { id: '', name: '', arguments: '', place: calls.length }
    calls.push(call)
    return call
  }

  return {
    /** Adds pieces and returns the new deltas. Throws `malformed` if it is not a list of calls. */
    add(value: unknown): CallDelta[] {
      return wireCalls(value).map((piece) => {
        const call = callFor(piece)
        const { index, id, type: _type, function: part, ...extra } = piece
        if (typeof index === 'number') byIndex.set(index, call)
        call.id ||= id && !byId.has(id) ? id : ''
        if (id) byId.set(id, call)
        if (part?.name && call.name !== part.name) call.name += part.name
        // Some servers repeat the whole call at the end, and some repeat all earlier arguments with each piece.
        const sent = textOfCalls(part)
        const isAll = call.arguments.length > 2 && call.arguments.startsWith('{') && sent.startsWith(call.arguments)
        const text = repeats(call, part) ? '' : isAll ? sent.slice(call.arguments.length) : sent
        // Some servers send an empty object before the real arguments.
        if (text.trimStart().startsWith('{') && call.arguments === NOTHING) call.arguments = ''
        call.arguments += text
        // An empty object may still be replaced, and JSON in a string is shown once it is complete.
        const isHidden = call.arguments === NOTHING || call.arguments.startsWith('"')
        const shown = isHidden
          ? ''
          : text.endsWith('>') && isWhole(withoutMarks(call.arguments))
            ? withoutMarks(text)
            : text
        if (Object.keys(extra).length) call.extra = { ...call.extra, ...extra }
        return { place: call.place, name: call.name, arguments: shown }
      })
    },

    /** The complete calls. Throws `malformed` for one without a name. */
    calls(): ToolCall[] {
      return calls.map(({ place, ...call }) => {
        if (!call.name) throw new EngineFailure('malformed', 'a tool call of the answer names no tool')
        return { ...call, id: call.id || `call_${place}`, arguments: argumentsOf(call.arguments) }
      })
    },
  }
}

/** Empty arguments. Some servers send them before the real ones. */
const NOTHING = '{}'

/** Whether a piece repeats a complete call. */
const repeats = (call: ToolCall, part: WireCall['function']): boolean =>
  Boolean(part?.name) && isWhole(call.arguments) && textOfCalls(part) === call.arguments

/** Whether a piece begins a new call although `open` has its index. */
function begins(id: string | null | undefined, name: string | null | undefined, open: ToolCall): boolean {
  if (id && open.id && name) return true
  // A name may be split across pieces, before any arguments.
  return Boolean(name) && open.name !== '' && ((open.arguments !== '' && name !== open.name) || isWhole(open.arguments))
}

const isWhole = (text: string): boolean => text.trimEnd().endsWith('}') && parsed(text) !== undefined
