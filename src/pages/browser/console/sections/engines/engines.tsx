import { Link } from 'wouter'
import type { ModelEntry } from '../../../../../engines/schema'
import type { Benchmarks } from '../../../../../usage/schema'
import { useGet } from '../../shell/api'
import { boot } from '../../shell/boot'
import { defineScreen } from '../../shell/screen'
import { chipColumn, column } from '../../ui/columns'
import { duration, number } from '../../ui/format'

const STATES = { available: 'good', degraded: 'warn', down: 'bad' } as const
const STATUSES = { available: '✓ available', degraded: '! degraded', down: '✗ down' }

const useSpeed = ({ mode }: ModelEntry) => {
  const { data } = useGet<Benchmarks>('/benchmarks', { window: '7d' })
  return { all: data?.latency_by_mode[mode], first: data?.ttft_by_mode[mode] }
}
const P50 = (model: ModelEntry) => <>{spelled(useSpeed(model).all?.p50)}</>
const P95 = (model: ModelEntry) => <>{spelled(useSpeed(model).all?.p95)}</>
const First = (model: ModelEntry) => <>{spelled(useSpeed(model).first?.p95)}</>
const Calls = (model: ModelEntry) => <>{number(useSpeed(model).all?.count ?? 0)}</>
const spelled = (ms: number | undefined) => (ms === undefined ? '–' : duration(ms))
const cellOf = (Cell: (model: ModelEntry) => React.ReactNode) => (model: ModelEntry) => <Cell {...model} />

/** Members see engines by their public names. The server's operator gets a link to the upstreams behind them. */
const Upstreams = () => (
  <p className="above-part">
    {boot.operator_role ? (
      <>
        You operate this server: <Link href="/all/engines">connect models, set prices and aliases</Link>.
      </>
    ) : (
      'The operator of this server connects models and sets their prices.'
    )}
  </p>
)

export default defineScreen<ModelEntry>('engines', 'Engines', {
  list: { path: '/models', rows: 'models' },
  idOf: ({ mode }) => mode,
  above: Upstreams,
  columns: [
    column('model', 'Engine', {
      cell: ({ model_id }) => model_id,
      main: true,
      width: '132px',
      sort: ({ model_id }) => model_id,
    }),
    chipColumn('state', 'State', ({ status }) => [STATES[status], status], { width: '108px' }),
    column('mode', 'Mode', { main: true, width: '120px', sort: true }),
    column('about', 'Description', {
      cell: ({ description }) => <span title={description}>{description}</span>,
      width: 'minmax(128px, 1fr)',
    }),
    column('calls', 'Your calls, 7 d', { cell: cellOf(Calls), number: true, main: true, width: '96px' }),
    column('p50', 'p50', { cell: cellOf(P50), number: true, width: '64px' }),
    column('p95', 'p95', { cell: cellOf(P95), number: true, width: '64px' }),
    column('first', 'First token p95', { cell: cellOf(First), number: true, width: '104px' }),
  ],
  filters: [
    { name: 'q', label: 'Engine or mode', match: ['model_id', 'mode'] },
    { name: 'status', label: 'State', values: STATUSES, match: 'same' },
  ],
  empty: { text: 'No engine is connected.', command: 'svc-admin engines add NAME --base-url URL --models MODEL' },
})
