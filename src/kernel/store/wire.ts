import type { SQL } from 'bun'
import { systemClock } from '../clock'
import { randomBase62 } from '../crypto'
import { type Client, connect } from './postgres-line'

/** Immediate messages between the processes of one database. Messages are not stored, so they can get lost. */
export type Wire = {
  /** Rejects when the text cannot be sent. At most 7,000 bytes. */
  send(text: string): Promise<void>
  /**
   * Receives the messages of all processes, this one included, until the returned function is called. `again` is called
   * for each new connection, also the first, because messages sent before it may have been missed.
   */
  hear(text: (text: string) => void, again: () => void): Promise<() => Promise<void>>
  /** True while it receives. Otherwise call `hear` again. */
  hearing(): boolean
}

/** The tables that processes cache. On Postgres, triggers announce each committed change of cached columns. */
export const TRACKED = [
  'api_keys',
  'billing_limits',
  'engine_settings',
  'guardrail_policies',
  'key_secrets',
  'members',
  'memories',
  'orgs',
  'routing_preferences',
  'sessions',
  'skill_installations',
  'skill_versions',
  'skills',
  'user_settings',
  'users',
] as const

export type TrackedTable = (typeof TRACKED)[number]

/** Notifies this process of changes by others in the tables that it caches. It drops its own changes itself. */
export type Changes = {
  /** Calls `clear` whenever another process changed one of these tables, or may have. Then they must be read again. */
  follow(tables: readonly TrackedTable[], clear: () => void): void
  /** The time of a read that begins now, for `holds`. */
  now(): number
  /** True if data read at that time, and not cleared since, may still be used. */
  holds(readAt: number): boolean
}

/** Interval at which a process that uses its caches sends itself a tick, to check that it receives. */
const TICK_MS = 400
const IDLE_TICK_MS = 4_000
/** A node that missed its ticks for this long ignores older entries, so a change takes effect within a second. */
const TRUST_MS = 900
/** A connection that does not deliver a sent tick within this time is dropped. */
const DEAF_MS = 1_000

/** `sendTick` sends a text over the channel `svc_tick_ID` of this process. */
function trackChanges(sendTick: (channel: string, text: string) => Promise<void>) {
  const channel = `svc_tick_${randomBase62(12)}`
  const followers = new Map<string, (() => void)[]>()
  const NEVER = Number.NEGATIVE_INFINITY
  let [usedAt, sentAt, heardAt] = [NEVER, NEVER, NEVER]
  let unheardSince: number | null = null
  let isSending = false
  let stop = () => {}

  const changes: Changes = {
    follow: (tables, clear) => {
      for (const table of tables) followers.set(table, [...(followers.get(table) ?? []), clear])
    },
    now: () => systemClock.monotonic(),
    holds(readAt) {
      usedAt = systemClock.monotonic()
      return usedAt - heardAt < TRUST_MS || usedAt - readAt < TRUST_MS
    },
  }

  function tick(): void {
    stop = systemClock.after(TICK_MS, tick)
    const now = systemClock.monotonic()
    if (isSending || now - sentAt < (now - usedAt < 2 * TICK_MS ? TICK_MS / 2 : IDLE_TICK_MS)) return
    isSending = true
    sentAt = now
    sendTick(channel, String(now))
      .then(
        () => {
          if (heardAt < now) unheardSince ??= systemClock.monotonic()
        },
        () => undefined,
      )
      .finally(() => {
        isSending = false
      })
  }

  return {
    channel,
    changes,
    /** Handles a change of a table, by another process or this one. */
    changed(table: string): void {
      for (const clear of followers.get(table) ?? []) clear()
    },
    /** Handles a tick. Everything committed before it was sent has been received. */
    ticked(text: string): void {
      heardAt = Math.max(heardAt, Number(text) || 0)
      unheardSince = null
    },
    /** Handles a new connection. Changes committed before it may have been missed. */
    renewed(): void {
      unheardSince = null
      for (const clear of new Set([...followers.values()].flat())) clear()
    },
    isDeaf: () => unheardSince !== null && systemClock.monotonic() - unheardSince > DEAF_MS,
    start(): void {
      stop()
      ;[sentAt, unheardSince] = [NEVER, null]
      tick()
    },
    stop: () => stop(),
  }
}

const CHANNEL = 'svc_live'
/** Channel of the triggers. Their message is the name of a table. */
const CHANGES = 'svc_changed'
/** Ticks need not be durable. */
const TICK = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)"
const LISTEN_MS = 2_000

/**
 * Messages over LISTEN and NOTIFY. `client` sends. A separate connection receives; it is opened on first use and
 * reconnects by itself. `drop` closes it.
 */
export function createPostgresWire(url: string, client: Client) {
  let ear: SQL | null = null
  let hears = false
  const tracked = trackChanges(async (channel, text) => void (await client.rows(TICK, [channel, text])))

  const drop = (): void => {
    const gone = ear
    ear = null
    hears = false
    tracked.stop()
    void gone?.close({ timeout: 0 }).catch(() => undefined)
  }

  const wire: Wire = {
    async send(text) {
      await client.rows('SELECT pg_notify($1, $2)', [CHANNEL, text])
    },
    async hear(text, again) {
      drop()
      const mine = connect(url)
      ear = mine
      /** Ignores messages of a connection that was dropped. */
      const ofMine =
        <A extends unknown[]>(hear: (...said: A) => void) =>
        (...said: A) =>
          ear === mine && hear(...said)
      const over = new AbortController()
      const late = systemClock.sleep(LISTEN_MS, over.signal).then(() => {
        if (!over.signal.aborted && ear === mine) drop()
      })
      try {
        await mine.listen(CHANGES, ofMine(tracked.changed), ofMine(tracked.renewed))
        await mine.listen(tracked.channel, ofMine(tracked.ticked))
        await mine.listen(CHANNEL, ofMine(text), again)
      } finally {
        over.abort()
      }
      await late
      hears = ear === mine
      if (hears) tracked.start()
      return async () => {
        if (ear === mine) drop()
      }
    },
    hearing() {
      if (hears && tracked.isDeaf()) drop()
      return hears
    },
  }
  return { wire, changes: tracked.changes, drop }
}
