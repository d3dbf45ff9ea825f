import type { Clock } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { type Loop, startLoop } from '../kernel/loop'
import type { Deps } from './deps'
import { costOf, dueReason, endSession, HELD_MINUTES, idleMsOf } from './end'
import { sessionRepository as rows } from './repository'
import type { EndReason } from './schema'
import { hasAccess } from './sessions'
import type { SessionRow } from './table'

const TICK_MS = 1_000
/** Interval while no other process could request a session of this one. Longer, so that an idle server sleeps. */
const NONE_MS = 5_000
const LONGEST_NAP_MS = 5_000
const SEEN_MS = 5_000
/** A session must end within seconds after its holder loses access, like answers. */
const ACCESS_MS = 2_000
const BATCH = 50

const placeOf = ({ owner, holder }: SessionRow): string => `${owner} ${holder}`

/**
 * Ends sessions of this process, and those whose process died (docs/promises.md I34, docs/attacks.md N16, N17), when a
 * cap, idle time, credit or access runs out. Charges a session of a dead process until that process was last seen.
 * `answerCalls` polls for calls of other processes, in case the wire lost a message. Returns the number of ended
 * sessions.
 */
export function createWatch(deps: Deps, answerCalls: () => Promise<unknown>) {
  const { store, clock, node, billing, host } = deps
  let lastLooked = 0
  let lastSeen = 0
  let pauseMs = TICK_MS

  async function finish(row: SessionRow, reason: EndReason): Promise<void> {
    const bytes = host.find(row.id) ? host.bytesOf(row.id) : null
    await store.write((tx) => endSession(deps, tx, row.id, reason, { bytes }))
    await host.end(row.id, reason)
  }

  /** Reserves credit for the next minutes before the current one is used up. False when it does not suffice. */
  async function covered(row: SessionRow, now: number): Promise<boolean> {
    if (!row.hold) return true
    const bytes = row.proxies ? host.bytesOf(row.id) : 0
    const soon = costOf(Math.min(now + 60_000, row.expires_at) - row.started_at, bytes)
    if (soon <= row.hold.amount) return true
    const more = costOf(HELD_MINUTES * 60_000, 0) + Math.max(0, soon - row.hold.amount)
    try {
      return await store.write(async (tx) => {
        const held = await rows.lock(tx, row.id)
        if (held?.hold) await rows.change(tx, row.id, { hold: await billing.extend(tx, held.hold, row.caps, more) })
        return true
      })
    } catch (error) {
      if (error instanceof AppError && error.code === 'insufficient_credits') return false
      throw error
    }
  }

  /** The holders of these sessions that may no longer use this server, whichever process made the change. */
  async function stopped(own: readonly SessionRow[], now: number): Promise<Set<string>> {
    const found = new Set<string>()
    if (now - lastLooked < ACCESS_MS) return found
    lastLooked = now
    for (const row of new Map(own.map((one) => [placeOf(one), one])).values()) {
      if (!(await hasAccess(deps, row))) found.add(placeOf(row))
    }
    return found
  }

  return Object.assign(tick, { pauseMs: () => pauseMs })

  async function tick(): Promise<number> {
    const now = clock.now()
    let ended = 0
    const own = await rows.ofNode(store.read, node)
    const isRequested = own.length > 0 || pauseMs === TICK_MS
    if (store.dialect === 'postgres' && isRequested) await answerCalls()
    const over = await stopped(own, now)
    for (const row of own) {
      const session = host.find(row.id)
      const last_active_at = Math.max(row.last_active_at, session?.lastActive ?? 0)
      const due =
        dueReason({ ...row, last_active_at }, now, idleMsOf(deps)) ?? (over.has(placeOf(row)) ? 'access' : null)
      const reason = due ?? ((await covered(row, now)) ? null : 'credits')
      if (!reason) {
        const viewers = session?.viewers ?? row.viewers
        if (viewers !== row.viewers) await note(row, { viewers })
        continue
      }
      if (session && session.lastActive > row.last_active_at) await note(row, { last_active_at: session.lastActive })
      await finish(row, reason)
      ended += 1
    }
    const open = new Set(own.map(({ id }) => id))
    // Another process ended the session's row, but its browser still runs here.
    for (const [id] of host.open) {
      const row = open.has(id) ? undefined : await rows.find(store.read, null, id)
      if (row?.state === 'ended') await host.end(id, row.reason ?? 'call')
    }
    await host.trim().catch(() => 0)
    pauseMs = open.size ? TICK_MS : NONE_MS
    if (open.size && now - lastSeen >= SEEN_MS) {
      lastSeen = now
      await store.write((tx) => rows.seen(tx, [...open], now))
    }
    for (const row of await rows.lost(store.read, { node, now, limit: BATCH })) {
      if (row.node === node) continue
      await finish(row, now >= row.expires_at && row.seen_at >= row.expires_at - 2 * SEEN_MS ? 'cap' : 'lost')
      ended += 1
    }
    return ended
  }

  function note(row: SessionRow, news: Partial<SessionRow>): Promise<boolean> {
    return store.write((tx) => rows.change(tx, row.id, news))
  }
}

export const startWatchLoop = (
  watch: ReturnType<typeof createWatch>,
  { clock, onError }: { clock: Clock; onError(name: string, error: unknown): void },
): Loop => {
  const tick = async () => {
    await watch()
    return 0
  }
  const pace = { idleMs: watch.pauseMs, longestNapMs: LONGEST_NAP_MS }
  return startLoop({ name: 'browser-sessions', ...pace, clock, onError, tick })
}
