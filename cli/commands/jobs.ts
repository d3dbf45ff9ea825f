import type { Job } from '../../src/public-jobs/schema'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { EXIT } from '../exit'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { column, idColumn } from '../output/columns'
import { pageFlags, printPages } from '../pages'
import type { Shell } from '../shell'
import { argument, choice, duration, flag, words } from '../words'

const BAR_CHARS = 12
const POLL_MS = 2_000
const PATIENCE_MS = 600_000

/** `[######------] 50%` */
export function progressBar(percent: number): string {
  const done = Math.floor((percent * BAR_CHARS) / 100)
  return `[${'#'.repeat(done)}${'-'.repeat(BAR_CHARS - done)}] ${percent}%`
}

const columns = [
  { ...idColumn, show: ({ id }: { id?: unknown }, whole: boolean) => String(id).slice(0, whole ? 28 : 12) },
  column('type', 'TYPE'),
  column('status', 'STATUS'),
  column('progress', 'PROGRESS', { show: ({ progress }) => progressBar(Number(progress)) }),
  column('stage', 'STEP'),
  column('attempts', 'TRIES', { kind: 'number', least: true }),
  column('usage.cost_cents', 'COST¢', { kind: 'money' }),
  column('error', 'ERROR'),
  column('created_at', 'QUEUED', { kind: 'time' }),
  column('started_at', 'BEGUN', { kind: 'time', wide: true }),
  column('completed_at', 'ENDED', { kind: 'time', wide: true }),
  column('result', 'RESULT', { wide: true }),
]

const common = { apis: ['tenant', 'operator'], columns } as const
const ID = 'id of the job, as the 202 answer named it'
const IDS = 'ids of the jobs'

const listJobs = defineCommand({
  ...common,
  path: 'jobs list',
  summary: 'List research and video jobs, newest first',
  about:
    "On the server's machine it lists everyone's, or with --org those of one organization or user. Over --url it lists your own. With --watch the list is read again every two seconds.",
  examples: [
    'jobs list',
    'jobs list --status queued --older 5m',
    'jobs list --status active --watch',
    'jobs list --type video --org acme --json',
  ],
  offline: true,
  impact: 'read',
  danger: 'none',
  exits: [3, 4, 7],
  watchable: true,
  flags: {
    type: choice(['research', 'video'], 'only of this type'),
    status: choice(['queued', 'active', 'completed', 'failed'], 'only in this state'),
    older: duration('TIME', 'only those that were put in line at least so long ago'),
    ...pageFlags,
  },
  async run(shell, { type, status, older = 0, ...paging }) {
    const { api, whose } = await apiOf(shell)
    const only = { ...(type ? { type } : {}), ...(status ? { status } : {}), ...whose }
    await printPages(shell, paging, {
      page: async (order) => {
        const found = expectData(await api.jobs.get({ query: { ...order, ...only } }))
        const until = shell.clock.now() - older
        const old = found.jobs.filter(({ created_at }) => Date.parse(created_at ?? '') <= until)
        return { items: older > 0 ? old : found.jobs, next: found.next_cursor }
      },
      columns,
      empty: 'No jobs yet. Research and video requests show up here.',
    })
  },
})

const getJob = defineCommand({
  ...common,
  path: 'jobs get',
  summary: 'Show one job: its state, progress, tries, cost and result',
  about:
    'With --result it prints only the result: the report as it is, or the address of the file, which works for an hour. With --watch it is read again every two seconds.',
  examples: ['jobs get job_… --watch', 'jobs get job_… --result > report.md'],
  offline: true,
  impact: 'read',
  danger: 'none',
  exits: [3, 4, 7],
  watchable: true,
  args: { id: argument(ID) },
  flags: { result: flag('only the result, as it is') },
  async run(shell, { id, result }) {
    const job = await (await jobOver(shell, id)).get()
    if (!result) return shell.print.item(job, columns)
    if (job.result !== null) return shell.io.raw(job.result.endsWith('\n') ? job.result : `${job.result}\n`)
    shell.note(job.error === null ? `It is ${job.status}, ${progressBar(job.progress)}.` : `It failed: ${job.error}`)
    throw new CheckFailed()
  },
})

