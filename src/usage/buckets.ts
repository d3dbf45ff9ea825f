import type { OwnerScope } from '../kernel/caller'
import type { Grain, SpeedRow, UsageRow } from './table'

/**
 * A histogram that can be added up: calls by cell. Up to 128 ms every millisecond has its own cell. Above, a cell is
 * 1/64 of its power of two, so values are off by less than 1 %. The last cell contains everything over 24 days.
 */
export type Histogram = Float64Array

const EXACT = 128

const PER_POWER = 64

const EXACT_POWER = 7

const POWERS = 24

const CELLS = EXACT + POWERS * PER_POWER

const LONGEST_MS = 2 ** (EXACT_POWER + POWERS) - 1

export const noCalls = (): Histogram => new Float64Array(CELLS)

/** Buffer for the encoded bytes. A varint of 2^53 takes eight. */
const written = new Uint8Array(CELLS * 8)

/** The fields of a record that benchmarks use. */
export type Timed = Pick<
  UsageRow,
  'owner' | 'at' | 'mode' | 'resolved_mode' | 'ttft_ms' | 'classified_us' | 'fallback_used'
>

/** The contribution of records to the row of one hour or day and mode. The lists have one histogram cell per call. */
export type Speed = Omit<SpeedRow, 'ttft' | 'classified'> & { ttft: number[]; classified: number[] }

/** The name under which calls without a mode are listed. */
const NO_MODE = 'none'

export const modeOf = ({ mode, resolved_mode }: Pick<UsageRow, 'mode' | 'resolved_mode'>): string =>
  resolved_mode || mode || NO_MODE

export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000
export const WIDTHS: Record<Grain, number> = { day: DAY_MS, hour: HOUR_MS, slot: HOUR_MS / 12, minute: HOUR_MS / 60 }
/** From wide to fine. */
const GRAINS: readonly Grain[] = ['day', 'hour', 'slot', 'minute']

/**
 * The grains stored for one API key, or over all keys (empty string). The finest exists for busy hours only: slots of a
 * key, minutes of all keys. In other hours there would be almost one bucket per call.
 */
export const grainsOf = (apiKey: string, isBusy = false): readonly Grain[] =>
  GRAINS.slice(0, (apiKey === '' ? 3 : 2) + (isBusy ? 1 : 0))

/** The next finer grain. */
export const finerThan = (grain: Grain): Grain => GRAINS[GRAINS.indexOf(grain) + 1] ?? grain

export const startOf = (grain: Grain, at: number): number => Math.floor(at / WIDTHS[grain]) * WIDTHS[grain]

/** Sums over one or more calls. Cost in micro-cents. */
export type Sums = {
  requests: number
  prompt_tokens: number
  completion_tokens: number
  cost_micro: number
  cached: number
  client_errors: number
  server_errors: number
  /** The client errors that were rejected before they began. They are not among the requests. */
  refused: number
}
/** What identifies a bucket. Empty strings as in `usage_rollups`. */
export type RollupKey = {
  owner: OwnerScope
  grain: Grain
  api_key: string
  at: number
  skill: string
  mode: string
  resolved_mode: string
  model: string
}
/** `cells` are the latency cells of the answered calls, in lists shared by several buckets. */
export type Bucket = RollupKey & { sums: Sums; cells: number[][] }

/** The fields of a record that are counted. */
export type Counted = Pick<
  UsageRow,
  | 'id'
  | 'owner'
  | 'at'
  | 'api_key_id'
  | 'mode'
  | 'resolved_mode'
  | 'model'
  | 'status'
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'cost_micro'
  | 'cached'
  | 'latency_ms'
>

/** The columns of a bucket that add up. */
export const SUMS = [
  ...(['requests', 'prompt_tokens', 'completion_tokens', 'cost_micro'] as const),
  ...(['cached', 'client_errors', 'server_errors', 'refused'] as const),
]

/** Adds sums, or subtracts them if `sign` is -1. */
export function addSums(into: Sums, from: Sums, sign = 1): void {
  for (const field of SUMS) into[field] += sign * from[field]
}

