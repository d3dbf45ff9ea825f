import { Readable } from 'node:stream'
import type { Job, JobLog } from '../../src/charging/public-jobs-schema'
import { apiOf, defined } from '../api'
import { type Arg, commandsOf } from '../command'
import { BadWord, CheckFailed, EXIT, expectData, usageFailure } from '../failure'
import { deliver, piecesOf } from '../files'
import { columnsOf } from '../output/columns'
import { eachEntry, feedOf, type PageQuery, pageFlags, pageIn, poll, printPages } from '../pages'
import type { Shell } from '../shell'
import { argument, choice, duration, flag, text, words } from '../words'

const BAR_CHARS = 12

/** `[######------] 50%` */
export function progressBar(percent: number): string {
  const done = Math.floor((percent * BAR_CHARS) / 100)
  return `[${'#'.repeat(done)}${'-'.repeat(BAR_CHARS - done)}] ${percent}%`
}

const jobColumns = columnsOf`
  id ${({ id }, whole) => String(id).slice(0, whole ? 28 : 12)}, type TYPE, status STATUS,
  progress PROGRESS ${({ progress }) => progressBar(Number(progress))}, stage STEP, attempts TRIES number min,
  usage.cost_cents COST¢ money, error ERROR, created_at QUEUED time, started_at BEGUN time wide,
  completed_at ENDED time wide, result RESULT wide`

const ID = 'id of the job, from the 202 answer'

/** One job over either API. */
async function jobOver(shell: Shell, id: string) {
  const { api } = await apiOf(shell)
  const one = api.jobs({ id: encodeURIComponent(id) })
  const done = async (reply: Promise<Parameters<typeof expectData<{ job: Job }>>[0]>) => expectData(await reply).job
  return { get: () => done(one.get()), cancel: () => done(one.cancel.post()), retry: () => done(one.retry.post()) }
}

type Wanted = { type?: Job['type'] | undefined; status?: Job['status'] | undefined; key?: string | undefined }

/** What both the list of jobs and a retry of many are narrowed by. */
const jobFilters = {
  type: choice(['research', 'video', 'response', 'batch', 'tests'], 'only jobs of this type'),
  key: text('KEY', 'only jobs that this key started'),
}

/** Reads one page after another of the jobs that the filters leave, newest first. */
async function jobPages(shell: Shell, { type, status, key }: Wanted) {
  const { api, ownerFilter } = await apiOf(shell)
  const ordered = key === undefined ? {} : { api_key_id: await keyId(shell, key) }
  const only = defined({ type, status, ...ordered, ...ownerFilter })
  return (input: PageQuery) => pageIn(api.jobs.get({ query: { ...input, ...only } }), 'jobs')
}

/** All of them. */
const allJobs = async (shell: Shell, wanted: Wanted): Promise<Job[]> =>
  Array.fromAsync(eachEntry(await jobPages(shell, wanted)))

/** Operators name a key by its beginning; a tenant knows the ids of its own. */
async function keyId(shell: Shell, key: string): Promise<string> {
  const connection = await shell.connect()
  if (connection.api !== 'operator') return key
  const one = connection.ops().keys({ ref: encodeURIComponent(key) })
  return expectData(await one.get()).id
}

const POLL_MS = 2_000
const PATIENCE_MS = 600_000

const common = { apis: ['tenant', 'operator'] } as const

const command = commandsOf('jobs', { apis: ['operator'], columns: jobColumns })

const listJobs = command('list', {
  ...common,
  summary: 'List research and video jobs, newest first',
  about:
    "On the server's machine it lists all jobs, or with --org those of one organization or user. Over --url it lists your own. With --watch the list is read again every two seconds.",
  examples: [
    'jobs list',
    'jobs list --status queued --older 5m',
    'jobs list --status active --watch',
    'jobs list --type video --org acme --json',
    'jobs list --key 31aa07c2 --status failed',
  ],
  watchable: true,
  flags: {
    type: jobFilters.type,
    status: choice(['queued', 'active', 'completed', 'failed'], 'only in this state'),
    key: jobFilters.key,
    older: duration('TIME', 'only jobs queued at least this long ago'),
    ...pageFlags,
  },
  async run(shell, { type, status, key, older = 0, ...paging }) {
    const pages = await jobPages(shell, { type, status, key })
    await printPages(shell, paging, {
      page: async (input) => {
        const { items, next } = await pages(input)
        const until = shell.clock.now() - older
        const old = items.filter(({ created_at }) => Date.parse(created_at ?? '') <= until)
        return { items: older > 0 ? old : items, next }
      },
      columns: jobColumns,
      empty: 'No jobs yet. Research and video requests appear here.',
    })
  },
})

