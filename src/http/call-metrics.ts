import { Gauge, type Registry } from 'prom-client'
import { createTally } from './tally'

/** What is counted of a call that was settled. */
export type MeteredCall = {
  mode: string | null
  resolvedMode: string | null
  model: string | null
  status: number
  promptTokens: number
  completionTokens: number
  costMicro: number
  cached: boolean
  latencyMs: number
  ttftMs: number | null
}

/** What is asked of the server when someone reads the metrics. */
export type Readings = {
  breakers(): { engine: string; target: string; open: boolean }[]
  jobs(): Promise<{ queued: number; active: number; oldest: string | null }>
  deliveries(): Promise<{ ok: number; failed: number; retrying: number; off: readonly unknown[] }>
  now(): number
}

const MICRO_PER_CENT = 1_000_000
const BY = ['engine', 'mode'] as const
const SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120]

/** Metrics of calls by engine and mode: tokens, money, cache and times. */
export function createCallMetrics(registry: Registry) {
  const calls = createTally(registry, {
    name: 'svc_calls_total',
    help: 'Settled calls by engine, mode, outcome, and whether the cache answered',
    labels: [...BY, 'outcome', 'cached'],
  })
  const tokens = createTally(registry, {
    name: 'svc_tokens_total',
    help: 'Tokens by engine, mode and kind: prompt or completion',
    labels: [...BY, 'kind'],
  })
  const cost = createTally(registry, {
    name: 'svc_cost_cents_total',
    help: 'Charges in cents, by engine and mode',
    labels: BY,
  })
  const seconds = createTally(registry, {
    name: 'svc_call_seconds',
    help: 'Time of a whole call by engine and mode',
    labels: BY,
    buckets: SECONDS,
  })
  const first = createTally(registry, {
    name: 'svc_first_token_seconds',
    help: 'Time to the first token of a stream by engine and mode',
    labels: BY,
    buckets: SECONDS,
  })

  return function observe(call: MeteredCall): void {
    const engine = call.model || 'none'
    const mode = call.resolvedMode ?? call.mode ?? 'none'
    const outcome = call.status < 400 ? 'answered' : call.status < 500 ? 'refused' : 'failed'
    calls.add(1, engine, mode, outcome, call.cached ? 'yes' : 'no')
    if (call.promptTokens) tokens.add(call.promptTokens, engine, mode, 'prompt')
    if (call.completionTokens) tokens.add(call.completionTokens, engine, mode, 'completion')
    if (call.costMicro > 0) cost.add(call.costMicro / MICRO_PER_CENT, engine, mode)
    seconds.add(call.latencyMs / 1_000, engine, mode)
    if (call.ttftMs !== null) first.add(call.ttftMs / 1_000, engine, mode)
  }
}

/** Gauges of what is so at the moment of reading: breakers, the queue of jobs, deliveries of the last hour. */
export function addReadings(registry: Registry, { breakers, jobs, deliveries, now }: Readings): void {
  const registers = [registry]
  new Gauge({
    name: 'svc_engine_breaker_open',
    help: '1 if a target gets no calls because it keeps failing',
    labelNames: ['engine', 'target'],
    registers,
    collect() {
      this.reset()
      for (const { open, ...by } of breakers()) this.set(by, open ? 1 : 0)
    },
  })
  const oldest = new Gauge({
    name: 'svc_jobs_oldest_queued_seconds',
    help: 'How long the oldest job has waited',
    registers,
  })
  new Gauge({
    name: 'svc_jobs',
    help: 'Jobs by state: queued or active',
    labelNames: ['state'],
    registers,
    async collect() {
      const sums = await jobs()
      this.set({ state: 'queued' }, sums.queued)
      this.set({ state: 'active' }, sums.active)
      oldest.set(sums.oldest === null ? 0 : Math.max(0, (now() - Date.parse(sums.oldest)) / 1_000))
    },
  })
  const off = new Gauge({
    name: 'svc_webhooks_off',
    help: 'Webhooks that were disabled because of failures',
    registers,
  })
  new Gauge({
    name: 'svc_deliveries_hour',
    help: 'Delivery attempts of the last hour by outcome; retrying counts deliveries that wait for another attempt',
    labelNames: ['outcome'],
    registers,
    async collect() {
      const sums = await deliveries()
      this.set({ outcome: 'success' }, sums.ok)
      this.set({ outcome: 'failed' }, sums.failed)
      this.set({ outcome: 'retrying' }, sums.retrying)
      off.set(sums.off.length)
    },
  })
}
