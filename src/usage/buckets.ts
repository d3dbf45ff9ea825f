import type { OwnerScope } from '../kernel/caller'
import { addAll, cellOf, count, type Histogram } from './latency'
import type { Grain, UsageRow } from './table'

export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000
const WIDTHS: Record<Grain, number> = { hour: HOUR_MS, day: DAY_MS }

export const startOf = (grain: Grain, at: number): number => Math.floor(at / WIDTHS[grain]) * WIDTHS[grain]

/** What one call or many added up to. Cost in micro-cents. */
export type Sums = {
  requests: number
  prompt_tokens: number
  completion_tokens: number
  cost_micro: number
  cached: number
  client_errors: number
  server_errors: number
}
/** What the calls of a bucket have in common. Empty words as in `usage_rollups`. */
export type Place = {
  owner: OwnerScope
  grain: Grain
  api_key: string
  at: number
  skill: string
  mode: string
  resolved_mode: string
  model: string
}
export type Bucket = Place & Sums & { latency: Histogram }

/** The part of a record that is counted. */
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

export const sumsOf = (row: Counted): Sums => ({
  requests: 1,
  prompt_tokens: row.prompt_tokens,
  completion_tokens: row.completion_tokens,
  cost_micro: row.cost_micro,
  cached: row.cached ? 1 : 0,
  client_errors: row.status >= 400 && row.status < 500 ? 1 : 0,
  server_errors: row.status >= 500 ? 1 : 0,
})

const FIELDS = [
  ...(['requests', 'prompt_tokens', 'completion_tokens', 'cost_micro'] as const),
  ...(['cached', 'client_errors', 'server_errors'] as const),
]

export function addSums(into: Sums, from: Sums): void {
  for (const field of FIELDS) into[field] += from[field]
}

export const nothing = (): Sums => ({
  requests: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cost_micro: 0,
  cached: 0,
  client_errors: 0,
  server_errors: 0,
})

export type Buckets = Map<string, Bucket>

/** Adds one call to every bucket it belongs to: an hour and a day, over all keys and its own, over all skills and each. */
export function addCall(buckets: Buckets, row: Counted, skills: readonly string[]): void {
  const sums = sumsOf(row)
  const cell = cellOf(row.latency_ms)
  const keys = row.api_key_id === null ? [''] : ['', row.api_key_id]
  for (const grain of ['hour', 'day'] as const)
    for (const api_key of keys)
      for (const skill of ['', ...skills]) {
        const bucket = bucketAt(buckets, placeOf(row, grain, api_key, skill))
        addSums(bucket, sums)
        count(bucket.latency, cell, 1)
      }
}

export function merge(into: Bucket, sums: Sums, latency: Iterable<readonly [number, number]>): void {
  addSums(into, sums)
  addAll(into.latency, latency)
}

const placeOf = (row: Counted, grain: Grain, api_key: string, skill: string): Place => ({
  owner: row.owner,
  grain,
  api_key,
  at: startOf(grain, row.at),
  skill,
  mode: row.mode ?? '',
  resolved_mode: row.resolved_mode ?? '',
  model: row.model ?? '',
})

function bucketAt(buckets: Buckets, place: Place): Bucket {
  const name = Object.values(place).join('\n')
  let bucket = buckets.get(name)
  if (!bucket) {
    bucket = { ...place, ...nothing(), latency: new Map() }
    buckets.set(name, bucket)
  }
  return bucket
}
