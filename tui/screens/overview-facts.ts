import { bar } from '../draw/charts'
import { spellDollars, spellShare } from '../draw/spell'
import type { Need } from './needs'

export type Probe = { status: string; latencyMs: number | null }
export type Mode = {
  mode: string
  per_minute: number
  p50: number | null
  p95: number | null
  error_rate: number
  cost_cents: number
}
type Slot = { requests: number; p95: number | null; error_rate: number; cost_cents: number }
export type Facts = {
  status: { version: string; health: string; started_at: string; database: { latency_ms: number | null } }
  providers: Record<string, Probe>
  infrastructure: Record<string, Probe>
  traffic: {
    per_minute: number
    requests: number[]
    errors: number[]
    p95s: number[]
    recent: Record<string, number> & { p50: number | null; p95: number | null }
  }
  queue: { queued: number; active: number; failed: number; oldest: string | null; total: number }
  delivery: { ok: number; failed: number; retrying: number; slowest_ms: number }
  browser: { open: number; slots: number; longest_ms: number; cap_ms: number }
  spend: {
    cost_cents: number
    cache_rate: number
    saved_cents: number
    cached: number[]
    cap_cents: number | null
    capped_cents: number
    owners: { owner: string; cost_cents: number }[]
    modes: Mode[]
    slot: { now: Slot; day_ago: Slot }
  }
  needs: Need[]
  /** Sources that do not answer now. */
  failing?: string[]
}
/** How much of the caps that owners have for a day is used, as a bar and in words; empty without caps. */
export function capOf({ cap_cents: cap, capped_cents: used }: Facts['spend'], width: number): string {
  if (!cap) return ''
  return `${bar(used / cap, width)} ${spellShare(used / cap)} of ${spellDollars(cap)} cap${width < 20 ? '' : 's'}`
}

const DAY_MS = 86_400_000
/** What the UTC day will have cost if it goes on like this; after its first hour. */
export function forecast({ cost_cents }: Facts['spend'], now: number): string {
  const gone = (now % DAY_MS) / DAY_MS
  return gone < 1 / 24 || !cost_cents ? '' : `  forecast $${Math.round(cost_cents / gone / 100)}`
}