const getJob = command('get', {
  ...common,
  summary: 'Show one job: its state, progress, tries, cost and result',
  about:
    'With --result it prints only the result: the report as it is, or the address of the file, which works for an hour. With --out the file itself, or the report, is saved; only you can read it. With --watch it is read again every two seconds.',
  examples: ['jobs get job_… --watch', 'jobs get job_… --result > report.md', 'jobs get job_… --out clip.mp4'],
  watchable: true,
  args: { id: argument(ID) },
  flags: {
    result: flag('print only the result'),
    out: text('FILE', 'save the file of the job, or its report'),
  },
  async run(shell, { id, result, out }) {
    const job = await (await jobOver(shell, id)).get()
    if (out !== undefined && job.result !== null) return saveResult(shell, job, out)
    if (!result && out === undefined) return shell.print.item(job, jobColumns)
    if (job.result !== null) return shell.io.raw(job.result.endsWith('\n') ? job.result : `${job.result}\n`)
    shell.note(job.error === null ? `It is ${job.status}, ${progressBar(job.progress)}.` : `It failed: ${job.error}`)
    throw new CheckFailed()
  },
})

/** What was made, to the byte: a file by its link, a report as it is. */
async function saveResult(shell: Shell, job: Job, out: string): Promise<void> {
  const { url } = (job.result_data ?? {}) as { url?: unknown }
  if (typeof url === 'string' && url === job.result) {
    const connection = await shell.connect()
    await deliver(shell, await piecesOf(await connection.follow(url)), out)
  } else await deliver(shell, Readable.from([Buffer.from(job.result!)]), out)
  shell.note(`Saved ${out}`)
}

const waitForJob = command('wait', {
  ...common,
  summary: 'Wait until a job ends, and exit with its result',
  about:
    'Prints each step of progress as one line on stderr. Exits 0 when the job is completed and 9 when it failed. Exits 8 when time runs out; the job continues.',
  examples: ['jobs wait job_…', 'jobs wait job_… --within 5m --json'],
  offline: false,
  exits: [3, 8, 9],
  args: { id: argument(ID) },
  flags: { within: duration('TIME', 'longest wait; 10m by default') },
  async run(shell, { id, within = PATIENCE_MS }) {
    const one = await jobOver(shell, id)
    let text = ''
    const job = await poll(shell, { within, every: POLL_MS }, async () => {
      const job = await one.get()
      const line = `${progressBar(job.progress)} ${job.stage ?? job.status}`
      if (line !== text) shell.note(line)
      text = line
      return job.status === 'completed' || job.status === 'failed' ? job : undefined
    })
    if (!job) return shell.note(`The job is still running. Wait again with: svc-admin jobs wait ${id}`)
    shell.print.item(job, jobColumns)
    if (job.status === 'failed') throw new CheckFailed()
  },
})

const cancelJobs = command('cancel', {
  ...common,
  summary: 'Cancel jobs that have not ended',
  about:
    'The jobs become failed with the error cancelled, and their reserved credit is released. Recorded as job.cancelled.',
  examples: ['jobs cancel job_…', 'jobs cancel job_… job_… --yes'],
  impact: 'write',
  danger: 'moderate',
  args: { ids: words('ids of the jobs') },
  async run(shell, { ids }) {
    await each(shell, ids, 'cancel')
  },
})

const retryJobs = command('retry', {
  ...common,
  apis: ['operator'],
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
  args: { ids: words('ids of the jobs') },
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
    const failedIds = wanted.map(({ id }) => id)
    await each(shell, failedIds, 'retry')
  },
})

const checkColumns = columnsOf`
  job_id JOB, sound SOUND, quotations QUOTATIONS number, found FOUND number, sources SOURCES number`

