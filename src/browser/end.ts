import { defineEvent } from '../events'
import type { Call, Caller } from '../kernel/caller'
import { microToCents } from '../kernel/money'
import type { Tx } from '../kernel/store'
import type { Deps } from './deps'
import { sessionRepository as rows } from './repository'
import type { BrowserSessionId, EndReason, SessionEnd } from './schema'
import type { SessionRow } from './table'

type SessionEnded = {
  session_id: string
  reason: string
  duration_seconds: number
  proxy_bytes: number
  cost_cents: number
}

/** docs/api.md 14.2. */
const sessionEnded = defineEvent<SessionEnded>('browser.session_ended')

/** Prices of docs/api.md 16.2, in micro-cents. */
const MICRO = 1_000_000
const PER_MINUTE = 1.5
const PROXY_PER_MB = 1
const MB = 1024 * 1024
/** Credit is reserved for this many minutes at a time. */
export const HELD_MINUTES = 5

/** Cost in micro-cents: 1.5 cents a minute, by the second, plus 1 cent per MB by proxy, rounded up to cents. */
export function costOf(durationMs: number, proxyBytes: number): number {
  const seconds = Math.max(0, Math.ceil(durationMs / 1_000))
  const cents = (seconds * PER_MINUTE) / 60 + (proxyBytes / MB) * PROXY_PER_MB
  // Removes floating-point noise: 3.0000000000000004 counts as three cents.
  return Math.ceil(cents - 1e-9) * MICRO
}

type Times = { started_at: number; expires_at: number; last_active_at: number; keep_alive: boolean }

/** Maximum idle time of a session. */
export const idleMsOf = ({ settings }: Pick<Deps, 'settings'>): number => settings.browserSessionIdleSeconds * 1_000

/** Why a session must end now. Null while it may continue. */
export function dueReason(session: Times, now: number, idleMs: number): EndReason | null {
  if (now >= session.expires_at) return 'cap'
  return !session.keep_alive && now >= session.last_active_at + idleMs ? 'idle' : null
}

/** The time at which a session ended. A cap or idle limit that passed unnoticed counts, and no time after it. */
function endOf(session: Times & { seen_at: number }, reason: EndReason, now: number, idleMs: number): number {
  if (reason === 'cap') return Math.min(now, session.expires_at)
  if (reason === 'idle') return Math.min(now, session.last_active_at + idleMs, session.expires_at)
  if (reason === 'lost') return Math.min(now, session.seen_at, session.expires_at)
  return Math.min(now, session.expires_at)
}

/** A session as shown in the answer to its end. */
export const endedView = (row: SessionRow): SessionEnd => ({
  session_id: row.id,
  duration_seconds: Math.ceil(((row.ended_at ?? row.started_at) - row.started_at) / 1_000),
  proxy_bytes: row.proxy_bytes,
  cost_cents: microToCents(row.cost_micro),
})

/**
 * Ends a session in a transaction, once: charges its time, records its end and emits the event. Returns the ended row,
 * or undefined if it had already ended. `call` is the call that ended it, null for the server itself.
 */
export async function endSession(
  deps: Pick<Deps, 'clock' | 'audit' | 'events' | 'billing' | 'usage' | 'settings'>,
  tx: Tx,
  id: BrowserSessionId,
  reason: EndReason,
  { bytes, call = null }: { bytes: number | null; call?: Call<Caller> | null },
): Promise<SessionRow | undefined> {
  const { clock, audit, events, billing, usage } = deps
  const row = await rows.lock(tx, id)
  if (!row) return undefined
  const endedAt = Math.max(row.started_at, endOf(row, reason, clock.now(), idleMsOf(deps)))
  const proxyBytes = row.proxies ? (bytes ?? row.proxy_bytes) : 0
  const cost = costOf(endedAt - row.started_at, proxyBytes)
  const charged = row.hold ? await billing.settle(tx, row.hold, cost) : 0
  const change = { reason, ended_at: endedAt, proxy_bytes: proxyBytes, cost_micro: charged, hold: null }
  await rows.end(tx, id, change)
  const ended: SessionRow = { ...row, ...change, state: 'ended' }
  const { session_id, ...facts } = endedView(ended)
  const isOperators = call?.caller.type === 'operator'
  const entry = {
    action: 'browser.session_ended',
    entityType: 'browser_session' as const,
    entityId: id,
    ...(isOperators ? { scope: row.owner } : {}),
    input: { metadata: { reason } },
    output: { cost_cents: facts.cost_cents },
  }
  const about = { scope: row.owner, requestId: row.request_id, userId: row.user_id, keyId: row.key_id }
  if (call) await audit.record(tx, call, entry)
  else await audit.recordUnattended(tx, about, entry)
  await usage.record(tx, { ...usageOf(ended, call?.requestId ?? row.request_id), paidBy: row.hold?.ref })
  await events.emit(
    tx,
    sessionEnded,
    row.owner,
    { session_id, reason, ...facts },
    ...(call && !isOperators ? [call as Call] : []),
  )
  return ended
}

const usageOf = (row: SessionRow, requestId: string) => ({
  requestId,
  owner: row.owner,
  userId: row.user_id,
  keyId: row.key_id,
  endpoint: '/browser/sessions',
  mode: null,
  resolvedMode: null,
  model: null,
  status: 200,
  promptTokens: 0,
  completionTokens: 0,
  costMicro: row.cost_micro,
  cached: false,
  latencyMs: 0,
  ttftMs: null,
  fallbackUsed: false,
})
