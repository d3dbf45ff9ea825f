import { Readable } from 'node:stream'
import type { Job } from '../../src/charging/public-jobs-schema'
import { iso } from '../../src/kernel/clock'
import { counted } from '../../src/kernel/text'
import { apiOf, columnsOf, commandsOf, defined } from '../command'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { deliver, piecesOf } from '../files'
import { everyEntry, followRows, type PageQuery, pageIn, poll, printEach } from '../pages'
import { rowArgument } from '../resource'
import type { Shell } from '../shell'
import { choice, duration, flag, oneOf, text, words } from '../words'

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

const TYPES = ['research', 'video', 'response', 'batch'] as const
const id = rowArgument('job', async (shell) => everyEntry(await jobPages(shell, {})), /^job_\w{24}$/)
const args = {
  id,
  ids: { ...words('ids of the jobs, or the start of each id'), idFor: id.idFor },
  type: oneOf(TYPES, 'research, video, response or batch'),
}

/** One job over either API. */
async function jobOver(shell: Shell, id: string) {
  const one = (await apiOf(shell)).api.jobs({ id })
  const done = async (reply: Promise<Parameters<typeof expectData<{ job: Job }>>[0]>) => expectData(await reply).job
  return { get: () => done(one.get()), cancel: () => done(one.cancel.post()), retry: () => done(one.retry.post()) }
}

type Wanted = { type?: Job['type'] | undefined; status?: Job['status'] | undefined; key?: string | undefined }

/** Filters for the list of jobs and for retrying many. */
const jobFilters = {
  type: choice([...TYPES, 'tests'], 'only jobs of this type'),
  key: text('KEY', 'only jobs that this key started'),
}

/** Returns a function that reads a page of the matching jobs, newest first. */
async function jobPages(shell: Shell, { type, status, key }: Wanted) {
  const { api, ownerFilter, isOperator } = await apiOf(shell)
  // Operators may name a key by its beginning. A tenant knows the ids of its own keys.
  const found = key && isOperator ? expectData(await api.keys({ ref: key }).get()).id : key
  const only = defined({ type, status, api_key_id: found, ...ownerFilter })
  return (input: PageQuery) => pageIn(api.jobs.get({ query: { ...input, ...only } }), 'jobs')
}

const POLL_MS = 2_000
const PATIENCE_MS = 600_000
const DAY_MS = 86_400_000
const STORED_DAYS = 30

const stepColumns = columnsOf`at AT time, attempt TRY number, what WHAT, detail DETAIL`

const queueColumns = columnsOf`
  type TYPE, queued QUEUED number, oldest_at OLDEST time, active ACTIVE number, put_off PUT OFF number,
  workers WORKERS number, nodes NODES number, paused_at PAUSED time`

const tenants = { apis: ['tenant', 'operator'] } as const
const command = commandsOf('jobs', { apis: ['operator'], columns: jobColumns, args })

/** The row of one type in the printed queues. */
const rowOf = ({ queues }: { queues: readonly { type: string }[] }, { type }: { type: string }) =>
  queues.find((queue) => queue.type === type) ?? {}

