import { collectDefaultMetrics, Registry } from 'prom-client'
import { createCallMetrics } from './call-metrics'
import { createTally } from './tally'

/** How often the delay of the event loop is looked at. */
const LAG_EVERY_MS = 1_000
/** Default metrics that are left out: reading them walks the whole heap, and Bun has no such heap spaces. */
const UNTOLD = ['total', 'used', 'available'].map((what) => `nodejs_heap_space_size_${what}_bytes`)

let ofProcess: Registry | undefined

/** Metrics of the process (memory, event loop): collected once, however many apps are opened in it. */
function processMetrics(): Registry {
  if (ofProcess) return ofProcess
  ofProcess = new Registry()
  // Its own ten milliseconds would wake a sleeping server a hundred times a second.
  collectDefaultMetrics({ register: ofProcess, eventLoopMonitoringPrecision: LAG_EVERY_MS })
  for (const name of UNTOLD) ofProcess.removeSingleMetric(name)
  return ofProcess
}

/** All Prometheus metrics, served at `/metrics` on the operator socket. */
export function createMetrics() {
  const registry = Registry.merge([processMetrics()])
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
export type HttpMetrics = Metrics['http']