export const emptySums = (): Sums => ({
  requests: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cost_micro: 0,
  cached: 0,
  client_errors: 0,
  server_errors: 0,
  refused: 0,
})

/** Calls that go to the same set of buckets. */
type Line = { sums: Sums; cells: number[]; buckets: Bucket[] }

/**
 * Sums calls per bucket: for each grain, over all keys and per key, over all skills and per skill. `isBusy`: whether
 * the hour of a call is a busy one of this key, or of all keys (empty string).
 */
export function createBuckets(isBusy: (call: Counted, apiKey: string) => boolean) {
  const lines = new Map<string, Line>()
  const buckets = new Map<string, Bucket>()

  function lineOf(call: Counted, skills: readonly string[]): Line {
    const { owner, at, api_key_id, mode, resolved_mode, model } = call
    const name = [owner, startOf('slot', at), api_key_id, mode, resolved_mode, model, ...skills].join('\n')
    let line = lines.get(name)
    if (!line) {
      line = {
        sums: emptySums(),
        cells: [],
        buckets: rollupKeysOf(call, skills, (key) => isBusy(call, key)).map(bucketAt),
      }
      lines.set(name, line)
    }
    return line
  }

  function bucketAt(key: RollupKey): Bucket {
    const name = Object.values(key).join('\n')
    let bucket = buckets.get(name)
    if (!bucket) {
      bucket = { ...key, sums: emptySums(), cells: [] }
      buckets.set(name, bucket)
    }
    return bucket
  }

  return {
    count: () => buckets.size,

    add(call: Counted, skills: readonly string[]): void {
      const line = lineOf(call, skills)
      addCall(line.sums, call)
      // The duration of a failed call says nothing about the duration of answers.
      if (call.status < 400) line.cells.push(cellOf(call.latency_ms))
    },

    /** Every bucket with its sums. Call once at the end, because it adds up the sums. */
    all(): Bucket[] {
      for (const { sums, cells, buckets: its } of lines.values())
        for (const bucket of its) {
          addSums(bucket.sums, sums)
          bucket.cells.push(cells)
        }
      return [...buckets.values()]
    },
  }
}

/** Adds one call, or subtracts it if `sign` is -1. */
export function addCall(into: Sums, call: Omit<Counted, 'id' | 'owner' | 'at' | 'api_key_id'>, sign = 1): void {
  into.requests += sign
  into.prompt_tokens += sign * call.prompt_tokens
  into.completion_tokens += sign * call.completion_tokens
  into.cost_micro += sign * call.cost_micro
  if (call.cached) into.cached += sign
  if (call.status >= 500) into.server_errors += sign
  else if (call.status >= 400) into.client_errors += sign
}

type Placed = Pick<Counted, 'owner' | 'at' | 'api_key_id' | 'mode' | 'resolved_mode' | 'model'>

/** The buckets that count a call. */
export function rollupKeysOf(
  call: Placed,
  skills: readonly string[] = [],
  isBusy: (apiKey: string) => boolean = () => false,
): RollupKey[] {
  const words = { mode: call.mode ?? '', resolved_mode: call.resolved_mode ?? '', model: call.model ?? '' }
  const keys = call.api_key_id === null ? [''] : ['', call.api_key_id]
  return keys.flatMap((api_key) =>
    grainsOf(api_key, isBusy(api_key)).flatMap((grain) =>
      ['', ...skills].map((skill) => ({
        owner: call.owner,
        grain,
        api_key,
        at: startOf(grain, call.at),
        skill,
        ...words,
      })),
    ),
  )
}

/** Sums records by owner, hour and day, and mode. Most calls have no benchmark values and create no row. */
export function speedsOf(records: readonly Timed[]): Speed[] {
  const speeds = new Map<string, Speed>()
  for (const record of records) {
    if (record.ttft_ms === null && record.classified_us === null && !record.fallback_used) continue
    for (const grain of ['day', 'hour'] as const) {
      const [owner, at, mode] = [record.owner, startOf(grain, record.at), modeOf(record)]
      const name = [owner, grain, at, mode].join('\n')
      const speed = speeds.get(name) ?? { owner, grain, at, mode, ttft: [], classified: [], failovers: 0 }
      speeds.set(name, speed)
      if (record.ttft_ms !== null) speed.ttft.push(cellOf(record.ttft_ms))
      if (record.classified_us !== null) speed.classified.push(cellOf(record.classified_us))
      if (record.fallback_used) speed.failovers += 1
    }
  }
  return [...speeds.values()]
}

