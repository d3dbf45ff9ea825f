import type { Traffic } from '../cluster'
import { keyIdOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { Log } from '../kernel/log'
import type { Exchange } from './context'
import type { HttpMetrics } from './metrics'
import type { RouteRules } from './route-rules'

type Deps = {
  log: Log
  clock: Clock
  metrics: HttpMetrics
  rules: Pick<RouteRules, 'shown'>
  traffic: Pick<Traffic, 'note'>
}

/** Writes one log line per request and counts it in the metrics; never logs headers, bodies or query values (I25). */
export function createAccessLog({ log, clock, metrics, rules, traffic }: Deps) {
  return (exchange: Exchange, status: number, route: string | undefined): void => {
    const { requestId: id, method, caller, errorCode: code, notes, follows } = exchange
    const took = clock.monotonic() - exchange.startedAt
    metrics.observe(method, route ?? 'none', status, follows ? null : took / 1000)
    const path = rules.shown(exchange.path).slice(0, 200)
    const ms = Math.round(took * 10) / 10
    const [user, key] = caller ? [caller.userId, keyIdOf(caller)] : [null, null]
    traffic.note({ id, method, path, status, ms, key, user, code, follows })
    if (!log.isLevelEnabled(status >= 500 ? 'error' : 'info')) return
    const line: Record<string, unknown> = { request_id: id, method, path, status, ms }
    if (caller) {
      line.user = user
      line.key = key
    }
    if (code) line.code = code
    Object.assign(line, notes)
    if (status >= 500) log.error(line, 'request')
    else log.info(line, 'request')
  }
}

export type AccessLog = ReturnType<typeof createAccessLog>
