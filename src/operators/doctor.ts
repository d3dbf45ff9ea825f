import type { Call, OperatorCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { nullable, oneOf, type Static, t } from '../kernel/schema'
import type { Reader, Store } from '../kernel/store'
import type { BackupList } from './schema-backup'
import type { EngineTarget } from './schema-engines'
import type { Status } from './status-schema'

const Check = t.Object({
  check: t.String({ description: 'As `svc-admin doctor` names it' }),
  status: oneOf(['ok', 'warn', 'fail', 'skip'] as const),
  detail: t.String(),
  fix: nullable(t.String({ description: 'A command that fixes it' })),
})
type Check = Static<typeof Check>
export const DoctorReport = t.Object({ checks: t.Array(Check) })
export type DoctorReport = Static<typeof DoctorReport>

type Deps = {
  store: Store
  clock: Clock
  status(call: Call<OperatorCaller>): Promise<Status>
  engines: { list(call: Call<OperatorCaller>): Promise<EngineTarget[]> }
  backups: { list(call: Call<OperatorCaller>): Promise<BackupList> }
  /** Webhooks that were disabled because their receivers failed. */
  failingWebhooks(reader: Reader): Promise<string[]>
}

const CLOSE_MS = 2_000
const OLD_MS = 8 * 86_400_000

/**
 * The checks of `svc-admin doctor` (docs/operating.md 2.19) that a server can run on itself while serving. The command
 * runs the checks that read all data or inspect the machine.
 */
export function createDoctor({ store, clock, status, engines, backups, failingWebhooks }: Deps) {
  return async function doctor(call: Call<OperatorCaller>): Promise<DoctorReport> {
    const { database, redis, nodes } = await status(call)
    const { migrations_applied: applied, migrations_known: known } = database
    const away = [
      ...new Set((await engines.list(call)).filter(isAway).map(({ target, state }) => `${target} is ${state}`)),
    ]
    const ahead = Math.abs(nodes.clock_ahead_ms)
    const off = await failingWebhooks(store.read)
    const [newest] = (await backups.list(call)).backups
    const age = newest ? clock.now() - Date.parse(newest.created) : null
    return {
      checks: [
        row('migrations', applied === known, `${applied ?? '?'} of ${known ?? '?'}`, 'svc-admin migrate up'),
        row(
          'database',
          database.ok && !database.risks.length,
          database.risks.length
            ? `with ${database.risks.join(', ')} it may lose acknowledged writes`
            : `${database.dialect}, ${database.latency_ms ?? '?'} ms`,
          'svc-admin doctor database',
          database.ok ? 'warn' : 'fail',
        ),
        redis
          ? row(
              'redis',
              redis.problem === null && redis.evicts === null,
              redis.problem ??
                (redis.evicts === null ? `${redis.latency_ms} ms` : `removes counts of rate limits by ${redis.evicts}`),
              redis.problem === null ? 'svc-admin doctor redis' : 'svc-admin config get redisUrl',
              'warn',
            )
          : { ...row('redis', true, 'not set'), status: 'skip' },
        row(
          'clock',
          ahead <= CLOSE_MS && nodes.clocks_apart_ms <= CLOSE_MS,
          nodes.clocks_apart_ms > CLOSE_MS
            ? `${(nodes.clocks_apart_ms / 1_000).toFixed(2)} s between two nodes`
            : `${(ahead / 1_000).toFixed(2)} s from the database's`,
          'timedatectl set-ntp true',
          'warn',
        ),
        row('engines', !away.length, away.join('; ') || 'every upstream answers', 'svc-admin engines test'),
        row(
          'jobs',
          !nodes.unserved.length,
          nodes.unserved.length ? `no process has ${nodes.unserved.join(', ')}` : `${nodes.count} processes`,
          'svc-admin nodes list',
        ),
        row(
          'files',
          !nodes.scattered_files,
          nodes.scattered_files ? 'nodes store files where others cannot read them' : 'every node reads them',
          'svc-admin doctor files',
        ),
        row(
          'webhooks out',
          !off.length,
          off.length ? `${off.length} switched off after failures` : 'none is switched off',
          `svc-admin webhooks stats ${off[0]}`,
          'warn',
        ),
        row(
          'backups',
          age !== null && age <= OLD_MS,
          age === null ? 'none on this machine' : `last one ${Math.round(age / 3_600_000)} h ago`,
          'svc-admin backup create',
          'warn',
        ),
      ],
    }
  }
}

const isAway = ({ state }: EngineTarget) => state === 'unreachable' || state === 'failing'

const row = (check: string, isFine: boolean, detail: string, fix?: string, bad: 'fail' | 'warn' = 'fail'): Check => ({
  ...{ check, status: isFine ? 'ok' : bad, detail },
  fix: isFine || fix === undefined ? null : fix,
})
