import { type DestinationStream, pino } from 'pino'
import { collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client'
import type { Traffic } from '../cluster'
import { keyIdOf } from '../kernel/caller'
import { type Clock, iso, systemClock } from '../kernel/clock'
import type { Log } from '../kernel/log'
import type { UsageEntry } from '../usage'
import type { Exchange } from './context'
import type { RouteRules } from './route-rules'

type Deps = {
  log: Log
  clock: Clock
  metrics: Metrics['http']
  rules: Pick<RouteRules, 'shown'>
  traffic: Pick<Traffic, 'note'>
}

export type AccessLog = ReturnType<typeof createAccessLog>

/** The measured facts of a settled call. */
type MeteredCall = Pick<
  UsageEntry,
  | 'mode'
  | 'resolvedMode'
  | 'model'
  | 'status'
  | 'promptTokens'
  | 'completionTokens'
  | 'costMicro'
  | 'cached'
  | 'latencyMs'
  | 'ttftMs'
>

/** Functions that read current values when someone reads the metrics. */
type Readings = {
  breakers(): { engine: string; target: string; open: boolean }[]
  jobs(): Promise<{ queued: number; active: number; oldest: string | null }>
  deliveries(): Promise<{ ok: number; failed: number; retrying: number; off: readonly unknown[] }>
  now(): number
}

const MICRO_PER_CENT = 1_000_000

const BY = ['engine', 'mode'] as const

const SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120]

type Options = { name: string; help: string; labels?: readonly string[]; buckets?: readonly number[] }

/** The counts for one set of labels. For a histogram, `counts` has the number of values per bucket. */
type Row = { labels: Record<string, string>; sum: number; counts: number[] }

type Branch = { row: Row | null; next: Map<string, Branch> }

type Value = { metricName?: string; labels: Record<string, string | number>; value: number }

/** Interval for measuring the delay of the event loop. */
const LAG_EVERY_MS = 1_000
/** Default metrics to omit. Reading them walks the whole heap, and Bun has no such heap spaces. */
const UNTOLD = ['total', 'used', 'available'].map((what) => `nodejs_heap_space_size_${what}_bytes`)

let ofProcess: Registry | undefined

/** Metrics of the process (memory, event loop). Collected once, even if several apps are open in it. */
function processMetrics(): Registry {
  if (ofProcess) return ofProcess
  ofProcess = new Registry()
  // The default precision of ten milliseconds would wake a sleeping server a hundred times a second.
  collectDefaultMetrics({ register: ofProcess, eventLoopMonitoringPrecision: LAG_EVERY_MS })
  for (const name of UNTOLD) ofProcess.removeSingleMetric(name)
  return ofProcess
}

/** All Prometheus metrics, served at `/metrics` on the operator socket. */
export function createMetrics() {
  const registry = new Registry()
  const requests = createTally(registry, {
    name: 'svc_http_requests_total',
    help: 'Requests by method, route pattern and status',
    labels: ['method', 'route', 'status'],
  })
  const seconds = createTally(registry, {
    name: 'svc_http_request_seconds',
    help: 'Time from arrival to the end of the answer, by route pattern, without endless streams',
    labels: ['route'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 30, 120],
  })
  return {
    registry,
    /** With those of the process, which take long to set up. */
    all: () => Registry.merge([processMetrics(), registry]),
    faults: createTally(registry, {
      name: 'svc_unhandled_errors_total',
      help: 'Uncaught errors; each is a bug',
    }),
    engineCalls: createTally(registry, {
      name: 'svc_engine_calls_total',
      help: 'Engine calls by service engine id and outcome',
      labels: ['engine', 'outcome'],
    }),
    storeBatches: createTally(registry, {
      name: 'svc_store_batch_units',
      help: 'Units of work committed together (SQLite)',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    }),
    calls: createCallMetrics(registry),
    http: {
      observe: (method: string, route: string, status: number, duration: number | null) => {
        requests.add(1, method, route, `${status}`)
        if (duration !== null) seconds.add(duration, route)
      },
    },
  }
}

