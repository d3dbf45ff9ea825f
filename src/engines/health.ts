import { type Clock, iso } from '../kernel/clock'
import { createLru } from '../kernel/read-cache'
import type { Trace } from '../kernel/trace'
import type { FailureKind } from './engine'

/**
 * One upstream call, for operators. `ms` is the time to the first byte of a stream, or to the whole answer; 0 if no
 * call was made.
 */
type Attempt = {
  requestId: string | undefined
  mode: string
  target: string
  ms: number
  /** The error, in the upstream's words if they may be shown; null when it answered. */
  error: string | null
}

/** Outcome of a target. `passed over`: not called, because its breaker was open. */
type Outcome = 'answered' | 'passed over' | FailureKind

/** Called after every upstream call, and for each target that was passed over. */
export type Observe = (engineId: string, outcome: Outcome, attempt: Attempt) => void

/** Width of a bucket and of the whole window, in ms. */
export const HEALTH_WINDOWS = {
  '1h': { step: 300_000, span: 3_600_000 },
  '24h': { step: 1_800_000, span: 86_400_000 },
  '7d': { step: 10_800_000, span: 604_800_000 },
} as const
export type HealthWindow = keyof typeof HEALTH_WINDOWS

const SLOT_MS = HEALTH_WINDOWS['1h'].step
const KEPT_MS = HEALTH_WINDOWS['7d'].span
/** Upstreams to remember. If there are more, the one that was called longest ago is dropped. */
const MAX_UPSTREAMS = 200
/** Histogram cells per doubling of a duration, so that percentiles are off by at most 5 %. */
const PER_DOUBLING = 8

/** Calls of one time slot. `cells` counts the answered ones by duration. */
type Slot = { calls: number; errors: number; cells: Map<number, number> }
type Known = { slots: Map<number, Slot>; lastError: { at: number; message: string } | null }

export type UpstreamHealth = ReturnType<typeof createUpstreamHealth>

/** Records how the upstreams answered calls of this process in the last seven days. */
export function createUpstreamHealth(clock: Pick<Clock, 'now'>) {
  const known = new Map<string, Known>()
  return { observer, note, of }

  /** Returns an observer that reports every call to `count` and to the trace of its request. */
  function observer(count: Observe, trace: Trace): Observe {
    return (engine, outcome, attempt) => {
      const { requestId, target, ms, mode, error } = attempt
      if (outcome !== 'passed over') {
        count(engine, outcome, attempt)
        note(target, ms, error)
      }
      if (requestId) trace(requestId, 'engine', target, ms, { engine, mode, outcome, error })
    }
  }

  /** Records a call of a target, `upstream:model`. `error` is null if it was answered. */
  function note(target: string, ms: number, error: string | null): void {
    const name = target.split(':', 1)[0]!
    const found = known.get(name) ?? { slots: new Map<number, Slot>(), lastError: null }
    known.delete(name)
    known.set(name, found)
    if (known.size > MAX_UPSTREAMS) known.delete(known.keys().next().value!)
    const now = clock.now()
    const at = Math.floor(now / SLOT_MS) * SLOT_MS
    const slot = found.slots.get(at) ?? { calls: 0, errors: 0, cells: new Map<number, number>() }
    slot.calls++
    if (error === null) {
      const cell = Math.round(PER_DOUBLING * Math.log2(ms + 1))
      slot.cells.set(cell, (slot.cells.get(cell) ?? 0) + 1)
    } else {
      slot.errors++
      found.lastError = { at: now, message: error }
    }
    if (found.slots.has(at)) return
    found.slots.set(at, slot)
    for (const old of found.slots.keys()) if (old <= at - KEPT_MS) found.slots.delete(old)
  }

  /** The calls of an upstream, bucket by bucket, oldest first. */
  function of(name: string, window: HealthWindow) {
    const { step, span } = HEALTH_WINDOWS[window]
    const end = Math.floor(clock.now() / step) * step + step
    const buckets = Array.from({ length: span / step }, (_, index) => ({
      ...{ at: end - span + index * step, calls: 0, errors: 0, cells: new Map<number, number>() },
    }))
    for (const [at, slot] of known.get(name)?.slots ?? []) {
      const bucket = buckets[Math.floor((at - (end - span)) / step)]
      if (!bucket) continue
      bucket.calls += slot.calls
      bucket.errors += slot.errors
      for (const [cell, count] of slot.cells) bucket.cells.set(cell, (bucket.cells.get(cell) ?? 0) + count)
    }
    const lastError = known.get(name)?.lastError ?? null
    return {
      window,
      buckets: buckets.map(({ at }) => iso(at)),
      calls: buckets.map(({ calls }) => calls),
      errors: buckets.map(({ errors }) => errors),
      p50: buckets.map(({ cells }) => percentileOf(cells, 0.5)),
      p95: buckets.map(({ cells }) => percentileOf(cells, 0.95)),
      last_error: lastError && { at: iso(lastError.at), message: lastError.message },
    }
  }
}

