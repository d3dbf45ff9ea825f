import type { TierRow, WeighedIncrease } from '../../../../../operators/schema'
import { defineScreen } from '../../shell/screen'
import { agoColumn, column } from '../../ui/columns'
import { Chip, Id } from '../../ui/controls'
import { field } from '../../ui/fields'
import { Ago, number } from '../../ui/format'

const STATES = { pending: 'warn', approved: 'good', rejected: 'bad' } as const

const State = ({ status }: WeighedIncrease) => <Chip state={STATES[status]}>{status}</Chip>
const rate = ({ requests, tokens }: { requests: number; tokens: number }) =>
  `${number(requests)} requests, ${number(tokens)} tokens a minute`

const REASON = field('reason', 'Reason, shown to the requester', { kind: 'area', required: true })

export const Limits = defineScreen<WeighedIncrease>('platform', 'Platform', {
  isOperators: true,
  list: { path: '/limits', rows: 'requests' },
  columns: [
    agoColumn('asked', 'Requested', ({ created }) => created, { number: false, width: '136px' }),
    column('state', 'State', { cell: State, main: true, width: '120px' }),
    column('tier', 'Tier', {
      cell: ({ current_tier, requested_tier }) => `${current_tier} → ${requested_tier}`,
      main: true,
    }),
    column('peak', 'Busiest minute', { cell: ({ peak }) => number(peak.requests), number: true, main: true }),
    column('use', 'Use', { cell: ({ use_case }) => use_case, width: 'minmax(0, 2fr)' }),
  ],
  filters: [{ name: 'status', label: 'State', values: Object.keys(STATES) }],
  empty: { text: 'No requests for a higher limit.', command: 'svc-admin limits list' },
  detail: {
    path: (id) => `/limits/${id}`,
    titleOf: ({ requested_tier }) => `To ${requested_tier}`,
    actions: ({ id, status, requested_limits }, done) => {
      const path = `/limits/${id}`
      const ask = `The key gets ${rate(requested_limits)} at once.`
      const approve = { label: 'Approve…', path, body: { decision: 'approve' }, ask, done }
      const reject = { label: 'Reject…', path, body: { decision: 'reject' }, fields: [REASON], done }
      return { role: 'billing', actions: status === 'pending' ? [approve, reject] : [] }
    },
    facts: (it) => ({
      State: <State {...it} />,
      From: `${it.current_tier}: ${rate(it.current_limits)}`,
      To: `${it.requested_tier}: ${rate(it.requested_limits)}`,
      'Busiest minute in 7 days': rate(it.peak),
      Use: it.use_case || 'not shown to your role',
      Requested: <Ago at={it.created} />,
      Id: <Id id={it.id} />,
    }),
  },
})

const LIMITS = [
  ['rpm', 'Requests'],
  ['tpm', 'Tokens'],
  ['text', 'Text'],
  ['stealth', 'Stealth'],
  ['image', 'Image'],
  ['research', 'Research'],
  ['video', 'Video'],
] as const

/** Limits per minute of each tier. The configuration sets them. */
export const Tiers = defineScreen<TierRow>('platform', 'Platform', {
  isOperators: true,
  list: { path: '/tiers', rows: 'tiers' },
  columns: [
    column('tier', 'Tier', { cell: ({ id }) => id, main: true }),
    ...LIMITS.map(([key, head], at) => ({
      ...{ key, head, number: true, main: at < 3 },
      cell: ({ [key]: limit, changed }: TierRow) => (changed.includes(key) ? <b>{number(limit)}</b> : number(limit)),
    })),
  ],
  empty: { text: 'No tiers.' },
})
