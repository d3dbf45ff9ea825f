import type { Json } from '../kernel/samples'
import { bodyOf, pathOf } from './bodies'
import type { Group, Operation, Resolve } from './operations'

/** What "Try it" knows of a route: the call of its samples (dx 5.5). */
export type Call = {
  id: string
  method: string
  path: string
  body?: Json
  keyed: boolean
  streams: boolean
  uploads: boolean
  modes: readonly string[]
  /** The body may name skills of the caller. */
  skills: boolean
  /** Its form is there from the start. */
  opened?: true
}

/** The calls of one page, in its order. */
export const callsOf = ({ operations }: Group, resolve: Resolve): Call[] =>
  operations.map((operation) => {
    const { id, method, credential, streams } = operation
    const body = bodyOf(operation, resolve)
    const modes = modesOf(operation, resolve)
    return {
      id,
      method,
      path: pathOf(operation, resolve),
      ...(body === undefined ? {} : { body }),
      keyed: credential !== null,
      streams: streams && method === 'POST',
      uploads: operation.body?.type === 'multipart/form-data',
      modes,
      skills: streams && modes.length > 0,
    }
  })

function modesOf({ body }: Operation, resolve: Resolve): string[] {
  const mode = body && resolve(body.schema).properties?.mode
  return ((mode && resolve(mode).enum) ?? []) as string[]
}
