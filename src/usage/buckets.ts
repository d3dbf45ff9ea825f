import type { OwnerScope } from '../kernel/caller'
import { cellOf } from './latency'
import type { Grain, UsageRow } from './table'

export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000
export const WIDTHS: Record<Grain, number> = { day: DAY_MS, hour: HOUR_MS, slot: HOUR_MS / 12 }
/** From wide to fine. Slots exist over all keys only: per key and mode there would be about one for every few calls. */
const GRAINS: readonly Grain[] = ['day', 'hour', 'slot']
const KEY_GRAINS: readonly Grain[] = ['day', 'hour']

/** The grains kept for one API key, or over all keys (empty). */
export const grainsOf = (apiKey: string): readonly Grain[] => (apiKey === '' ? GRAINS : KEY_GRAINS)

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
  /** Those of the client errors that were refused before they began; they are not among the requests. */
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
/** `cells` are the latency cells of the answered calls, in lists that several buckets share. */
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

const FIELDS = [
  ...(['requests', 'prompt_tokens', 'completion_tokens', 'cost_micro'] as const),
  ...(['cached', 'client_errors', 'server_errors', 'refused'] as const),
]

export function addSums(into: Sums, from: Sums): void {
  for (const field of FIELDS) into[field] += from[field]
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

/** Adds calls up per bucket: for each grain, over all keys and per key, over all skills and per skill. */
export function createBuckets() {
  const lines = new Map<string, Line>()
  const buckets = new Map<string, Bucket>()

  function lineOf(call: Counted, skills: readonly string[]): Line {
    const { owner, at, api_key_id, mode, resolved_mode, model } = call
    const name = [owner, startOf('slot', at), api_key_id, mode, resolved_mode, model, ...skills].join('\n')
    let line = lines.get(name)
    if (!line) {
      line = { sums: emptySums(), cells: [], buckets: rollupKeysOf(call, skills).map(bucketAt) }
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
      // A failed call's duration says nothing about how long answers take.
      if (call.status < 400) line.cells.push(cellOf(call.latency_ms))
    },

    /** Every bucket with its sums. Call once, at the end: it adds the sums up. */
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

function addCall(into: Sums, call: Counted): void {
  into.requests += 1
  into.prompt_tokens += call.prompt_tokens
  into.completion_tokens += call.completion_tokens
  into.cost_micro += call.cost_micro
  if (call.cached) into.cached += 1
  if (call.status >= 500) into.server_errors += 1
  else if (call.status >= 400) into.client_errors += 1
}

function rollupKeysOf(call: Counted, skills: readonly string[]): RollupKey[] {
  const words = { mode: call.mode ?? '', resolved_mode: call.resolved_mode ?? '', model: call.model ?? '' }
  const keys = call.api_key_id === null ? [''] : ['', call.api_key_id]
  return keys.flatMap((api_key) =>
    grainsOf(api_key).flatMap((grain) =>
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
