import type { Job } from '../../../../../charging/public-jobs-schema'
import { defineScreen } from '../../shell/screen'
import { column, timeColumn } from '../../ui/columns'
import { Bar, Chip, Code, Id } from '../../ui/controls'
import { duration, money, Time } from '../../ui/format'

const STATES = { queued: 'wait', active: 'run', completed: 'good', failed: 'bad' } as const

const State = ({ status, error }: Job) =>
  error === 'cancelled' ? <Chip state="off">cancelled</Chip> : <Chip state={STATES[status]}>{status}</Chip>

/** Duration from the start, or else the creation, to the end or now. */
function tookOf({ created_at, started_at, completed_at }: Job): string {
  const end = completed_at ? Date.parse(completed_at) : Date.now()
  return duration(Math.max(0, end - Date.parse(started_at ?? created_at)))
}

const isOpen = ({ status }: Job) => status === 'queued' || status === 'active'

const Progress = ({ row }: { row: Job }) =>
  isOpen(row) && <Bar used={row.progress} of={100} label={`${row.progress} % done`} />
const Result = ({ row }: { row: Job }) => row.result && <Code text={row.result} label="result" />

export default defineScreen<Job>('jobs', 'Jobs', {
  list: { path: '/jobs', rows: 'jobs', everyMs: 30_000 },
  views: true,
  columns: [
    column('type', 'Kind', { main: true }),
    column('status', 'State', { cell: State, main: true, width: '132px' }),
    column('stage', 'Detail', {
      cell: ({ error, stage }) => (error === 'cancelled' ? '–' : (error ?? stage ?? '–')),
      width: 'minmax(0, 2fr)',
    }),
    timeColumn('made', 'Created', ({ created_at }) => created_at, { main: false, width: '136px' }),
    column('took', 'Duration', { cell: tookOf, number: true, main: true }),
    column('cost', 'Cost', { cell: ({ usage }) => money(usage.cost_cents), number: true, main: true }),
  ],
  filters: [
    { name: 'type', label: 'Kind', values: ['research', 'video', 'response', 'batch', 'tests'] },
    { name: 'status', label: 'State', values: ['queued', 'active', 'completed', 'failed'] },
  ],
  empty: {
    text: 'No jobs yet. Research and videos appear here.',
    link: { text: 'Try in the playground', section: 'playground' },
  },
  detail: {
    path: (id) => `/jobs/${id}`,
    titleOf: ({ type }) => `A ${type} job`,
    look: Progress,
    actions: (job) => ({
      actions: [isOpen(job) && { label: 'Cancel the job', path: `/jobs/${job.id}/cancel`, danger: true }],
    }),
    facts: (job) => ({
      State: <State {...job} />,
      Step: job.stage ?? 'none',
      Id: <Id id={job.id} />,
      Attempts: job.attempts,
      Created: <Time at={job.created_at} />,
      Duration: tookOf(job),
      Cost: money(job.usage.cost_cents),
      Error: job.error ?? 'none',
    }),
    body: Result,
  },
})
