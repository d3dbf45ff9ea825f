import canonicalize from 'canonicalize'
import type { Caller } from '../kernel/caller'
import type { ChainScope } from './schema'

const MAX_BYTES = 4096

/**
 * A summary as canonical JSON of at most 4 KiB. When it is longer its largest members go first, and
 * `truncated` names them, so a reader knows that something was there.
 */
export function summarise(summary: Record<string, unknown>): string {
  const whole = canonical(summary)
  // A character is at most three bytes, so short texts need no counting.
  return whole.length * 3 <= MAX_BYTES || Buffer.byteLength(whole) <= MAX_BYTES ? whole : truncate(summary)
}

function truncate(summary: Record<string, unknown>): string {
  const bySize = Object.entries(summary)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({ name, size: Buffer.byteLength(canonicalValue(value)) }))
    .sort((a, b) => b.size - a.size)
  const kept = { ...summary }
  const truncated: string[] = []
  for (const { name } of bySize) {
    delete kept[name]
    truncated.push(name)
    const text = canonical({ ...kept, truncated })
    if (Buffer.byteLength(text) <= MAX_BYTES) return text
  }
  return '{}'
}

/**
 * The canonical JSON (RFC 8785) of one summary. Its own members are nearly always plain words and
 * numbers, for which `JSON.stringify` already is canonical; whatever lies deeper goes through the package.
 */
export function canonical(summary: Record<string, unknown>): string {
  let text = ''
  for (const name of Object.keys(summary).sort()) {
    const value = summary[name]
    if (value !== undefined) text += `${text ? ',' : '{'}${JSON.stringify(name)}:${canonicalValue(value)}`
  }
  return text ? `${text}}` : '{}'
}

/** Values whose JSON has one form only, so that the package need not be asked: words, finite numbers, lists of words. */
const isPlain = (value: unknown): boolean => {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string' && item.isWellFormed())
  return typeof value === 'boolean' || value === null
}

/** What has no canonical form (half a surrogate pair, NaN) is made into what has; that is rare, so it is tried last. */
function canonicalValue(value: unknown): string {
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

/** An operator's own acts on no tenant stand in the server's chain; a tenant's in their owner's. */
export function chainOf(caller: Caller): ChainScope {
  if (caller.type === 'operator') return 'server'
  return caller.orgId ? `org:${caller.orgId}` : `user:${caller.userId}`
}

export const orgOf = (scope: ChainScope): string | null => (scope.startsWith('org:') ? scope.slice(4) : null)

/** `POST /completions` as its two words. */
export function splitRoute(route: string): { method: string; endpoint: string } {
  const space = route.indexOf(' ')
  return { method: route.slice(0, Math.max(space, 0)), endpoint: route.slice(space + 1) }
}
