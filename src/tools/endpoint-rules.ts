import { invalidInput, messageOf, quoted } from '../kernel/errors'
import { form } from '../kernel/form'
import type { Endpoint } from './endpoint'

const METHODS = ['POST', 'PUT', 'PATCH'] as const
const MAX_HEADERS = 32
const MAX_HEADER_CHARS = 8 * 1024

export const HEADER_NAME = form("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$", 'a header name such as X-Api-Key')
/** Printable characters and tab. A line break would let a value inject another header. */
export const HEADER_VALUE = form('^[\\t\\x20-\\x7e\\x80-\\xff]*$', 'one line of Latin-1 characters')
const NAME = new RegExp(HEADER_NAME)
const VALUE = new RegExp(HEADER_VALUE)

/** Headers that frame or route the message, or identify the sender. Only this server sets them (docs/attacks.md J2). */
const OURS =
  /^(host|connection|keep-alive|content-.*|transfer-encoding|upgrade|te|trailer|expect|accept-encoding|user-agent|forwarded|x-forwarded-.*|via|proxy-.*|svc-.*|webhook-.*)$/i

/** The method of a tool call, default POST. Throws 400 for methods without a body, which carries the arguments. */
export function readMethod(stated: string | undefined, path: string): Endpoint['method'] {
  const method = METHODS.find((known) => known === (stated ?? 'POST').toUpperCase())
  if (method) return method
  throw invalidInput(path, `"${path}" is ${messageOf(stated)}; use POST, PUT or PATCH.`)
}

/**
 * Validates an endpoint's headers and returns them with lower-case names. Throws 400 for too many, malformed or
 * duplicate headers, and for headers that only this server may set.
 */
export function readHeaders(stated: Record<string, string>, path: string): Record<string, string> {
  const entries = Object.entries(stated)
  if (entries.length > MAX_HEADERS) {
    throw invalidInput(path, `"${path}" has ${entries.length} headers; at most ${MAX_HEADERS} are allowed.`)
  }
  const headers: Record<string, string> = {}
  let chars = 0
  for (const [name, value] of entries) {
    const problem = problemWith(name, value, headers)
    if (problem)
      throw invalidInput(`${path}.${quoted(name)}`, `"${path}" has the header ${messageOf(name)}, which ${problem}.`)
    headers[name.toLowerCase()] = value
    chars += name.length + value.length
  }
  if (chars > MAX_HEADER_CHARS) throw invalidInput(path, `"${path}" is larger than ${MAX_HEADER_CHARS} characters.`)
  return headers
}

function problemWith(name: string, value: string, seen: Record<string, string>): string | null {
  if (!NAME.test(name)) return 'is not a header name'
  if (!VALUE.test(value)) return 'has a value with line breaks or control characters'
  if (OURS.test(name)) return 'is set by this server'
  return Object.hasOwn(seen, name.toLowerCase()) ? 'appears twice' : null
}
