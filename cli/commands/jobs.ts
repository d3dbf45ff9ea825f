import type { Job } from '../../src/charging/public-jobs-schema'
import { defineCommand } from '../command'
import { deliver, piecesOf } from '../download'
import { CheckFailed, EXIT } from '../failure'
import { pageFlags, printPages } from '../pages'
import type { Shell } from '../shell'
import { argument, choice, duration, flag, text } from '../words'
import { hasEnded, ID, jobColumns, jobOver, progressBar } from './jobs-columns'
import { jobFilters, jobPages } from './jobs-find'

const POLL_MS = 2_000
const PATIENCE_MS = 600_000

const common = { apis: ['tenant', 'operator'], columns: jobColumns } as const

const listJobs = defineCommand({
  ...common,
  path: 'jobs list',
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
  impact: 'read',
  exits: [3],
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

const getJob = defineCommand({
  ...common,
  path: 'jobs get',
  summary: 'Show one job: its state, progress, tries, cost and result',
  about:
    'With --result it prints only the result: the report as it is, or the address of the file, which works for an hour. With --out the file itself, or the report, is saved; only you can read it. With --watch it is read again every two seconds.',
  examples: ['jobs get job_… --watch', 'jobs get job_… --result > report.md', 'jobs get job_… --out clip.mp4'],
  impact: 'read',
  exits: [3],
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
  } else await deliver(shell, inOnePiece(job.result!), out)
  shell.note(`Saved ${out}`)
}

async function* inOnePiece(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

const waitForJob = defineCommand({
  ...common,
  path: 'jobs wait',
  summary: 'Wait until a job ends, and exit with its result',
  about:
    'Prints each step of progress as one line on stderr. Exits 0 when the job is completed and 9 when it failed. Exits 8 when time runs out; the job continues.',
  examples: ['jobs wait job_…', 'jobs wait job_… --within 5m --json'],
  offline: false,
  impact: 'read',
  exits: [3, 8, 9],
  args: { id: argument(ID) },
  flags: { within: duration('TIME', 'longest wait; 10m by default') },
  async run(shell, { id, within = PATIENCE_MS }) {
    const one = await jobOver(shell, id)
    const until = shell.clock.monotonic() + within
    let text = ''
    for (;;) {
      const job = await one.get()
      const line = `${progressBar(job.progress)} ${job.stage ?? job.status}`
      if (line !== text) shell.note(line)
      text = line
      if (hasEnded(job)) return finish(shell, job)
      if (shell.clock.monotonic() >= until || shell.signal.aborted) break
      await shell.clock.sleep(POLL_MS, shell.signal)
    }
    shell.exitCode = shell.signal.aborted ? EXIT.interrupted : EXIT.pending
    shell.note(`The job is still running. Wait again with: svc-admin jobs wait ${id}`)
  },
})

function finish(shell: Shell, job: Job): void {
  shell.print.item(job, jobColumns)
  if (job.status === 'failed') throw new CheckFailed()
}

export const jobCommands = [listJobs, getJob, waitForJob]
