import { Link } from 'wouter'
import type { Job, JobPage } from '../../../../../charging/public-jobs-schema'
import type { TestCasePage, TestRun } from '../../../../../completions/test-cases-schema'
import type { Static } from '../../../../../kernel/schema'
import { useGet, useOwner } from '../../shell/api'
import { defineScreen } from '../../shell/screen'
import { column, moneyColumn, timeColumn } from '../../ui/columns'
import { Chip, Code } from '../../ui/controls'
import { Facts, Grid } from '../../ui/facts'
import { duration, money, plural, Time } from '../../ui/format'

/** Runs of test cases, newest first. */
export const useRuns = () => useGet<JobPage>('/jobs', { type: 'tests', limit: 100 })
export const runsOf = ({ result_data }: Job) => (result_data?.runs ?? []) as TestRun[]

export const Outcome = ({ passed }: TestRun) => (
  <Chip state={passed ? 'good' : 'bad'}>{passed ? 'passed' : 'failed'}</Chip>
)

const STATES = { queued: 'wait', active: 'run', completed: 'good', failed: 'bad' } as const
const RunState = ({ status }: Job) => <Chip state={STATES[status]}>{status}</Chip>

const keyOf = ({ case_id, model }: TestRun) => `${case_id} ${model}`

/** The result of each engine for each case, beside its previous result. */
function RunBody({ row: job }: { row: Job }) {
  const off = ['completed', 'failed'].includes(job.status)
  const { data: now = job } = useGet<Job>(`/jobs/${job.id}`, {}, { everyMs: 2_000, off })
  const cases = useGet<Static<typeof TestCasePage>>('/test-cases', { limit: 100 })
  const others = useRuns().data?.jobs ?? []
  const runs = runsOf(now)
  const before = others.find((it) => it.created_at < job.created_at && it.status === 'completed')
  const then = new Map((before ? runsOf(before) : []).map((run) => [keyOf(run), run.passed]))
  const changed = (to: boolean) => runs.filter((run) => run.passed === to && then.get(keyOf(run)) === !to)
  const models = [...new Set(runs.map(({ model }) => model))]
  const leftOut = Number(now.result_data?.left_out ?? 0)
  return (
    <>
      <Facts
        of={{
          State: <RunState {...now} />,
          Passed: now.result ?? now.stage ?? 'nothing yet',
          'Since the run before': before
            ? `${changed(false).length} worse, ${changed(true).length} better than on ${new Date(before.created_at).toLocaleString('en-GB')}`
            : 'there is none',
          Cost: money(runs.reduce((sum, { cost_cents }) => sum + cost_cents, 0)),
          Begun: <Time at={job.created_at} />,
          Error: now.error ?? 'none',
        }}
      />
      {leftOut > 0 && (
        <p className="notice warn">{plural(leftOut, 'answer was', 'answers were')} left out: the money was spent.</p>
      )}
      {runs.length > 0 && (
        <Grid
          className="grid"
          label="Cases and engines"
          heads={['Case', ...models]}
          rows={[...new Set(runs.map(({ case_id }) => case_id))].map((id) => ({
            key: id,
            cells: [
              cases.data?.test_cases.find((it) => it.id === id)?.name ?? id,
              ...models.map((model) => (
                <Cell
                  key={model}
                  run={runs.find((it) => keyOf(it) === `${id} ${model}`)}
                  isWorse={(run) => then.get(keyOf(run)) === true}
                />
              )),
            ],
          }))}
        />
      )}
      {now.error && <Code text={now.error} label="error" />}
    </>
  )
}

function Cell({ run, isWorse }: { run: TestRun | undefined; isWorse(run: TestRun): boolean }) {
  const owner = useOwner()
  if (!run) return <>–</>
  return (
    <>
      <Outcome {...run} /> {!run.passed && isWorse(run) && <Chip state="warn">passed before</Chip>}
      <small>
        <Link href={`/${owner.slug}/requests/${run.request_id}`}>{duration(run.ms)}</Link>, {money(run.cost_cents)}
      </small>
      {run.failed_checks.map((check) => (
        <small key={check} className="problem">
          fails: {check}
        </small>
      ))}
    </>
  )
}

export const Runs = defineScreen<Job>('playground', 'Playground', {
  list: { path: '/jobs', rows: 'jobs', query: { type: 'tests' }, everyMs: 10_000 },
  columns: [
    timeColumn('made', 'Begun', ({ created_at }) => created_at),
    column('state', 'State', { cell: RunState, main: true, width: '132px' }),
    column('passed', 'Passed', { cell: ({ result, stage }) => result ?? stage ?? '–', main: true }),
    column('engines', 'Engines', {
      cell: (job) => [...new Set(runsOf(job).map(({ model }) => model))].join(', ') || '–',
      width: 'minmax(0, 2fr)',
    }),
    moneyColumn('cost', 'Cost', (job) => runsOf(job).reduce((sum, { cost_cents }) => sum + cost_cents, 0), {
      main: true,
    }),
  ],
  empty: { text: 'No run yet. Run your test cases on one to four engines.', command: 'svc-admin tests run --max 50c' },
  detail: { path: (id) => `/jobs/${id}`, titleOf: () => 'A run of test cases', body: RunBody, wide: true },
})