export type Metrics = ReturnType<typeof createMetrics>
/**
 * A counter or, with `buckets`, a histogram. It runs for every request. Unlike those of the package, it hashes no label
 * objects, and creates them only when somebody reads the metrics.
 */
export function createTally(registry: Registry, { name, help, labels = [], buckets }: Options) {
  const rows: Row[] = []
  /** The rows by first label value, then by the second, and so on. A joined key would be a new string. */
  const byLabel: Branch = { row: null, next: new Map() }
  const type = buckets ? 'histogram' : 'counter'
  // Without labels there is one row, which is shown from the start.
  if (!labels.length) rowOf([])
  registry.registerMetric({
    name,
    get: () => Promise.resolve({ name, help, type, values: rows.flatMap(shown) }),
  } as never as Metric)

  return {
    /** Adds to the row of these label values, which must be in the order of `labels`. */
    add(value: number, ...values: string[]): void {
      const row = rowOf(values)
      row.sum += value
      if (!buckets) return
      let place = 0
      while (place < buckets.length && value > buckets[place]!) place++
      row.counts[place]! += 1
    },
  }

  function rowOf(values: readonly string[]): Row {
    let branch = byLabel
    for (const value of values) {
      let next = branch.next.get(value)
      if (!next) {
        next = { row: null, next: new Map() }
        branch.next.set(value, next)
      }
      branch = next
    }
    if (!branch.row) {
      const named = Object.fromEntries(labels.map((label, place) => [label, values[place] ?? '']))
      branch.row = { labels: named, sum: 0, counts: Array.from({ length: (buckets?.length ?? -1) + 1 }, () => 0) }
      rows.push(branch.row)
    }
    return branch.row
  }

  function shown({ labels: own, sum, counts }: Row): Value[] {
    if (!buckets) return [{ labels: own, value: sum }]
    let total = 0
    const upTo = counts.map((count, place) => {
      total += count
      return { metricName: `${name}_bucket`, labels: { le: buckets[place] ?? '+Inf', ...own }, value: total }
    })
    return [
      ...upTo,
      { metricName: `${name}_sum`, labels: own, value: sum },
      { metricName: `${name}_count`, labels: own, value: total },
    ]
  }
}

/** Metrics of calls by engine and mode: tokens, money, cache and times. */
function createCallMetrics(registry: Registry) {
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

/** Gauges of the state at the time of reading: breakers, the queue of jobs, deliveries of the last hour. */
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

const LEVELS = { info: 30, error: 50 } as const

/** Writes the line that `log[level](fields, msg)` would write, for plain values, at a fraction of its cost. */
export function writePlain(log: Log, level: 'info' | 'error', fields: Record<string, Plain>, msg: string): void {
  if (!log.isLevelEnabled(level)) return
  const { [pino.symbols.streamSym]: stream } = log as unknown as Record<symbol, DestinationStream>
  const time = iso(systemClock.now())
  const text = JSON.stringify(fields).slice(1, -1)
  stream!.write(`{"level":${LEVELS[level]},"time":"${time}",${text},"msg":"${msg}"}\n`)
}

type Plain = string | number | boolean | null

/** Writes one log line per request and counts it in the metrics. Never logs headers, bodies or query values. */
export function createAccessLog({ log, clock, metrics, rules, traffic }: Deps) {
  return (exchange: Exchange, status: number, route: string | undefined): void => {
    const { requestId: id, method, caller, errorCode: code, notes, follows } = exchange
    const took = clock.monotonic() - exchange.startedAt
    metrics.observe(method, route ?? 'none', status, follows ? null : took / 1000)
    const path = rules.shown(exchange.path).slice(0, 200)
    const ms = Math.round(took * 10) / 10
    const user = caller?.userId ?? null
    const key = caller && keyIdOf(caller)
    traffic.note({ id, method, path, status, ms, key, user, code, follows })
    const line: Record<string, Plain> = { request_id: id, method, path, status, ms }
    if (caller) {
      line.user = user
      line.key = key
    }
    if (code) line.code = code
    for (const name in notes) line[name] = notes[name]!
    writePlain(log, status >= 500 ? 'error' : 'info', line, 'request')
  }
}
