import { type Clock, iso } from '../kernel/clock'
import type { Trace, TraceStep } from '../kernel/trace'
import type { Live, LiveMessage } from './live'

/** Counts of one minute. `slow` is a histogram of durations. Its last bucket has all longer ones. */
type Minute = {
  /** Epoch minutes. */
  at: number
  requests: number
  /** 4xx, of which `unpaid` are 402 and `limited` are 429. */
  refused: number
  unpaid: number
  limited: number
  /** 5xx. */
  failed: number
  slow: number[]
}

/** Upper bounds of the buckets in ms, each 1.5 times the one before, up to about 16 minutes. */
const ENDS = Array.from({ length: 35 }, (_, cell) => 1.5 ** cell)

const emptyMinute = (at: number): Minute => ({
  at,
  requests: 0,
  refused: 0,
  unpaid: 0,
  limited: 0,
  failed: 0,
  slow: ENDS.map(() => 0),
})

/** A minute as flat values, to send to other processes. */
const packMinute = ({ slow, ...counts }: Minute) => ({ ...counts, slow: slow.join(',') })

type Deps = {
  clock: Clock
  live: Live
  node: string
  /** The charge of a request in cents; null if there was none. */
  costOf?(requestId: string): number | null
  /** Called for each request that this process has answered. */
  onRequest?(line: RequestLine): void
}

/** One answered request, without any content. */
export type RequestLine = {
  /** Id of the request. */
  id: string
  at: string
  method: string
  path: string
  status: number
  ms: number
  key: string | null
  user: string | null
  code: string | null
  cost_cents: number | null
}

export type Traffic = ReturnType<typeof createTraffic>

const MINUTE_MS = 60_000
const SHOWN_MINUTES = 60
const MAX_LINES = 2_000
/** How long other processes report their requests after an operator looked. */
const WATCHED_MS = 15_000
/** Requests a second that are sent to other processes. The rest is only counted. */
const MAX_LINES_SENT = 50
const [WATCH, LINE, MINUTE] = ['traffic.watch', 'traffic.line', 'traffic.minute']
const RECENT = 5

/**
 * Keeps the newest requests of this process and the counts of the last hour in memory. Sends them to other processes
 * only while an operator watches (`watch`). They are lost when the process ends.
 */
export function createTraffic({ clock, live, node, costOf = () => null, onRequest: tellOn }: Deps) {
  const lines: RequestLine[] = []
  const ownMinutes: Minute[] = []
  const others = new Map<string, Minute[]>()
  let watchedUntil = 0
  let sent = { second: 0, lines: 0 }
  live.subscribe(WATCH, '*', (heard) => {
    if (!heard || heard.id === node) return
    const isNew = clock.now() >= watchedUntil
    watchedUntil = clock.now() + WATCHED_MS
    if (isNew) for (const minute of ownMinutes) live.publish(MINUTE, node, packMinute(minute))
  })
  live.subscribe(LINE, '*', (heard) => heard && heard.node !== node && keep(lineOf(heard)))
  live.subscribe(MINUTE, '*', (heard) => heard && heard.id !== node && receiveMinute(heard))
  return { note, watch, newest, summary }

  /**
   * Counts an ended request. The duration of a stream (`follows`) does not count. Must be fast: every request calls it.
   */
  function note(line: Omit<RequestLine, 'at' | 'cost_cents'> & { follows: boolean }): void {
    const now = clock.now()
    const minute = minuteIn(ownMinutes, Math.floor(now / MINUTE_MS))
    countIn(minute, line.status, line.follows ? null : line.ms)
    const { id, method, path, status, ms, key, user, code } = line
    const whole = { id, at: iso(now), method, path, status, ms, key, user, code, cost_cents: costOf(id) }
    keep(whole)
    if (now < watchedUntil) tell(whole, minute, now)
    tellOn?.(whole)
  }

  /** Tells the other processes to report their requests for `WATCHED_MS`. */
  function watch(): void {
    live.publish(WATCH, node)
  }

  /** Newest first. */
  function newest(limit: number): RequestLine[] {
    return lines.slice(-limit).toReversed()
  }

  /** The last hour by minute, oldest first, and figures of the newest minutes. */
  function summary() {
    const now = clock.now()
    const current = Math.floor(now / MINUTE_MS)
    const all = [ownMinutes, ...others.values()]
    const minutes = Array.from({ length: SHOWN_MINUTES }, (_, ago) => {
      const at = current - SHOWN_MINUTES + 1 + ago
      const sum = emptyMinute(at)
      for (const stored of all) for (const minute of stored) if (minute.at === at) addMinutes(sum, minute)
      return sum
    })
    const recent = emptyMinute(current)
    for (const minute of minutes.slice(-RECENT)) addMinutes(recent, minute)
    // The running minute is completed with a share of the one before.
    const lacking = 1 - (now % MINUTE_MS) / MINUTE_MS
    const [before, running] = minutes.slice(-2) as [Minute, Minute]
    return {
      per_minute: Math.round(before.requests * lacking + running.requests),
      requests: minutes.map(({ requests }) => requests),
      errors: minutes.map(({ refused, failed }) => refused + failed),
      p95s: minutes.map((minute) => percentile(minute, 0.95) ?? 0),
      recent: { ...rates(recent), p50: percentile(recent, 0.5), p95: percentile(recent, 0.95) },
    }
  }

  function keep(line: RequestLine): void {
    lines.push(line)
    // Trims in blocks, because moving two thousand entries for each request would be too slow.
    if (lines.length >= 2 * MAX_LINES) lines.splice(0, lines.length - MAX_LINES)
  }

  function tell({ id, ...line }: RequestLine, minute: Minute, now: number): void {
    const second = Math.floor(now / 1_000)
    if (sent.second !== second) {
      sent = { second, lines: 0 }
      live.publish(MINUTE, node, packMinute(minute))
    }
    if (sent.lines++ < MAX_LINES_SENT) live.publish(LINE, id, { ...line, node })
  }

  function receiveMinute(heard: LiveMessage): void {
    const minute = unpackMinute(heard)
    const from = String(heard.id)
    if (!minute) return
    const stored = others.get(from) ?? []
    others.set(from, stored)
    Object.assign(minuteIn(stored, minute.at), minute)
    const oldest = Math.floor(clock.now() / MINUTE_MS) - SHOWN_MINUTES
    for (const [id, minutes] of others) if ((minutes.at(-1)?.at ?? 0) < oldest) others.delete(id)
  }
}

