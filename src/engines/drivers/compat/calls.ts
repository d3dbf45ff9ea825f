import { type CallDelta, EngineFailure, type ToolCall } from '../../engine'
import { argumentsOf } from '../calls'

/** A call, or a piece of one; other members are what the upstream wants back with it. */
type WireCall = {
  index?: number | null
  id?: string | null
  type?: unknown
  function?: { name?: string | null; arguments?: unknown } | null
}

/** The calls of a message or a delta. Throws `malformed` for anything but a list of objects, or nothing. */
function wireCalls(value: unknown): WireCall[] {
  if (value === null || value === undefined) return []
  const isCall = (item: unknown) => typeof item === 'object' && item !== null
  if (Array.isArray(value) && value.every(isCall)) return value
  throw new EngineFailure('malformed', 'the tool calls of the answer are not a list of calls')
}

/**
 * Joins the pieces of calls: by id, then by index, then by order. One id at several indexes is one call. Calls without
 * ids at one index are several, each beginning with a name once the one before is complete. A piece without a name at
 * an index that nobody knows belongs to the call that is open.
 */
export function createCallJoiner() {
  const calls: (ToolCall & { place: number })[] = []
  const byId = new Map<string, (typeof calls)[number]>()
  const byIndex = new Map<number, (typeof calls)[number]>()

  function callFor({ index, id, function: part }: WireCall): (typeof calls)[number] {
    const same = id ? byId.get(id) : undefined
    if (same) return same
    const known = typeof index === 'number' ? byIndex.get(index) : calls.at(-1)
    const open = known ?? (part?.name ? undefined : calls.at(-1))
    if (open && !begins(id, part?.name, open)) return open
    const call = { id: '', name: '', arguments: '', place: calls.length }
    calls.push(call)
    return call
  }

  return {
    /** Takes pieces; gives what they add. Throws `malformed` for what is no list of calls. */
    add(value: unknown): CallDelta[] {
      return wireCalls(value).map((piece) => {
        const call = callFor(piece)
        const { index, id, type: _type, function: part, ...extra } = piece
        if (typeof index === 'number') byIndex.set(index, call)
        call.id ||= id ?? ''
        if (call.id) byId.set(call.id, call)
        call.name ||= part?.name ?? ''
        const text = textOf(part?.arguments)
        call.arguments += text
        if (Object.keys(extra).length) call.extra = { ...call.extra, ...extra }
        return { place: call.place, name: call.name, arguments: text }
      })
    },

    /** The whole calls. Throws `malformed` for one without a name. */
    calls(): ToolCall[] {
      return calls.map(({ place, ...call }) => {
        if (!call.name) throw new EngineFailure('malformed', 'a tool call of the answer names no tool')
        return { ...call, id: call.id || `call_${place}`, arguments: argumentsOf(call.arguments) }
      })
    },
  }
}

/** Whether a piece begins a new call although `open` stands at its place. */
function begins(id: string | null | undefined, name: string | null | undefined, open: ToolCall): boolean {
  if (id && open.id && name) return true
  return Boolean(name) && open.name !== '' && (name !== open.name || isWhole(open.arguments))
}

function isWhole(text: string): boolean {
  if (!text.trimEnd().endsWith('}')) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Arguments as text; some servers send the object itself instead of JSON text. */
const textOf = (args: unknown): string =>
  typeof args === 'string' ? args : args === null || args === undefined ? '' : JSON.stringify(args)
