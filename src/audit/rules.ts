import canonicalize from 'canonicalize'
import type { Caller } from '../kernel/caller'
import type { ChainScope } from './schema'

const MAX_BYTES = 4096

/**
 * A summary as canonical JSON of at most 4 KiB. The largest members of a longer one are dropped, and `truncated`
 * lists their names.
 */
export function summarise(summary: Record<string, unknown>): string {
  const whole = canonical(summary)
  // A UTF-16 unit takes at most three bytes in UTF-8, so short texts need no byte count.
  return whole.length * 3 <= MAX_BYTES || Buffer.byteLength(whole) <= MAX_BYTES ? whole : truncate(summary)
}

function truncate(summary: Record<string, unknown>): string {
  const bySize = Object.entries(summary)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({ name, size: Buffer.byteLength(canonicalValue(value)) }))
    .sort((a, b) => b.size - a.size)
  const stored = { ...summary }
  const truncated: string[] = []
  for (const { name } of bySize) {
    delete stored[name]
    truncated.push(name)
    const text = canonical({ ...stored, truncated })
    if (Buffer.byteLength(text) <= MAX_BYTES) return text
  }
  return '{}'
}

/**
 * The canonical JSON (RFC 8785) of one summary. Most values are plain strings and numbers, for which
 * `JSON.stringify` is already canonical; nested ones go through the `canonicalize` package.
 */
export function canonical(summary: Record<string, unknown>): string {
  let text = ''
  for (const name of Object.keys(summary).sort()) {
    const value = summary[name]
    if (value !== undefined)
      text += `${text ? ',' : '{'}${/^\w+$/.test(name) ? `"${name}"` : JSON.stringify(name)}:${canonicalValue(value)}`
  }
  return text ? `${text}}` : '{}'
}

/** Whether `JSON.stringify` already gives the canonical form: well-formed strings, finite numbers, lists of strings. */
const isPlain = (value: unknown): boolean => {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string' && item.isWellFormed())
  return typeof value === 'boolean' || value === null
}

/** Values without a canonical form (lone surrogates, NaN) are repaired first. They are rare, so the repair runs last. */
function canonicalValue(value: unknown): string {
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return `${value}`
  if (isPlain(value)) return JSON.stringify(value)
  try {
    return canonicalize(value) ?? 'null'
  } catch {
    return canonicalize(wellFormed(value)) ?? 'null'
  }
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (Array.isArray(value)) return value.map(wellFormed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), wellFormed(member)]))
}

/** The chain an event goes to: the server's for an operator, otherwise that of the key's org or of the user. */
export function chainOf(caller: Caller): ChainScope {
  if (caller.type === 'operator') return 'server'
  return caller.orgId ? `org:${caller.orgId}` : `user:${caller.userId}`
}

export const orgOf = (scope: ChainScope): string | null => (scope.startsWith('org:') ? scope.slice(4) : null)

/** Splits `POST /completions` into method and endpoint. */
export function splitRoute(route: string): { method: string; endpoint: string } {
  const space = route.indexOf(' ')
  return { method: route.slice(0, Math.max(space, 0)), endpoint: route.slice(space + 1) }
}