const waitForJob = defineCommand({
  ...common,
  path: 'jobs wait',
  summary: 'Wait until a job has ended, and exit with how it ended',
  about:
    'Prints each step forward as one line on stderr. Exits 0 when the job is completed, and 9 when it failed. Exits 8 when it has not ended in time; the job goes on then.',
  examples: ['jobs wait job_…', 'jobs wait job_… --within 5m --json'],
  offline: false,
  impact: 'read',
  danger: 'none',
  exits: [3, 4, 7, 8, 9],
  args: { id: argument(ID) },
  flags: { within: duration('TIME', 'how long at most; 10m by default') },
  async run(shell, { id, within = PATIENCE_MS }) {
    const one = await jobOver(shell, id)
    const until = shell.clock.monotonic() + within
    let said = ''
    for (;;) {
      const job = await one.get()
      const line = `${progressBar(job.progress)} ${job.stage ?? job.status}`
      if (line !== said) shell.note(line)
      said = line
      if (hasEnded(job)) return finish(shell, job)
      if (shell.clock.monotonic() >= until || shell.signal.aborted) break
      await shell.clock.sleep(POLL_MS, shell.signal)
    }
    shell.exitCode = shell.signal.aborted ? EXIT.interrupted : EXIT.pending
    shell.note(`It has not ended; go on with: svc-admin jobs wait ${id}`)
  },
})

const hasEnded = ({ status }: Job): boolean => status === 'completed' || status === 'failed'

function finish(shell: Shell, job: Job): void {
  shell.print.item(job, columns)
  if (job.status === 'failed') throw new CheckFailed()
}

const cancelJobs = defineCommand({
  ...common,
  path: 'jobs cancel',
  summary: 'Cancel jobs that have not ended',
  about:
    'They become failed, with the error cancelled, and what was held for them is released. Recorded as job.cancelled.',
  examples: ['jobs cancel job_…', 'jobs cancel job_… job_… --yes'],
  offline: true,
  impact: 'write',
  danger: 'moderate',
  exits: [3, 4, 5, 7, 10],
  args: { ids: words(IDS) },
  async run(shell, { ids }) {
    await each(shell, ids, 'cancel')
  },
})

const retryJobs = defineCommand({
  ...common,
  apis: ['operator'],
  path: 'jobs retry',
  summary: 'Put the work of failed jobs in line again, as new jobs',
  about:
    'Each gets a new id, which is printed, because a job that has ended never changes. Its owner pays as for the first. Recorded as job.retried.',
  examples: ['jobs retry job_…', 'jobs retry job_… job_… --yes --json'],
  offline: true,
  impact: 'write',
  danger: 'moderate',
  exits: [3, 4, 5, 6, 7, 10],
  args: { ids: words(IDS) },
  async run(shell, { ids }) {
    await each(shell, ids, 'retry')
  },
})

const checkColumns = [
  column('job_id', 'JOB'),
  column('sound', 'SOUND'),
  column('quotations', 'QUOTATIONS', { kind: 'number' }),
  column('found', 'FOUND', { kind: 'number' }),
  column('sources', 'SOURCES', { kind: 'number' }),
]

const verifyJob = defineCommand({
  ...common,
  columns: checkColumns,
  path: 'jobs verify',
  summary: 'Check that each quotation of a research report stands in its source',
  about:
    'Works from the snapshots that were kept with the report: no source is read again, and no engine is asked. Prints what does not hold, and exits 9 then.',
  examples: ['jobs verify job_…', 'jobs verify job_… --json'],
  offline: true,
  impact: 'read',
  danger: 'none',
  exits: [3, 4, 5, 7, 9],
  args: { id: argument(ID) },
  async run(shell, { id }) {
    const { api } = await apiOf(shell)
    const found = expectData(await api.jobs({ id: encodeURIComponent(id) }).verification.get())
    shell.print.item(found, checkColumns)
    for (const problem of found.problems) shell.note(problem)
    if (!found.sound) throw new CheckFailed()
  },
})

async function jobOver(shell: Shell, id: string) {
  const { api } = await apiOf(shell)
  const one = api.jobs({ id: encodeURIComponent(id) })
  const done = async (reply: Promise<Parameters<typeof expectData<{ job: Job }>>[0]>) => expectData(await reply).job
  return { get: () => done(one.get()), cancel: () => done(one.cancel.post()), retry: () => done(one.retry.post()) }
}

/** Does it to each job, in order, and prints them; the first refusal ends it, after what was done is printed. */
async function each(shell: Shell, ids: string[] = [], word: 'cancel' | 'retry'): Promise<void> {
  if (!ids.length) throw usageFailure(`jobs ${word} needs the id of a job.`, 'svc-admin jobs list shows them')
  const what = ids.length === 1 ? `job ${ids[0]}` : `${ids.length} jobs`
  if (shell.planned(`${word} ${what}`)) return
  shell.confirm(`${word === 'cancel' ? 'Cancel' : 'Retry'} ${what}?`)
  const done: Job[] = []
  try {
    for (const id of ids) done.push(await (await jobOver(shell, id))[word]())
  } finally {
    if (done.length) shell.print.list(done, columns, '')
  }
}

export const jobCommands = [listJobs, getJob, waitForJob, cancelJobs, retryJobs, verifyJob]