/** Finds or creates the entry of a minute, and drops entries older than an hour. */
function minuteIn(stored: Minute[], at: number): Minute {
  const last = stored.at(-1)
  if (last?.at === at) return last
  const found = stored.find((minute) => minute.at === at)
  if (found) return found
  const made = emptyMinute(at)
  stored.push(made)
  if (stored.length > SHOWN_MINUTES) stored.shift()
  return made
}

const rates = ({ requests, refused, failed, limited, unpaid }: Minute) => ({
  requests,
  error_rate: requests ? (refused + failed) / requests : 0,
  '4xx': refused / RECENT,
  '429': limited / RECENT,
  '402': unpaid / RECENT,
  '5xx': failed / RECENT,
})

const textOf = (word: unknown): string | null => (typeof word === 'string' ? word : null)

const lineOf = (heard: LiveMessage): RequestLine => ({
  id: String(heard.id),
  at: String(heard.at),
  method: String(heard.method),
  path: String(heard.path),
  status: Number(heard.status),
  ms: Number(heard.ms),
  key: textOf(heard.key),
  user: textOf(heard.user),
  code: textOf(heard.code),
  cost_cents: Number(heard.cost_cents) || null,
})

/** `ms` is null if the duration means nothing, for example of a stream that lasts as long as its reader stays. */
function countIn(minute: Minute, status: number, ms: number | null): void {
  minute.requests += 1
  if (status >= 500) minute.failed += 1
  else if (status >= 400) minute.refused += 1
  if (status === 402) minute.unpaid += 1
  if (status === 429) minute.limited += 1
  if (ms === null) return
  const cell = ENDS.findIndex((end) => ms <= end)
  minute.slow[cell < 0 ? ENDS.length - 1 : cell]! += 1
}

function addMinutes(into: Minute, more: Minute): void {
  into.requests += more.requests
  into.refused += more.refused
  into.unpaid += more.unpaid
  into.limited += more.limited
  into.failed += more.failed
  for (const [cell, count] of more.slow.entries()) if (cell < into.slow.length) into.slow[cell]! += count
}

/** The duration in ms that `share` of the requests did not exceed; null without requests. */
function percentile({ slow }: Minute, share: number): number | null {
  const total = slow.reduce((sum, count) => sum + count, 0)
  let remaining = Math.ceil(total * share)
  if (!remaining) return null
  const cell = slow.findIndex((count) => {
    remaining -= count
    return remaining <= 0
  })
  return Math.round(ENDS[cell]!)
}

/** Null if the message has another form. */
function unpackMinute(heard: Readonly<Record<string, unknown>>): Minute | null {
  const { at, requests, refused, unpaid, limited, failed, slow } = heard
  const counts = [at, requests, refused, unpaid, limited, failed].map(Number)
  const cells = String(slow).split(',').map(Number)
  if ([...counts, ...cells].some((one) => !Number.isSafeInteger(one) || one < 0)) return null
  const [when, all, refusals, payless, over, faults] = counts as [number, number, number, number, number, number]
  return {
    ...{ at: when, requests: all, refused: refusals, unpaid: payless, limited: over, failed: faults },
    slow: ENDS.map((_, cell) => cells[cell] ?? 0),
  }
}

