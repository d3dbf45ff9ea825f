import type { EndReason } from './schema'

/** Contract 16.2, in micro-cents. */
const MICRO = 1_000_000
const PER_MINUTE = 1.5
const PROXY_PER_MB = 1
const MB = 1024 * 1024
/** Credit is held for so many minutes at a time. */
export const HELD_MINUTES = 5

/**
 * What a session costs, in micro-cents: 1.5 cents a minute, by the second, and a cent a MB that went through a proxy,
 * rounded up to the cent.
 */
export function costOf(durationMs: number, proxyBytes: number): number {
  const seconds = Math.max(0, Math.ceil(durationMs / 1_000))
  const cents = (seconds * PER_MINUTE) / 60 + (proxyBytes / MB) * PROXY_PER_MB
  // A sum such as 3.0000000000000004 is three cents.
  return Math.ceil(cents - 1e-9) * MICRO
}

type Times = { started_at: number; expires_at: number; last_active_at: number; keep_alive: boolean }

/** Why a session must end now; null while it may go on. */
export function dueReason(session: Times, now: number, idleMs: number): EndReason | null {
  if (now >= session.expires_at) return 'cap'
  return !session.keep_alive && now >= session.last_active_at + idleMs ? 'idle' : null
}

/** When a session is over: a cap or idle time that passed while nobody looked counts, and nothing after it. */
export function endOf(session: Times & { seen_at: number }, reason: EndReason, now: number, idleMs: number): number {
  if (reason === 'cap') return Math.min(now, session.expires_at)
  if (reason === 'idle') return Math.min(now, session.last_active_at + idleMs, session.expires_at)
  if (reason === 'lost') return Math.min(now, session.seen_at, session.expires_at)
  return Math.min(now, session.expires_at)
}
