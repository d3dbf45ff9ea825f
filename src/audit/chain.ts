import canonicalize from 'canonicalize'
import type { Caller } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { sha256Hex } from '../kernel/crypto'
import { parsedJson } from '../kernel/json'
import type { AuditEvent, ChainScope } from './schema'
import type { AuditEventRow } from './table'

const MAX_BYTES = 4096

/** Whether `JSON.stringify` returns the canonical form: well-formed strings, finite numbers, string lists, nothing. */
const isPlain = (value: unknown): boolean => {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every(isPlainText)
  return typeof value === 'boolean' || value === null || value === undefined
}

const isPlainText = (value: unknown): boolean => typeof value === 'string' && value.isWellFormed()

export const orgOf = (scope: ChainScope): string | null => (scope.startsWith('org:') ? scope.slice(4) : null)

/** `prev_hash` of the first event of a chain. */
export const GENESIS = '0'.repeat(64)

/** The last event that a chain check has verified. */
export type End = { seq: number; hash: string; at: number }

export const START: End = { seq: 0, hash: GENESIS, at: 0 }

export const endOf = ({ seq, hash, at }: AuditEventRow): End => ({ seq, hash, at })

type HashedFields = Omit<AuditEventRow, 'hash' | 'scope' | 'seq' | 'mode' | 'status'>

/**
 * The event without `hash` as canonical JSON (RFC 8785), with the summaries inserted as the canonical text in which
 * they are stored. Written by hand because it runs once per request. A test compares it with the `canonicalize`
 * package.
 */
export const canonicalEvent = (row: HashedFields): string =>
  `{"action":${text(row.action)},"apiKeyId":${text(row.api_key_id)},"entityId":${text(row.entity_id)},` +
  `"entityType":${text(row.entity_type)},"id":${text(row.id)},"inputSummary":${row.input},` +
  `"orgId":${text(row.org_id)},"outputSummary":${row.output},"prevHash":${text(row.prev_hash)},` +
  `"requestId":${text(row.request_id)},"timestamp":${text(iso(row.at))},"userId":${text(row.user_id)}}`

const text = (value: string | null): string => JSON.stringify(value)

/** `SHA-256(prevHash + canonical JSON of the event without hash)`, in hex (docs/api.md 19). */
export const hashOf = (row: HashedFields): string => sha256Hex(row.prev_hash + canonicalEvent(row))

/** The one place where a stored row is turned into a public event. */
export const present = (row: AuditEventRow): AuditEvent => ({
  id: row.id,
  action: row.action,
  entityType: row.entity_type,
  entityId: row.entity_id,
  userId: row.user_id,
  timestamp: iso(row.at),
  inputSummary: JSON.parse(row.input),
  outputSummary: JSON.parse(row.output),
  orgId: row.org_id,
  apiKeyId: row.api_key_id,
  requestId: row.request_id,
  prevHash: row.prev_hash,
  hash: row.hash,
})

/** The faults of one event, given the one before it: phrases for a message, empty when the event is valid. */
export function faultsOf(row: AuditEventRow, before: End): string[] {
  const faults: string[] = []
  if (row.seq !== before.seq + 1) faults.push(`follows #${before.seq}`)
  if (row.prev_hash !== before.hash) faults.push('prevHash is not the hash before it')
  if (row.at < before.at) faults.push('is older than the event before it')
  if (row.hash !== hashOf(row)) faults.push('its hash does not match its content')
  if (!columnsMatch(row)) faults.push('its mode or status column is not what its summaries say')
  return faults
}

/** The filter columns copy members of the summaries. They may differ only where truncation removed the member. */
function columnsMatch(row: AuditEventRow): boolean {
  const [input, output] = [membersOf(row.input), membersOf(row.output)]
  const mode = input.mode ?? (input.truncated ? row.mode : null)
  const status = output.status ?? (output.truncated ? row.status : null)
  return mode === row.mode && status === row.status
}

const membersOf = (summary: string): Record<string, unknown> => (parsedJson(summary) ?? {}) as Record<string, unknown>

/** A summary as canonical JSON of at most 4 KiB. Drops the largest members of longer ones, listed in `truncated`. */
export function summarise(summary: Record<string, unknown>): string {
  const fullText = canonical(summary)
  // A UTF-16 unit takes at most three bytes in UTF-8, so short texts need no byte count.
  return fullText.length * 3 <= MAX_BYTES || Buffer.byteLength(fullText) <= MAX_BYTES ? fullText : truncate(summary)
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
 * The canonical JSON (RFC 8785) of one summary. Most values are plain strings and numbers, for which `JSON.stringify`
 * is already canonical. Nested values go through the `canonicalize` package.
 */
export function canonical(summary: Record<string, unknown>): string {
  let last = ''
  for (const name in summary) {
    if (name < last || !isPlain(summary[name])) return membersInOrder(summary)
    last = name
  }
  return JSON.stringify(summary)
}

function membersInOrder(summary: Record<string, unknown>): string {
  const names = Object.keys(summary).filter((name) => summary[name] !== undefined)
  return `{${names.sort().map((name) => `${JSON.stringify(name)}:${canonicalValue(summary[name])}`)}}`
}

/** Repairs values without a canonical form (lone surrogates, NaN) first. They are rare, so the repair runs last. */
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

/** The chain an event belongs to: the server's for an operator, otherwise that of the key's org or of the user. */
export function chainOf(caller: Caller): ChainScope {
  if (caller.type === 'operator') return 'server'
  return caller.orgId ? `org:${caller.orgId}` : `user:${caller.userId}`
}

type Route = { readonly method: string; readonly endpoint: string }

/** There are only as many as the server has routes, because a route never contains the values in its path. */
const routes = new Map<string, Route>()

/** Splits `POST /completions` into method and endpoint. */
export function splitRoute(route: string): Route {
  const known = routes.get(route)
  if (known) return known
  const space = route.indexOf(' ')
  const split = { method: route.slice(0, Math.max(space, 0)), endpoint: route.slice(space + 1) }
  routes.set(route, split)
  return split
}
