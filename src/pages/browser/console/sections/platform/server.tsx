import type { DoctorReport } from '../../../../../operators/doctor'
import type { Node, Reconciliation, Verification } from '../../../../../operators/schema'
import type { Backup } from '../../../../../operators/schema-backup'
import type { Status } from '../../../../../operators/status-schema'
import { Actions } from '../../shell/actions'
import { useGet } from '../../shell/api'
import { Page } from '../../shell/page'
import { defineScreen } from '../../shell/screen'
import { chipColumn, column, durationColumn, timeColumn } from '../../ui/columns'
import { Chip, Code, Id } from '../../ui/controls'
import { Card, Facts, Lines } from '../../ui/facts'
import { field } from '../../ui/fields'
import { duration, money, number, plural, size, Time } from '../../ui/format'
import { Shown } from '../../ui/states'

const HEALTH = { healthy: 'good', degraded: 'warn', down: 'bad' } as const
const NODES = { serving: 'live', draining: 'again', empty: 'off' } as const

/** The server as a whole, above its nodes. */
function Health() {
  const status = useGet<Status>('/status', {}, { everyMs: 10_000 })
  return (
    <Shown of={status} rows={3}>
      {({ health, version, mode, started_at, database, redis, nodes, engines, data_dir }) => (
        <section className="card part above-list" aria-label="The server">
          <Facts
            of={{
              State: <Chip state={HEALTH[health]}>{health}</Chip>,
              Version: `${version}, ${mode}`,
              Since: <Time at={started_at} />,
              Database: `${database.dialect}, ${database.ok ? `answers in ${duration(database.latency_ms ?? 0)}` : 'does not answer'}, ${database.migrations_applied ?? '?'} of ${database.migrations_known ?? '?'} migrations`,
              Redis: redis === null ? 'not used' : redis.ok ? 'answers' : (redis.problem ?? 'does not answer'),
              Engines: `${engines.connected} connected, ${engines.failing} failing`,
              'Roles without a node': nodes.unserved.join(', ') || 'none',
              Data: <code>{data_dir}</code>,
            }}
          />
        </section>
      )}
    </Shown>
  )
}

export const Nodes = defineScreen<Node>('platform', 'Platform', {
  isOperators: true,
  above: Health,
  list: { path: '/nodes', rows: 'nodes', everyMs: 10_000 },
  columns: [
    column('host', 'Node', { cell: ({ host, pid }) => `${host ?? '–'}, ${pid ?? '–'}`, main: true }),
    chipColumn('state', 'State', ({ status }) => [NODES[status], status], { width: '120px' }),
    column('roles', 'Roles', { cell: ({ roles }) => roles.join(', '), width: 'minmax(0, 1.6fr)' }),
    column('load', 'Load', { number: true, main: true }),
    durationColumn('lag', 'Late by', ({ lag_ms }) => lag_ms),
    column('open', 'Connections', { cell: ({ connections }) => connections ?? '–', number: true }),
    column('jobs', 'Jobs', { number: true, main: true }),
  ],
  empty: { text: 'No node has reported.' },
  detail: {
    titleOf: ({ host, id }) => host ?? id,
    actions: ({ id, drain_at }) => ({
      role: 'admin',
      actions: [
        drain_at === null
          ? {
              label: 'Drain…',
              path: `/nodes/${id}/drain`,
              ask: 'It takes no new work and finishes what is running. You can resume it.',
            }
          : { label: 'Resume', method: 'DELETE', path: `/nodes/${id}/drain` },
      ],
    }),
    facts: (node) => ({
      State: <Chip state={NODES[node.status]}>{node.status}</Chip>,
      Roles: node.roles.join(', ') || 'none',
      Version: node.version ?? '–',
      Host: `${node.host ?? '–'}, process ${node.pid ?? '–'}`,
      Address: node.address ?? 'none',
      Load: node.load ?? '–',
      'Event loop lag': node.lag_ms === null ? '–' : duration(node.lag_ms),
      'Open connections': node.connections ?? '–',
      Jobs: node.jobs ?? '–',
      Since: node.since ? <Time at={node.since} /> : '–',
      Id: <Id id={node.id} />,
    }),
  },
})

