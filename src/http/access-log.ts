import { keyIdOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { Log } from '../kernel/log'
import type { Traffic } from '../traffic'
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
    const ms = clock.monotonic() - exchange.startedAt
    metrics.observe(exchange.method, route ?? 'none', status, ms / 1000)
    const path = rules.shown(exchange.path).slice(0, 200)
    traffic.note({
      id: exchange.requestId,
      method: exchange.method,
      path,
      status,
      ms: Math.round(ms * 10) / 10,
      key: exchange.caller && keyIdOf(exchange.caller),
      user: exchange.caller?.userId ?? null,
      code: exchange.errorCode,
    })
    if (!log.isLevelEnabled(status >= 500 ? 'error' : 'info')) return
    const line = {
      request_id: exchange.requestId,
      method: exchange.method,
      path,
      status,
      ms: Math.round(ms * 10) / 10,
      ...(exchange.caller ? { user: exchange.caller.userId, key: keyIdOf(exchange.caller) } : {}),
      ...(exchange.errorCode ? { code: exchange.errorCode } : {}),
      ...exchange.notes,
    }
    if (status >= 500) log.error(line, 'request')
    else log.info(line, 'request')
  }
}

export type AccessLog = ReturnType<typeof createAccessLog>