/** The cell of a duration in ms. */
export function cellOf(ms: number): number {
  const whole = Math.min(LONGEST_MS, Math.max(0, Math.round(ms)))
  if (whole < EXACT) return whole
  const power = 31 - Math.clz32(whole)
  return EXACT + (power - EXACT_POWER) * PER_POWER + (whole >>> (power - 6)) - PER_POWER
}

/** Base64 of one varint per cell (seven bits per byte). A zero is followed by the number of empty cells in the run. */
export function encode(histogram: Histogram): string {
  let end = 0
  let empty = 0
  for (let cell = 0; cell < histogram.length; cell++) {
    const calls = histogram[cell]!
    if (calls === 0) {
      empty++
      continue
    }
    if (empty > 0) {
      written[end++] = 0
      end = writeVarint(end, empty)
      empty = 0
    }
    end = writeVarint(end, calls)
  }
  return written.subarray(0, end).toBase64()
}

function writeVarint(start: number, value: number): number {
  let offset = start
  let remaining = value
  for (; remaining > 127; remaining = Math.floor(remaining / 128)) written[offset++] = (remaining % 128) + 128
  written[offset++] = remaining
  return offset
}

/** Adds a histogram that `encode` wrote. Returns the cell after its last one. */
export function addEncoded(into: Histogram, text: string): number {
  const bytes = Uint8Array.fromBase64(text)
  let cell = 0
  for (let offset = 0; offset < bytes.length; ) {
    const isRun = bytes[offset] === 0
    if (isRun) offset++
    let value = bytes[offset]! & 127
    for (let unit = 128; bytes[offset++]! > 127; unit *= 128) value += (bytes[offset]! & 127) * unit
    if (isRun) cell += value
    else into[cell++]! += value
  }
  return cell
}

/**
 * The midpoint of the nearest-rank percentile's cell for each of `ranks`, in ascending order (0.5 is the median). 0
 * without calls. Reads the cells once and without an iterator, because a series has hundreds of histograms. Cells from
 * `end` on must be empty.
 */
export function percentiles(histogram: Histogram, ranks: readonly number[], end = CELLS): number[] {
  let total = 0
  for (let cell = 0; cell < end; cell++) total += histogram[cell]!
  let [cell, passed] = [-1, 0]
  return ranks.map((rank) => {
    const wanted = Math.ceil(rank * total)
    if (wanted <= 0) return 0
    while (passed < wanted) passed += histogram[++cell]!
    if (cell < EXACT) return cell
    const width = 2 ** (Math.floor((cell - EXACT) / PER_POWER) + 1)
    return (PER_POWER + ((cell - EXACT) % PER_POWER)) * width + Math.floor((width - 1) / 2)
  })
}

/** Measurements: histogram cells, those to subtract, and encoded histograms. */
type Measured = { cells: readonly number[]; less: readonly number[]; encoded: readonly string[] }

/** Buffer for the measurements of one bucket at a time. Empty in between. */
const histogram = noCalls()

/** The percentiles of the measurements. Empty without a measurement. */
export function ranksOf({ cells, less, encoded }: Measured, ranks: readonly number[]): number[] {
  if (cells.length === 0 && encoded.every((text) => text === '')) return []
  let end = 0
  for (const text of encoded) end = Math.max(end, addEncoded(histogram, text))
  for (const cell of [...cells, ...less]) end = Math.max(end, cell + 1)
  for (const cell of cells) histogram[cell]! += 1
  for (const cell of less) histogram[cell]! -= 1
  const found = less.length && !histogram.some((calls) => calls > 0) ? [] : percentiles(histogram, ranks, end)
  histogram.fill(0, 0, end)
  return found
}
