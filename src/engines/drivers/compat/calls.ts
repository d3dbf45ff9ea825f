import { EngineFailure, type ToolCall } from '../../engine'
import { argumentsOf } from '../calls'

/** A call, or a piece of one. */
export type WireCall = {
  index?: number | null
  id?: string | null
  function?: { name?: string | null; arguments?: unknown } | null
}

/** The calls of a message or a delta. Throws `malformed` for anything but a list of objects, or nothing. */
export function wireCalls(value: unknown): WireCall[] {
  if (value === null || value === undefined) return []
  const isCall = (item: unknown) => typeof item === 'object' && item !== null
  if (Array.isArray(value) && value.every(isCall)) return value
  throw new EngineFailure('malformed', 'the tool calls of the answer are not a list of calls')
}

/**
 * Joins the pieces of each call. A stream numbers them by index; with servers that omit the index, or give the
 * same one to every call, a piece with a name begins a new call. Throws `malformed` for a call without a name.
 */
export function readCalls(pieces: readonly WireCall[]): ToolCall[] {
  const calls: ToolCall[] = []
  const places = new Map<number, ToolCall>()
  for (const piece of pieces) {
    const known = typeof piece.index === 'number' ? places.get(piece.index) : calls.at(-1)
    const call = known && !begins(piece, known) ? known : open(calls)
    if (typeof piece.index === 'number') places.set(piece.index, call)
    call.id ||= piece.id ?? ''
    call.name ||= piece.function?.name ?? ''
    call.arguments += textOf(piece.function?.arguments)
  }
  return calls.map(({ id, name, arguments: args }, place) => {
    if (!name) throw new EngineFailure('malformed', 'a tool call of the answer names no tool')
    return { id: id || `call_${place}`, name, arguments: argumentsOf(args) }
  })
}

function open(calls: ToolCall[]): ToolCall {
  const call = { id: '', name: '', arguments: '' }
  calls.push(call)
  return call
}

function begins(piece: WireCall, known: ToolCall): boolean {
  if (!piece.function?.name) return false
  return typeof piece.index === 'number' ? Boolean(piece.id) && piece.id !== known.id : true
}

/** Arguments as text; some servers send the object itself instead of JSON text. */
const textOf = (args: unknown): string =>
  typeof args === 'string' ? args : args === null || args === undefined ? '' : JSON.stringify(args)