/** The duration in ms that `share` of the calls did not exceed; null without calls. */
function percentileOf(cells: ReadonlyMap<number, number>, share: number): number | null {
  const sorted = [...cells].sort(([a], [b]) => a - b)
  let left = Math.ceil(share * sorted.reduce((sum, [, count]) => sum + count, 0))
  for (const [cell, count] of sorted) {
    left -= count
    if (left <= 0) return Math.round(2 ** (cell / PER_DOUBLING) - 1)
  }
  return null
}

const FAILURES_TO_OPEN = 5

const WINDOW_MS = 60_000

const OPEN_MS = 30_000

type BreakerState = 'closed' | 'open' | 'half-open'

type Breaker = ReturnType<typeof createBreaker>

/** A change of a breaker, for the log. `owner` is null if it affects every owner. */
export type BreakerChange = { state: BreakerState; owner: string | null; why: string }

type Ends = Record<'succeeded' | 'failed' | 'abandoned', (owner: string | undefined, trial: boolean) => void>

/**
 * Permission for one call. Call one of `succeeded`, `failed` and `abandoned` at its end; later ones are ignored. A class,
 * because every call has one.
 */
export class Permit {
  private isOver = false

  constructor(
    private readonly breaker: Ends & { close(): void },
    private readonly owner: string | undefined,
    private readonly trial: boolean,
  ) {}

  /** Call at the first byte, which proves that the upstream works. The call continues. */
  responded(): void {
    if (this.trial) this.breaker.close()
  }

  succeeded(): void {
    this.end('succeeded')
  }

  failed(): void {
    this.end('failed')
  }

  /**
   * For calls that say nothing about the upstream's health: the caller left, or the request was refused or throttled.
   */
  abandoned(): void {
    this.end('abandoned')
  }

  private end(how: keyof Ends): void {
    if (this.isOver) return
    this.isOver = true
    this.breaker[how](this.owner, this.trial)
  }
}

export type TargetBreaker = ReturnType<typeof createTargetBreaker>

type Deps = {
  clock: Pick<Clock, 'monotonic'>
  /** Whether the upstream answers our own probe. Never throws. */
  answers(): Promise<boolean>
  changed(change: BreakerChange): void
}

/** Owners whose failures are remembered. The one that failed longest ago is dropped first. */
const MAX_OWNERS = 10_000
const BETWEEN_PROBES_MS = 5_000
/** How long the trial call of a half-open breaker keeps other calls out, at most. */
const TRIAL_MS = 5_000

/**
 * The circuit breaker of one target (docs/api.md 22.3). Five failures in 60 s open it for 30 s. It opens for every
 * owner if two or more owners saw them or our own probe fails too. Otherwise it opens only for the one owner, whose
 * requests may have caused them.
 */