export const Backups = defineScreen<Backup & { version: string }>('platform', 'Platform', {
  isOperators: true,
  list: { path: '/backups', rows: 'backups' },
  idOf: ({ sha256 }) => sha256,
  columns: [
    timeColumn('made', 'Created', ({ created }) => created, { width: '152px' }),
    column('place', 'Place', { cell: ({ path }) => <code title={path}>{path}</code>, main: true }),
    column('size', 'Database', { cell: ({ bytes }) => size(bytes), number: true, main: true }),
    column('files', 'Files', { cell: ({ files }) => (files ? number(files.count) : '–'), number: true }),
    column('sealed', 'Encrypted', { cell: ({ encrypted }) => (encrypted ? 'yes' : 'no'), main: true }),
  ],
  empty: { text: 'No backup was made.', command: 'svc-admin backup create' },
  detail: {
    titleOf: ({ created }) => <Time at={created} />,
    facts: (it) => ({
      Created: <Time at={it.created} />,
      Place: <code>{it.path}</code>,
      'Restore it': <code>svc-admin restore {it.path}</code>,
      Database: size(it.bytes),
      Files: it.files ? `${plural(it.files.count, 'file')}, ${size(it.files.bytes)}` : 'not in it',
      Encrypted: it.encrypted ? `for ${it.encrypted.to.join(', ')}` : 'no',
      Version: it.version,
      'SHA-256': <code>{it.sha256}</code>,
    }),
  },
  create: {
    label: 'Back up now',
    role: 'admin',
    form: {
      fields: [
        field('out', 'Place', { help: 'A folder that does not exist yet, or s3://bucket/folder.' }),
        field('files', 'With the files that this server made', { kind: 'check' }),
      ],
      values: { files: true },
      verb: 'Back up',
    },
  },
})

const Verified = ({ checks }: Verification) => (
  <>
    <div role="status">{plural(checks.length, 'check')}</div>
    <Lines
      of={checks}
      line={({ check, violations, ms }) => ({
        key: check,
        mark: <Chip state={violations.length ? 'bad' : 'good'}>{violations.length ? 'broken' : 'ok'}</Chip>,
        text: check,
        small: violations.slice(0, 3).join('; '),
        end: <small>{duration(ms)}</small>,
      })}
    />
  </>
)

/** Checks whether balances, holds and ledgers agree. */
export function Books() {
  const found = useGet<Reconciliation>('/credits/differences')
  return (
    <Page title="Platform">
      <div className="parts">
        <Shown of={found}>
          {({ ok, differences }) => (
            <Card title="Wallets and ledgers">
              <p>
                <Chip state={ok ? 'good' : 'bad'}>{ok ? 'they agree' : plural(differences.length, 'difference')}</Chip>
              </p>
              <Lines
                of={differences}
                line={({ id, balance_cents, ledger_cents }) => ({
                  key: id,
                  mark: <code>{id}</code>,
                  text: `balance ${balance_cents === null ? 'none' : money(balance_cents)}, ledger ${money(ledger_cents)}`,
                })}
              />
              {!ok && (
                <Actions
                  touches={['/credits']}
                  role="billing"
                  actions={[
                    {
                      label: 'Repair…',
                      path: '/credits/differences',
                      ask: 'Each wallet is set to what its ledger says. The ledgers do not change.',
                    },
                  ]}
                />
              )}
            </Card>
          )}
        </Shown>
        <Card title="Everything that is stored">
          <p className="faint">Checks the invariants of the store. On a large one it takes a while.</p>
          <Actions touches={[]} role="support" actions={[{ label: 'Check now', path: '/verify', shows: Verified }]} />
        </Card>
      </div>
    </Page>
  )
}

const CHECKS = { ok: 'good', warn: 'warn', fail: 'bad', skip: 'off' } as const
type Check = DoctorReport['checks'][number]

const CheckBody = ({ row: it }: { row: Check }) => (
  <>
    <p>{it.detail}</p>
    {it.fix && <Code text={it.fix} label="what mends it" />}
  </>
)

/** The server's checks of itself. `svc-admin doctor` checks more. */
export const Doctor = defineScreen<Check>('platform', 'Platform', {
  isOperators: true,
  list: { path: '/doctor', rows: 'checks', everyMs: 30_000 },
  idOf: ({ check }) => check,
  columns: [
    column('check', 'Check', { main: true }),
    chipColumn('state', 'State', ({ status }) => [CHECKS[status], status], { width: '104px' }),
    column('detail', 'Found', { main: true, width: 'minmax(0, 2fr)' }),
    column('fix', 'Fixed by', { cell: ({ fix }) => (fix ? <code title={fix}>{fix}</code> : '–') }),
  ],
  empty: { text: 'No checks.', command: 'svc-admin doctor' },
  detail: { titleOf: ({ check }) => check, body: CheckBody },
})
