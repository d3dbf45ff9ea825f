import { useState } from 'react'
import type { DoctorReport } from '../../../../../operators/doctor'
import type { Node, Reconciliation, Verification } from '../../../../../operators/schema'
import type { Backup } from '../../../../../operators/schema-backup'
import type { Status } from '../../../../../operators/status-schema'
import { Actions } from '../../shell/actions'
import { useGet } from '../../shell/api'
import { Form } from '../../shell/form'
import { Page } from '../../shell/page'
import { defineScreen } from '../../shell/screen'
import { Chip, Code, Id } from '../../ui/controls'
import { Facts } from '../../ui/facts'
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
            facts={[
              [
                'State',
                <Chip key="state" state={HEALTH[health]}>
                  {health}
                </Chip>,
              ],
              ['Version', `${version}, ${mode}`],
              ['Since', <Time key="since" at={started_at} />],
              [
                'Database',
                `${database.dialect}, ${database.ok ? `answers in ${duration(database.latency_ms ?? 0)}` : 'does not answer'}, ${database.migrations_applied ?? '?'} of ${database.migrations_known ?? '?'} migrations`,
              ],
              ['Redis', redis === null ? 'not used' : redis.ok ? 'answers' : (redis.problem ?? 'does not answer')],
              ['Engines', `${engines.connected} connected, ${engines.failing} failing`],
              ['Roles without a node', nodes.unserved.join(', ') || 'none'],
              ['Data', <code key="data">{data_dir}</code>],
            ]}
          />
        </section>
      )}
    </Shown>
  )
}

const NodeBody = ({ row: node }: { row: Node }) => (
  <>
    <Actions
      touches={['/nodes']}
      role="admin"
      actions={[
        node.drain_at === null
          ? {
              label: 'Drain…',
              path: `/nodes/${node.id}/drain`,
              ask: 'It takes no new work and finishes what is running. You can resume it.',
            }
          : { label: 'Resume', method: 'DELETE', path: `/nodes/${node.id}/drain` },
      ]}
    />
    <Facts
      facts={[
        [
          'State',
          <Chip key="state" state={NODES[node.status]}>
            {node.status}
          </Chip>,
        ],
        ['Roles', node.roles.join(', ') || 'none'],
        ['Version', node.version ?? '–'],
        ['Host', `${node.host ?? '–'}, process ${node.pid ?? '–'}`],
        ['Address', node.address ?? 'none'],
        ['Load', node.load ?? '–'],
        ['Event loop lag', node.lag_ms === null ? '–' : duration(node.lag_ms)],
        ['Open connections', node.connections ?? '–'],
        ['Jobs', node.jobs ?? '–'],
        ['Since', node.since ? <Time key="since" at={node.since} /> : '–'],
        ['Id', <Id key="id" id={node.id} />],
      ]}
    />
  </>
)

export const Nodes = defineScreen<Node>({
  section: 'platform',
  title: 'Platform',
  isOperators: true,
  above: Health,
  list: { path: '/nodes', rows: 'nodes', everyMs: 10_000 },
  idOf: ({ id }) => id,
  columns: [
    { key: 'host', head: 'Node', cell: ({ host, pid }) => `${host ?? '–'}, ${pid ?? '–'}`, main: true },
    {
      key: 'state',
      head: 'State',
      cell: ({ status }) => <Chip state={NODES[status]}>{status}</Chip>,
      main: true,
      width: '120px',
    },
    { key: 'roles', head: 'Roles', cell: ({ roles }) => roles.join(', '), width: 'minmax(0, 1.6fr)' },
    { key: 'load', head: 'Load', cell: ({ load }) => load ?? '–', number: true, main: true },
    { key: 'lag', head: 'Late by', cell: ({ lag_ms }) => (lag_ms === null ? '–' : duration(lag_ms)), number: true },
    { key: 'open', head: 'Connections', cell: ({ connections }) => connections ?? '–', number: true },
    { key: 'jobs', head: 'Jobs', cell: ({ jobs }) => jobs ?? '–', number: true, main: true },
  ],
  empty: { text: 'No node has reported.' },
  detail: { titleOf: ({ host, id }) => host ?? id, body: NodeBody },
})

type Kept = Backup & { version: string }

const BackupBody = ({ row: it }: { row: Kept }) => (
  <>
    <p className="faint">A backup is restored while the server stands still: svc-admin restore {it.path}</p>
    <Facts
      facts={[
        ['Made', <Time key="made" at={it.created} />],
        ['Place', <code key="path">{it.path}</code>],
        ['Database', size(it.bytes)],
        ['Files', it.files ? `${plural(it.files.count, 'file')}, ${size(it.files.bytes)}` : 'not in it'],
        ['Encrypted', it.encrypted ? `for ${it.encrypted.to.join(', ')}` : 'no'],
        ['Version', it.version],
        ['SHA-256', <code key="sum">{it.sha256}</code>],
      ]}
    />
  </>
)

