import { type Arg, defineCommand } from '../command'
import { BadWord, expectData } from '../failure'
import { column } from '../output/columns'
import type { Shell } from '../shell'
import { duration } from '../words'

const queueColumns = [
  column('type', 'TYPE'),
  column('queued', 'QUEUED', { kind: 'number' }),
  column('oldest_at', 'OLDEST', { kind: 'time' }),
  column('active', 'ACTIVE', { kind: 'number' }),
  column('put_off', 'PUT OFF', { kind: 'number' }),
  column('workers', 'WORKERS', { kind: 'number' }),
  column('nodes', 'NODES', { kind: 'number' }),
  column('paused_at', 'PAUSED', { kind: 'time' }),
]

const common = { apis: ['operator'] } as const
const TYPES = ['research', 'video'] as const

const TYPE: Arg<(typeof TYPES)[number]> = {
  about: 'research or video',
  required: true,
  read: (word) => {
    const type = TYPES.find((known) => known === word)
    if (!type) throw new BadWord(`is "${word}"; it must be one of ${TYPES.join(', ')}`)
    return type
  },
}

const jobQueues = defineCommand({
  ...common,
  columns: queueColumns,
  path: 'jobs queues',
  summary: 'Show how many jobs of each type are waiting and running, and since when',
  about:
    'WORKERS is how many jobs each process runs at once. NODES is how many processes run one now. PUT OFF counts jobs that wait for another try. With --watch it is read again every two seconds.',
  examples: ['jobs queues', 'jobs queues --watch'],
  impact: 'read',
  watchable: true,
  async run(shell) {
    const connection = await shell.connect()
    shell.print.list(expectData(await connection.ops()['job-queues'].get()).queues, queueColumns, '')
  },
})

const pauseJobs = defineCommand({
  ...common,
  columns: queueColumns,
  path: 'jobs pause',
  summary: 'Start no more jobs of a type; running jobs continue',
  about:
    'New jobs are still accepted and wait in the queue, up to a day of work. The pause applies to all processes and survives restarts. Recorded as job.paused.',
  examples: ['jobs pause video', 'jobs pause research --yes --reason "search server down"'],
  impact: 'write',
  danger: 'moderate',
  args: { type: TYPE },
  async run(shell, { type }) {
    if (shell.planned(`stop starting ${type} jobs`)) return
    shell.confirm(`Stop starting ${type} jobs until you run jobs resume ${type}?`)
    const connection = await shell.connect()
    const { queues } = expectData(await connection.ops()['job-queues']({ id: type }).pause.post())
    printOne(shell, queues, type)
    shell.note(`Undo: svc-admin jobs resume ${type}`)
  },
})

const resumeJobs = defineCommand({
  ...common,
  columns: queueColumns,
  path: 'jobs resume',
  summary: 'Resume starting jobs of a type',
  about: 'Waiting jobs start in the order of the queue. Recorded as job.resumed.',
  examples: ['jobs resume video', 'jobs resume research --json'],
  impact: 'write',
  args: { type: TYPE },
  async run(shell, { type }) {
    if (shell.planned(`start ${type} jobs again`)) return
    const connection = await shell.connect()
    printOne(shell, expectData(await connection.ops()['job-queues']({ id: type }).resume.post()).queues, type)
  },
})

function printOne(shell: Shell, queues: readonly { type: string }[], type: string): void {
  shell.print.item(queues.find((queue) => queue.type === type) ?? {}, queueColumns)
}

const purgeColumns = [column('jobs', 'DELETED', { kind: 'number' })]
const DAY_MS = 86_400_000
const STORED_DAYS = 30

const purgeJobs = defineCommand({
  ...common,
  columns: purgeColumns,
  path: 'jobs purge',
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
    const connection = await shell.connect()
    const purge = connection.ops().jobs.purge
    const { jobs } = expectData(await purge.post({ ...input, count_only: true }))
    const what = `${jobs} jobs that ended before ${moment}${org ? ` of ${org}` : ''}`
    if (shell.planned(`delete ${what}`)) return
    if (jobs) shell.confirm(`Delete ${what}? It cannot be undone.`)
    shell.print.item(expectData(await purge.post(input)), purgeColumns)
  },
})

export const jobQueueCommands = [jobQueues, pauseJobs, resumeJobs, purgeJobs]
