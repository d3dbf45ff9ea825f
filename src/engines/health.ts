import { type Clock, iso } from '../kernel/clock'

/** Widths of a bucket and of the whole, in ms. */
export const HEALTH_WINDOWS = {
  '1h': { step: 300_000, span: 3_600_000 },
  '24h': { step: 1_800_000, span: 86_400_000 },
  '7d': { step: 10_800_000, span: 604_800_000 },
} as const
export type HealthWindow = keyof typeof HEALTH_WINDOWS

const SLOT_MS = HEALTH_WINDOWS['1h'].step
const KEPT_MS = HEALTH_WINDOWS['7d'].span
/** Upstreams that are remembered; of more the one that was called longest ago is forgotten. */
const MAX_UPSTREAMS = 200
/** Cells for each doubling of a duration, so that percentiles are off by at most 5 %. */
const PER_DOUBLING = 8

/** Calls of a time; `cells` counts the answered ones by duration. */
type Slot = { calls: number; errors: number; cells: Map<number, number> }
type Known = { slots: Map<number, Slot>; lastError: { at: number; message: string } | null }

export type UpstreamHealth = ReturnType<typeof createUpstreamHealth>

/** How the upstreams answered in the last seven days, as far as this process called them since it started. */
export function createUpstreamHealth(clock: Pick<Clock, 'now'>) {
  const known = new Map<string, Known>()
  return { note, of }

  /** One call of a target, which is named `upstream:model`; `error` is null where it was answered. */
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

/** The duration in ms that a share of the calls did not exceed; null without calls. */
function percentileOf(cells: ReadonlyMap<number, number>, share: number): number | null {
  const sorted = [...cells].sort(([a], [b]) => a - b)
  let left = Math.ceil(share * sorted.reduce((sum, [, count]) => sum + count, 0))
  for (const [cell, count] of sorted) {
    left -= count
    if (left <= 0) return Math.round(2 ** (cell / PER_DOUBLING) - 1)
  }
  return null
}