export function createTargetBreaker({ clock, answers, changed }: Deps) {
  const owners = createLru<string, Breaker>(MAX_OWNERS)
  let failures: { at: number; owner: string | undefined }[] = []
  let openedAt: number | null = null
  let triedAt: number | null = null
  let inFlight = 0
  let probedAt = Number.NEGATIVE_INFINITY
  const breaker = { close, succeeded, failed, abandoned }

  const leftMs = (): number => (openedAt === null ? 0 : Math.max(0, openedAt + OPEN_MS - clock.monotonic()))

  const state = (): BreakerState => {
    if (openedAt === null) return 'closed'
    return leftMs() > 0 ? 'open' : 'half-open'
  }

  return {
    /** The state that applies to all owners. */
    state,

    /** Admitted calls that have not ended. */
    inFlight: () => inFlight,

    /** Milliseconds until this owner's next call may be made; 0 unless it is open. */
    leftMs: (owner?: string): number => Math.max(leftMs(), ownOf(owner)?.leftMs() ?? 0),

    /** The permission for one call of this owner, or null while the breaker is open to them. */
    enter(owner?: string): Permit | null {
      const now = clock.monotonic()
      const shared = state()
      const own = ownOf(owner)
      const busy = shared === 'half-open' && triedAt !== null && now - triedAt < TRIAL_MS
      if (shared === 'open' || busy || (own && !own.admits())) return null
      if (shared === 'half-open') {
        triedAt = now
        changed({ state: 'half-open', owner: null, why: 'one call tests whether it answers again' })
      }
      inFlight++
      return new Permit(breaker, owner, shared === 'half-open')
    },
  }

  function ownOf(owner: string | undefined): Breaker | undefined {
    return owner === undefined ? undefined : owners.get(owner)
  }

  function abandoned(owner: string | undefined, trial: boolean): void {
    inFlight--
    if (trial) triedAt = null
    ownOf(owner)?.abandoned()
  }

  function succeeded(owner: string | undefined, trial: boolean): void {
    inFlight--
    if (failures.length > 0) failures = []
    if (trial) close()
    const own = ownOf(owner)
    if (!own || own.state() === 'open') return
    if (own.state() === 'half-open') changed({ state: 'closed', owner: owner!, why: 'a call was answered' })
    owners.delete(owner!)
  }

  function failed(owner: string | undefined, trial: boolean): void {
    inFlight--
    const now = clock.monotonic()
    failures = [...failures.filter(({ at }) => now - at < WINDOW_MS), { at: now, owner }]
    if (trial) triedAt = null
    if (owner !== undefined) failedFor(owner, trial)
    const current = state()
    const enough = current === 'half-open' ? trial : current === 'closed' && failures.length >= FAILURES_TO_OPEN
    if (!enough) return
    const seenBy = new Set(failures.flatMap((failure) => failure.owner ?? [])).size
    if (seenBy >= 2) open(`${failures.length} calls of ${seenBy} owners failed`)
    else void probe()
  }

  /** A failed trial opens the owner's own breaker, so that another owner's call is the next trial. */
  function failedFor(owner: string, trial: boolean): void {
    const own = owners.get(owner) ?? createBreaker(clock)
    owners.set(owner, own)
    const before = own.state()
    if (before === 'open') return
    if (trial) own.open()
    else own.failed()
    if (own.state() === 'open') changed({ state: 'open', owner, why: 'calls of one owner failed' })
  }

  /** Opens the breaker for all owners if our own probe fails, too. */
  async function probe(): Promise<void> {
    const now = clock.monotonic()
    if (now - probedAt < BETWEEN_PROBES_MS) return
    probedAt = now
    if (!(await answers()) && state() !== 'open') open('calls failed, and so did a probe')
  }

  function open(why: string): void {
    openedAt = clock.monotonic()
    triedAt = null
    failures = []
    changed({ state: 'open', owner: null, why })
  }

  function close(): void {
    if (openedAt === null || state() === 'open') return
    openedAt = null
    triedAt = null
    failures = []
    changed({ state: 'closed', owner: null, why: 'a call was answered' })
  }
}

/**
 * Stops calls to an upstream that keeps failing: 5 failures in 60 s open it for 30 s, then one call at a time probes
 * it. The first success closes it (docs/api.md 22.3). Uses monotonic time, so a clock jump changes nothing.
 */
function createBreaker(clock: Pick<Clock, 'monotonic'>) {
  let failures: number[] = []
  let openedAt: number | null = null
  let probing = false

  const state = (): BreakerState => {
    if (openedAt === null) return 'closed'
    return clock.monotonic() - openedAt < OPEN_MS ? 'open' : 'half-open'
  }

  const open = () => {
    openedAt = clock.monotonic()
    probing = false
    failures = []
  }

  return {
    state,
    open,

    /** Milliseconds until the next call may be made; 0 unless it is open. */
    leftMs: (): number => (openedAt === null ? 0 : Math.max(0, openedAt + OPEN_MS - clock.monotonic())),

    /** Whether one call may be made; after `true`, call `succeeded`, `failed` or `abandoned` exactly once. */
    admits(): boolean {
      const now = state()
      if (now === 'closed') return true
      if (now === 'open' || probing) return false
      probing = true
      return true
    },

    succeeded(): void {
      openedAt = null
      probing = false
      if (failures.length > 0) failures = []
    },

    failed(): void {
      if (openedAt !== null) {
        open()
        return
      }
      const now = clock.monotonic()
      failures = [...failures.filter((at) => now - at < WINDOW_MS), now]
      if (failures.length >= FAILURES_TO_OPEN) open()
    },

    /**
     * For calls that say nothing about the upstream's health: the caller left, or the request was refused or throttled.
     */
    abandoned(): void {
      probing = false
    },
  }
}
