import type { Job } from '../../src/charging/public-jobs-schema'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import type { Shell } from '../shell'
import { argument, duration, flag, text, words } from '../words'
import { ID, IDS, jobColumns, jobOver } from './jobs-columns'
import { allJobs, jobFilters } from './jobs-find'

const common = { apis: ['tenant', 'operator'], columns: jobColumns } as const

const cancelJobs = defineCommand({
  ...common,
  path: 'jobs cancel',
  summary: 'Cancel jobs that have not ended',
  about:
    'The jobs become failed with the error cancelled, and their reserved credit is released. Recorded as job.cancelled.',
  examples: ['jobs cancel job_…', 'jobs cancel job_… job_… --yes'],
  impact: 'write',
  danger: 'moderate',
  exits: [3, 5],
  args: { ids: words(IDS) },
  async run(shell, { ids }) {
    await each(shell, ids, 'cancel')
  },
})

const retryJobs = defineCommand({
  ...common,
  apis: ['operator'],
  path: 'jobs retry',
  summary: 'Queue failed jobs again, as new jobs',
  about:
    'Creates a new job for each and prints its id, because an ended job never changes. Its owner pays again. --all retries every failed job that matches --type, --key, --since, --error and --org. Cancelled jobs are included only if --error names them. Recorded as job.retried.',
  examples: [
    'jobs retry job_…',
    'jobs retry job_… job_… --yes --json',
    'jobs retry --all --type video --since 2h --dry-run',
  ],
  impact: 'write',
  danger: 'moderate',
  exits: [3, 5, 6],
  args: { ids: words(IDS) },
  flags: {
    all: flag('every failed job that matches the filters, instead of ids'),
    ...jobFilters,
    since: duration('TIME', 'only jobs that failed in this time'),
    error: text('WORDS', 'only jobs whose error contains these words'),
  },
  async run(shell, { ids = [], all, since, error, ...only }) {
    if (!all) return each(shell, ids, 'retry')
    if (ids.length) throw usageFailure('jobs retry takes ids or --all, not both.', 'leave one of them out')
    const failed = await allJobs(shell, { ...only, status: 'failed' })
    const from = since === undefined ? 0 : shell.clock.now() - since
    const wanted = shell.print
      .kept(failed, jobColumns)
      .filter(
        (job) =>
          Date.parse(job.completed_at ?? '') >= from &&
          (error === undefined ? job.error !== 'cancelled' : (job.error ?? '').includes(error)),
      )
    if (!wanted.length) return shell.print.list([], jobColumns, 'No failed job matches the filters.')
    await each(
      shell,
      wanted.map(({ id }) => id),
      'retry',
    )
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
  summary: 'Check that each quotation of a research report is in its source',
  about:
    'Uses the snapshots stored with the report: no source is read again and no engine is called. Prints the quotations that fail, and then exits 9.',
  examples: ['jobs verify job_…', 'jobs verify job_… --json'],
  impact: 'read',
  exits: [3, 5, 9],
  args: { id: argument(ID) },
  async run(shell, { id }) {
    const { api } = await apiOf(shell)
    const found = expectData(await api.jobs({ id: encodeURIComponent(id) }).verification.get())
    shell.print.item(found, checkColumns)
    for (const problem of found.problems) shell.note(problem)
    if (!found.sound) throw new CheckFailed()
  },
})

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
    if (done.length) shell.print.list(done, jobColumns, '')
  }
}

export const jobChangeCommands = [cancelJobs, retryJobs, verifyJob]