export const jobCommands = [
  command`list (pages items): List research and video jobs, newest first
  On the server's machine it lists all jobs, or with --org those of one organization or user. Over --url it lists your own. With --watch the list is read again every two seconds.
  $ jobs list
  $ jobs list --status queued --older 5m
  $ jobs list --status active --watch
  $ jobs list --type video --org acme --json
  $ jobs list --key 31aa07c2 --status failed`({
    ...tenants,
    flags: {
      type: jobFilters.type,
      status: choice(['queued', 'active', 'completed', 'failed'], 'only in this state'),
      key: jobFilters.key,
      older: duration('TIME', 'only jobs queued at least this long ago'),
    },
    find: async (shell, wanted) => ({ pages: await jobPages(shell, wanted) }),
    answer: ({ page }, { pages }) => pages(page),
    shown: ({ items }, { older = 0 }, { clock }) =>
      older > 0 ? items.filter(({ created_at }) => Date.parse(created_at ?? '') <= clock.now() - older) : items,
    empty: 'No jobs yet. Research and video requests appear here.',
  }),
  command`get ID (watchable): Show one job: its state, progress, tries, cost and result
  With --result it prints only the result: the report as it is, or the address of the file, which works for an hour. With --out the file itself, or the report, is saved; only you can read it. With --watch it is read again every two seconds.
  $ jobs get job_… --watch
  $ jobs get job_… --result > report.md
  $ jobs get job_… --out clip.mp4`({
    ...tenants,
    flags: { result: flag('print only the result'), out: text('FILE', 'save the file of the job, or its report') },
    async run(shell, { id, result, out }) {
      const job = await (await jobOver(shell, id)).get()
      if (out !== undefined && job.result !== null) {
        // The exact result: a file through its link, a report as it is.
        const { url } = (job.result_data ?? {}) as { url?: unknown }
        const isFile = url === job.result
        const { follow } = await shell.connect()
        const pieces = isFile ? await piecesOf(await follow(job.result)) : Readable.from([Buffer.from(job.result)])
        await deliver(shell, pieces, out)
        return shell.note(`Saved ${out}`)
      }
      if (!result && out === undefined) return shell.print.item(job, jobColumns)
      if (job.result !== null) return shell.io.raw(job.result.endsWith('\n') ? job.result : `${job.result}\n`)
      shell.note(job.error === null ? `It is ${job.status}, ${progressBar(job.progress)}.` : `It failed: ${job.error}`)
      throw new CheckFailed()
    },
  }),
  command`wait ID (live, exits 3 8 9): Wait until a job ends, and exit with its result
  Prints each step of progress as one line on stderr. Exits 0 when the job is completed and 9 when it failed. Exits 8 when time runs out; the job continues.
  $ jobs wait job_…
  $ jobs wait job_… --within 5m --json`({
    ...tenants,
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
  }),
  command`cancel IDS (moderate): Cancel jobs that have not ended
  The jobs become failed with the error cancelled, and their reserved credit is released. Recorded as job.cancelled.
  $ jobs cancel job_…
  $ jobs cancel job_… job_… --yes`({
    ...tenants,
    action: ({ ids }) => sentenceOf('cancel', ids),
    run: (shell, { ids }) => each(shell, ids, 'cancel'),
  }),
  command`retry IDS (moderate, exits 3 5 6): Queue failed jobs again, as new jobs
  Creates a new job for each and prints its id, because an ended job never changes. Its owner pays again. --all retries every failed job that matches --type, --key, --since, --error and --org. Cancelled jobs are included only if --error names them. Recorded as job.retried.
  $ jobs retry job_…
  $ jobs retry job_… job_… --yes --json
  $ jobs retry --all --type video --since 2h --dry-run`({
    flags: {
      all: flag('every failed job that matches the filters, instead of ids'),
      ...jobFilters,
      since: duration('TIME', 'only jobs that failed in this time'),
      error: text('WORDS', 'only jobs whose error contains these words'),
    },
    async find(shell, { ids, all, since, error, ...only }) {
      if (!all) return { chosen: ids }
      if (ids.length) throw usageFailure('jobs retry takes ids or --all, not both.', 'leave one of them out')
      const failed = await everyEntry(await jobPages(shell, { ...only, status: 'failed' }))
      const from = since === undefined ? 0 : shell.clock.now() - since
      const wanted = shell.print
        .kept(failed, jobColumns)
        .filter(
          (job) =>
            Date.parse(job.completed_at ?? '') >= from &&
            (error === undefined ? job.error !== 'cancelled' : (job.error ?? '').includes(error)),
        )
      return { chosen: wanted.map(({ id }) => id) }
    },
    action: ({ all, chosen }) => (all && !chosen.length ? undefined : sentenceOf('retry', chosen)),
    run: (shell, { chosen }) => each(shell, chosen, 'retry'),
  }),
  command`verify ID (exits 3 5 9): Check that each quotation of a research report is in its source
  Uses the snapshots stored with the report: no source is read again and no engine is called. Prints the quotations that fail, and then exits 9.
  $ jobs verify job_…`({
    ...tenants,
    columns: columnsOf`
      job_id JOB, sound SOUND, quotations QUOTATIONS number, found FOUND number, sources SOURCES number`,
    request: ({ api }, { id }) => api.jobs({ id }).verification.get(),
    note: ({ problems }) => problems.join('\n') || undefined,
    ok: ({ sound }) => sound,
  }),
  command`logs ID: Show what each attempt of a job did, and why it was postponed
  begun names the process that started the job, and stage shows what it did. put_off shows why the job is tried again later, and lost means that the process died. With --follow it prints new entries until the job ends.
  $ jobs logs job_…
  $ jobs logs job_… --follow`({
    columns: stepColumns,
    flags: { follow: { ...flag('keep printing until the job ends'), short: 'f' } },
    async run(shell, { id, follow }) {
      const one = (await shell.connect()).ops().jobs({ id })
      if (!follow) return shell.print.list(expectData(await one.log.get()).steps, stepColumns, '')
      await followRows(shell, stepColumns, async () => {
        const { steps, status } = expectData(await one.log.get())
        return { rows: steps, isOver: status === 'completed' || status === 'failed' }
      })
    },
  }),
  command`queues (exits, shows queues): Show how many jobs of each type are waiting and running, and since when
  WORKERS is how many jobs each process runs at once. NODES is how many processes run one now. PUT OFF counts jobs that wait for another try. With --watch it is read again every two seconds.
  $ jobs queues
  $ jobs queues --watch`({
    columns: queueColumns,
    request: ({ ops }) => ops['job-queues'].get(),
  }),
  command`pause TYPE (moderate, exits): Start no more jobs of a type; running jobs continue
  New jobs are still accepted and wait in the queue, up to a day of work. The pause applies to all processes and survives restarts. Recorded as job.paused.
  $ jobs pause video
  $ jobs pause research --yes --reason "search server down"`({
    columns: queueColumns,
    action: ({ type }) => `stop starting ${type} jobs`,
    question: ({ type }) => `Stop starting ${type} jobs until you run jobs resume ${type}?`,
    request: ({ ops }, { type }) => ops['job-queues']({ id: type }).pause.post(),
    shown: rowOf,
    note: (_, { type }) => `Undo: svc-admin jobs resume ${type}`,
  }),
  command`resume TYPE (exits): Resume starting jobs of a type
  Waiting jobs start in the order of the queue. Recorded as job.resumed.
  $ jobs resume video
  $ jobs resume research --json`({
    columns: queueColumns,
    action: ({ type }) => `start ${type} jobs again`,
    request: ({ ops }, { type }) => ops['job-queues']({ id: type }).resume.post(),
    shown: rowOf,
  }),
  command`purge (moderate, exits 3): Delete old finished jobs with their results and logs
  The server does this by itself 30 days after a job ends; --before chooses a shorter time. Files from the jobs stay, and so do usage, ledger and audit record. This cannot be undone. Recorded as job.purged.
  $ jobs purge --before 7d --dry-run
  $ jobs purge --before 7d --org acme --yes`({
    columns: columnsOf`jobs DELETED number`,
    flags: { before: duration('TIME', `only jobs that ended at least this long ago; ${STORED_DAYS}d by default`) },
    async find(shell, { before = STORED_DAYS * DAY_MS }) {
      const { org: owner } = shell.globals
      const input = defined({ before: iso(shell.clock.now() - before), owner: owner || undefined })
      const { jobs } = expectData(await (await shell.connect()).ops().jobs.purge.post({ ...input, count_only: true }))
      return {
        input,
        jobs,
        what: `${counted(jobs, 'job')} that ended before ${input.before}${owner ? ` of ${owner}` : ''}`,
      }
    },
    action: ({ what }) => `delete ${what}`,
    question: ({ jobs }) => (jobs ? ' It cannot be undone.' : null),
    request: ({ ops }, { input }) => ops.jobs.purge.post(input),
  }),
]

/** `cancel job job_1`, `retry 3 jobs`. @throws CommandFailed 2 without an id */
function sentenceOf(word: 'cancel' | 'retry', ids: readonly string[]): string {
  if (!ids.length) throw usageFailure(`jobs ${word} needs the id of a job.`, 'svc-admin jobs list shows them')
  return `${word} ${ids.length === 1 ? `job ${ids[0]}` : `${ids.length} jobs`}`
}

/** Applies `word` to each job in order, and prints the results, also those before an error ends the loop. */
const each = (shell: Shell, ids: readonly string[], word: 'cancel' | 'retry'): Promise<void> =>
  printEach(
    shell,
    jobColumns,
    ids,
    async (id) => (await jobOver(shell, id))[word](),
    'No failed job matches the filters.',
  )