const verifyJob = command('verify', {
  ...common,
  columns: checkColumns,
  summary: 'Check that each quotation of a research report is in its source',
  about:
    'Uses the snapshots stored with the report: no source is read again and no engine is called. Prints the quotations that fail, and then exits 9.',
  examples: ['jobs verify job_…', 'jobs verify job_… --json'],
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

const PAUSE_MS = 1_000

const stepColumns = columnsOf`at AT time, attempt TRY number, what WHAT, detail DETAIL`

const jobLog = command('logs', {
  summary: 'Show what each attempt of a job did, and why it was postponed',
  about:
    'begun names the process that started the job, and stage shows what it did. put_off shows why the job is tried again later, and lost means that the process died. With --follow it prints new entries until the job ends.',
  examples: ['jobs logs job_…', 'jobs logs job_… --follow'],
  columns: stepColumns,
  args: { id: argument(ID) },
  flags: { follow: { ...flag('keep printing until the job ends'), short: 'f' } },
  async run(shell, { id, follow }) {
    const read = async (): Promise<JobLog> =>
      expectData(
        await (await shell.connect())
          .ops()
          .jobs({ id: encodeURIComponent(id) })
          .log.get(),
      )
    const first = await read()
    if (!follow) return shell.print.list(first.steps, stepColumns, '')
    const feed = feedOf(shell, stepColumns)
    for (let [shown, log] = [0, first]; ; log = await read()) {
      feed(log.steps.slice(shown))
      shown = log.steps.length
      if (log.status === 'completed' || log.status === 'failed') return
      await shell.clock.sleep(PAUSE_MS, shell.signal)
      if (shell.signal.aborted) break
    }
    shell.exitCode = EXIT.interrupted
  },
})

const queueColumns = columnsOf`
  type TYPE, queued QUEUED number, oldest_at OLDEST time, active ACTIVE number, put_off PUT OFF number,
  workers WORKERS number, nodes NODES number, paused_at PAUSED time`

const TYPES = ['research', 'video', 'response', 'batch'] as const

const TYPE: Arg<(typeof TYPES)[number]> = {
  about: 'research, video, response or batch',
  required: true,
  read: (word) => {
    const type = TYPES.find((known) => known === word)
    if (!type) throw new BadWord(`is "${word}"; it must be one of ${TYPES.join(', ')}`)
    return type
  },
}

const jobQueues = command('queues', {
  columns: queueColumns,
  summary: 'Show how many jobs of each type are waiting and running, and since when',
  about:
    'WORKERS is how many jobs each process runs at once. NODES is how many processes run one now. PUT OFF counts jobs that wait for another try. With --watch it is read again every two seconds.',
  examples: ['jobs queues', 'jobs queues --watch'],
  watchable: true,
  exits: [],
  async run(shell) {
    shell.print.list(expectData(await (await shell.connect()).ops()['job-queues'].get()).queues, queueColumns, '')
  },
})

const pauseJobs = command('pause', {
  columns: queueColumns,
  summary: 'Start no more jobs of a type; running jobs continue',
  about:
    'New jobs are still accepted and wait in the queue, up to a day of work. The pause applies to all processes and survives restarts. Recorded as job.paused.',
  examples: ['jobs pause video', 'jobs pause research --yes --reason "search server down"'],
  impact: 'write',
  danger: 'moderate',
  args: { type: TYPE },
  exits: [],
  async run(shell, { type }) {
    if (shell.planned(`stop starting ${type} jobs`)) return
    shell.confirm(`Stop starting ${type} jobs until you run jobs resume ${type}?`)
    const { queues } = expectData(await (await shell.connect()).ops()['job-queues']({ id: type }).pause.post())
    printOne(shell, queues, type)
    shell.note(`Undo: svc-admin jobs resume ${type}`)
  },
})

const resumeJobs = command('resume', {
  columns: queueColumns,
  summary: 'Resume starting jobs of a type',
  about: 'Waiting jobs start in the order of the queue. Recorded as job.resumed.',
  examples: ['jobs resume video', 'jobs resume research --json'],
  impact: 'write',
  args: { type: TYPE },
  exits: [],
  async run(shell, { type }) {
    if (shell.planned(`start ${type} jobs again`)) return
    printOne(
      shell,
      expectData(await (await shell.connect()).ops()['job-queues']({ id: type }).resume.post()).queues,
      type,
    )
  },
})

function printOne(shell: Shell, queues: readonly { type: string }[], type: string): void {
  shell.print.item(queues.find((queue) => queue.type === type) ?? {}, queueColumns)
}

const purgeColumns = columnsOf`jobs DELETED number`
const DAY_MS = 86_400_000
const STORED_DAYS = 30

const purgeJobs = command('purge', {
  columns: purgeColumns,
  summary: 'Delete old finished jobs with their results and logs',
  about:
    'The server does this by itself 30 days after a job ends; --before chooses a shorter time. Files from the jobs stay, and so do usage, ledger and audit record. This cannot be undone. Recorded as job.purged.',
  examples: ['jobs purge --before 7d --dry-run', 'jobs purge --before 7d --org acme --yes'],
  impact: 'write',
  danger: 'moderate',
  exits: [3],
  flags: { before: duration('TIME', `only jobs that ended at least this long ago; ${STORED_DAYS}d by default`) },
  async run(shell, { before = STORED_DAYS * DAY_MS }) {
    const { org } = shell.globals
    const moment = new Date(shell.clock.now() - before).toISOString()
    const input = { before: moment, ...(org ? { owner: org } : {}) }
    const purge = (await shell.connect()).ops().jobs.purge
    const { jobs } = expectData(await purge.post({ ...input, count_only: true }))
    const what = `${jobs} jobs that ended before ${moment}${org ? ` of ${org}` : ''}`
    if (shell.planned(`delete ${what}`)) return
    if (jobs) shell.confirm(`Delete ${what}? It cannot be undone.`)
    shell.print.item(expectData(await purge.post(input)), purgeColumns)
  },
})

export const jobCommands = [
  listJobs,
  getJob,
  waitForJob,
  cancelJobs,
  retryJobs,
  verifyJob,
  jobLog,
  jobQueues,
  pauseJobs,
  resumeJobs,
  purgeJobs,
]
