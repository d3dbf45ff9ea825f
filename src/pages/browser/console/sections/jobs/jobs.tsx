import type { Job } from '../../../../../charging/public-jobs-schema'
import { useSend } from '../../shell/api'
import { defineScreen } from '../../shell/screen'
import { Bar, Button, Chip, Code, Id } from '../../ui/controls'
import { Facts } from '../../ui/facts'
import { duration, money, Time } from '../../ui/format'
import { Failed } from '../../ui/states'

const STATES = { queued: 'wait', active: 'run', completed: 'good', failed: 'bad' } as const

const State = ({ status }: Job) => <Chip state={STATES[status]}>{status}</Chip>

/** Duration from the start, or else the creation, to the end or now. */
function tookOf({ created_at, started_at, completed_at }: Job): string {
  const end = completed_at ? Date.parse(completed_at) : Date.now()
  return duration(Math.max(0, end - Date.parse(started_at ?? created_at)))
}

function JobBody({ row: job }: { row: Job }) {
  const cancel = useSend<unknown>('POST', `/jobs/${job.id}/cancel`, ['/jobs'])
  const problem = cancel.error
  const isOpen = job.status === 'queued' || job.status === 'active'
  return (
    <>
      {isOpen && <Bar used={job.progress} of={100} label={`${job.progress} % done`} />}
      {isOpen && (
        <div className="actions">
          <Button kind="danger" busy={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel the job
          </Button>
        </div>
      )}
      {problem && <Failed problem={problem} />}
      <Facts
        facts={[
          ['State', <State key="state" {...job} />],
          ['Step', job.stage ?? 'none'],
          ['Id', <Id key="id" id={job.id} />],
          ['Attempts', job.attempts],
          ['Made', <Time key="made" at={job.created_at} />],
          ['Took', tookOf(job)],
          ['Cost', money(job.usage.cost_cents)],
          ['Error', job.error ?? 'none'],
        ]}
      />
      {job.result && <Code text={job.result} label="result" />}
    </>
  )
}

export default defineScreen<Job>({
  section: 'jobs',
  title: 'Jobs',
  list: { path: '/jobs', rows: 'jobs', everyMs: 30_000 },
  views: true,
  idOf: ({ id }) => id,
  columns: [
    { key: 'type', head: 'Kind', cell: ({ type }) => type, main: true },
    { key: 'status', head: 'State', cell: State, main: true, width: '132px' },
    { key: 'stage', head: 'Step', cell: ({ stage }) => stage ?? '–' },
    { key: 'made', head: 'Made', cell: ({ created_at }) => <Time at={created_at} />, width: '136px' },
    { key: 'took', head: 'Took', cell: tookOf, number: true, main: true },
    { key: 'cost', head: 'Cost', cell: ({ usage }) => money(usage.cost_cents), number: true, main: true },
  ],
  filters: [
    {
      name: 'type',
      label: 'Kind',
      values: [
        ['research', 'research'],
        ['video', 'video'],
        ['response', 'response'],
        ['batch', 'batch'],
        ['tests', 'tests'],
      ],
    },
    {
      name: 'status',
      label: 'State',
      values: [
        ['queued', 'queued'],
        ['active', 'active'],
        ['completed', 'completed'],
        ['failed', 'failed'],
      ],
    },
  ],
  empty: { text: 'No jobs yet. Research and videos appear here.' },
  detail: { path: (id) => `/jobs/${id}`, titleOf: ({ type }) => `A ${type} job`, body: JobBody },
})