/** A step and its start. */
export type TracedStep = TraceStep & { at: string }

/**
 * The stored steps of a request, five values each: kind, name, ms, end in epoch ms, facts. A flat list of plain values
 * is cheap: every request leaves one, and few are ever read.
 */
type Stored = unknown[]
const PLACES = 5

export type Traces = ReturnType<typeof createTraces>

const MAX_REQUESTS = 2_000
/** A long research has hundreds of steps. The first ones matter most. */
const MAX_STEPS = 200
const [ASK, TRACE] = ['trace.ask', 'trace.told']
/** How long to wait for other processes. */
const PATIENCE_MS = 400
/** Characters of one message between processes, at most. */
const PART = 1_500

/**
 * Keeps the steps of the newest requests of this process in memory. Asks the other processes for a request that they
 * answered, if they still run.
 */
export function createTraces({ clock, live, node }: Pick<Deps, 'clock' | 'live' | 'node'>) {
  const stored = new Map<string, Stored>()
  /** Ids of the stored requests as a ring buffer. A new one replaces the oldest. */
  const ids: string[] = []
  let next = 0
  live.subscribe(ASK, '*', (heard) => heard && heard.node !== node && answer(String(heard.id)))
  return { step, find, own, costOf }

  function step(...[requestId, kind, name, ms, facts]: Parameters<Trace>): void {
    let steps = stored.get(requestId)
    if (!steps) {
      steps = []
      const oldest = ids[next]
      if (oldest !== undefined) stored.delete(oldest)
      ids[next] = requestId
      next = (next + 1) % MAX_REQUESTS
      stored.set(requestId, steps)
    }
    if (steps.length < MAX_STEPS * PLACES) steps.push(kind, name, ms, clock.now(), facts)
  }

  /** The charge of a request of this process in cents; null if there was none. */
  function costOf(requestId: string): number | null {
    const steps = stored.get(requestId) ?? []
    for (let at = steps.length - PLACES; at >= 0; at -= PLACES) {
      const facts = steps[at + PLACES - 1] as TraceStep['facts']
      if (steps[at] === 'settled') return Number(facts?.cost_cents ?? 0) || null
    }
    return null
  }

  /** The steps that this process stored for a request, in the order in which they ended. */
  function own(requestId: string): readonly TracedStep[] {
    return shown(stored.get(requestId) ?? [])
  }

  /** The steps of a request in the order in which they began or were settled. Empty if no process has them. */
  async function find(requestId: string): Promise<TracedStep[]> {
    const local = stored.get(requestId)
    const steps = local ? shown(local) : await fromOthers(requestId)
    return steps.toSorted((a, b) => momentOf(a) - momentOf(b))
  }

  function answer(requestId: string): void {
    const steps = stored.get(requestId)
    if (!steps) return
    const text = JSON.stringify(shown(steps))
    const parts = Math.ceil(text.length / PART)
    for (let part = 0; part < parts; part++)
      live.publish(TRACE, requestId, { node, part, parts, text: text.slice(part * PART, (part + 1) * PART) })
  }

  async function fromOthers(requestId: string): Promise<TracedStep[]> {
    const heard: string[] = []
    const { promise, resolve } = Promise.withResolvers<TracedStep[]>()
    const stop = live.subscribe(TRACE, requestId, (message) => {
      if (!message || message.node === node) return
      heard[Number(message.part)] = String(message.text)
      if (Object.keys(heard).length === Number(message.parts)) resolve(stepsIn(heard))
    })
    const cancel = clock.after(PATIENCE_MS, () => resolve([]))
    try {
      live.publish(ASK, requestId, { node })
      return await promise
    } finally {
      cancel()
      stop()
    }
  }
}

/** Times rounded to a tenth of a millisecond. */
function shown(stored: Stored): TracedStep[] {
  return Array.from({ length: stored.length / PLACES }, (_, index) => {
    const [kind, name, took, endedAt, facts] = stored.slice(index * PLACES) as [
      TraceStep['kind'],
      string,
      number,
      number,
      TraceStep['facts'],
    ]
    const ms = Math.round(took * 10) / 10
    return { kind, name, ms, at: iso(Math.floor(endedAt - ms)), ...(facts && { facts }) }
  })
}

function stepsIn(parts: readonly (LiveMessage[string] & string)[]): TracedStep[] {
  try {
    return JSON.parse(parts.join('')) as TracedStep[]
  } catch {
    return []
  }
}

/** A settled step sorts by its end, because the outcome is known only then. */
const momentOf = ({ kind, at, ms }: TracedStep): number => Date.parse(at) + (kind === 'settled' ? ms : 0)