export const Backups = defineScreen<Kept>({
  section: 'platform',
  title: 'Platform',
  isOperators: true,
  list: { path: '/backups', rows: 'backups' },
  idOf: ({ sha256 }) => sha256,
  columns: [
    { key: 'made', head: 'Made', cell: ({ created }) => <Time at={created} />, main: true, width: '152px' },
    { key: 'place', head: 'Place', cell: ({ path }) => <code title={path}>{path}</code>, main: true },
    { key: 'size', head: 'Database', cell: ({ bytes }) => size(bytes), number: true, main: true },
    { key: 'files', head: 'Files', cell: ({ files }) => (files ? number(files.count) : '–'), number: true },
    { key: 'sealed', head: 'Encrypted', cell: ({ encrypted }) => (encrypted ? 'yes' : 'no'), main: true },
  ],
  empty: { text: 'No backup was made.', command: 'svc-admin backup' },
  detail: { titleOf: ({ created }) => <Time at={created} />, body: BackupBody },
  create: {
    label: 'Back up now',
    role: 'admin',
    form: ({ close }) => (
      <Form
        fields={[
          { name: 'out', label: 'Place', help: 'A folder that does not exist yet, or s3://bucket/folder.' },
          { name: 'files', label: 'With the files that this server made', kind: 'check' },
        ]}
        values={{ files: true }}
        method="POST"
        path="/backups"
        touches={['/backups']}
        verb="Back up"
        onCancel={close}
        onDone={close}
      />
    ),
  },
})

/** Checks whether balances, holds and ledgers agree. */
export function Books() {
  const found = useGet<Reconciliation>('/credits/differences')
  const [checked, setChecked] = useState<Verification | null>(null)
  return (
    <Page title="Platform">
      <div className="parts">
        <Shown of={found}>
          {({ ok, differences }) => (
            <section className="card part" aria-labelledby="wallets">
              <h2 id="wallets">Wallets and ledgers</h2>
              <p>
                <Chip state={ok ? 'good' : 'bad'}>{ok ? 'they agree' : plural(differences.length, 'difference')}</Chip>
              </p>
              <ul className="plain-list">
                {differences.map((it) => (
                  <li key={it.id}>
                    <code>{it.id}</code>
                    <span>
                      balance {it.balance_cents === null ? 'none' : money(it.balance_cents)}, ledger{' '}
                      {money(it.ledger_cents)}
                    </span>
                    <span />
                  </li>
                ))}
              </ul>
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
            </section>
          )}
        </Shown>
        <section className="card part" aria-labelledby="checks">
          <h2 id="checks">Everything that is stored</h2>
          <p className="faint">Checks the invariants of the store. On a large one it takes a while.</p>
          <Actions touches={[]} role="support" actions={[{ label: 'Check now', path: '/verify', done: setChecked }]} />
          <div role="status">{checked && plural(checked.checks.length, 'check')}</div>
          <ul className="plain-list">
            {checked?.checks.map(({ check, violations, ms }) => (
              <li key={check}>
                <Chip state={violations.length ? 'bad' : 'good'}>{violations.length ? 'broken' : 'ok'}</Chip>
                <span>
                  {check}
                  {violations.length > 0 && <small>{violations.slice(0, 3).join('; ')}</small>}
                </span>
                <small>{duration(ms)}</small>
              </li>
            ))}
          </ul>
        </section>
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
export const Doctor = defineScreen<Check>({
  section: 'platform',
  title: 'Platform',
  isOperators: true,
  list: { path: '/doctor', rows: 'checks', everyMs: 30_000 },
  idOf: ({ check }) => check,
  columns: [
    { key: 'check', head: 'Check', cell: ({ check }) => check, main: true },
    {
      key: 'state',
      head: 'State',
      cell: ({ status }) => <Chip state={CHECKS[status]}>{status}</Chip>,
      main: true,
      width: '104px',
    },
    { key: 'detail', head: 'Found', cell: ({ detail }) => detail, main: true, width: 'minmax(0, 2fr)' },
    { key: 'fix', head: 'Fixed by', cell: ({ fix }) => (fix ? <code title={fix}>{fix}</code> : '–') },
  ],
  empty: { text: 'No checks.', command: 'svc-admin doctor' },
  detail: { titleOf: ({ check }) => check, body: CheckBody },
})
