import { clean } from '../../src/kernel/text'
import type { Result } from './check'

/** What monitors call the states: the exit code of their plug-ins is the place in this list. */
const STATES = ['OK', 'WARNING', 'CRITICAL'] as const
const LEVELS = { ok: 0, skip: 0, warn: 1, fail: 2 } as const

/** One line for Nagios and its kin, then the evidence of what is wrong; `code` is the exit code that they expect. */
export function nagiosOf(results: readonly Result[]): { lines: string[]; code: 0 | 1 | 2 } {
  const code = Math.max(0, ...results.map(({ status }) => LEVELS[status])) as 0 | 1 | 2
  const count = (status: Result['status']) => results.filter((one) => one.status === status).length
  const wrong = results.filter(({ status }) => LEVELS[status] > 0)
  const counts = (['ok', 'warn', 'fail', 'skip'] as const).map((status) => `${status}=${count(status)}`)
  const named = wrong.length ? wrong.map(({ check }) => check).join(', ') : `${count('ok')} checks`
  // A bar divides what people read from what is drawn.
  const notices = wrong.map(({ check, status, detail }) => `${check} ${status}: ${detail.replaceAll('|', '/')}`)
  return { lines: [`SVC ${STATES[code]} - ${named} | ${counts.join(' ')}`, ...notices].map(clean), code }
}

/** Gauges for a textfile collector: 0 is ok, 1 warn, 2 fail; what was skipped has none. */
export function prometheusOf(results: readonly Result[]): string[] {
  const ran = results.filter(({ status }) => status !== 'skip')
  return [
    '# HELP svc_doctor_status Result of a svc-admin doctor check: 0 ok, 1 warn, 2 fail.',
    '# TYPE svc_doctor_status gauge',
    ...ran.map(({ check, status }) => `svc_doctor_status{check="${check}"} ${LEVELS[status]}`),
    '# HELP svc_doctor_seconds Duration of the check.',
    '# TYPE svc_doctor_seconds gauge',
    ...ran.map(({ check, ms }) => `svc_doctor_seconds{check="${check}"} ${ms / 1000}`),
  ]
}
