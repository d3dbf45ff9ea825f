import type { JobLog } from '../../src/charging/public-jobs-schema'
import { defineCommand } from '../command'
import { EXIT, expectData } from '../failure'
import { formatOf } from '../globals'
import { column } from '../output/columns'
import { safeJson } from '../output/json'
import { isStructured } from '../output/print'
import { argument, flag } from '../words'
import { ID } from './jobs-columns'

const PAUSE_MS = 1_000

const stepColumns = [
  column('at', 'AT', { kind: 'time' }),
  column('attempt', 'TRY', { kind: 'number' }),
  column('what', 'WHAT'),
  column('detail', 'DETAIL'),
]

export const jobLog = defineCommand({
  path: 'jobs logs',
  summary: 'Show what each attempt of a job did, and why it was postponed',
  about:
    'begun names the process that started the job, and stage shows what it did. put_off shows why the job is tried again later, and lost means that the process died. With --follow it prints new entries until the job ends.',
  examples: ['jobs logs job_…', 'jobs logs job_… --follow'],
  apis: ['operator'],
  impact: 'read',
  exits: [3],
  columns: stepColumns,
  args: { id: argument(ID) },
  flags: { follow: { ...flag('keep printing until the job ends'), short: 'f' } },
  async run(shell, { id, follow }) {
    const connection = await shell.connect()
    const read = async (): Promise<JobLog> =>
      expectData(
        await connection
          .ops()
          .jobs({ id: encodeURIComponent(id) })
          .log.get(),
      )
    const first = await read()
    if (!follow) return shell.print.list(first.steps, stepColumns, '')
    const asJson = isStructured(formatOf(shell.globals)) || !shell.io.outIsTty
    const feed = asJson ? null : shell.print.feed(stepColumns)
    for (let [shown, log] = [0, first]; ; log = await read()) {
      const news = log.steps.slice(shown)
      shown = log.steps.length
      if (feed) feed(news)
      else for (const step of news) shell.io.out(safeJson(step))
      if (log.status === 'completed' || log.status === 'failed') return
      await shell.clock.sleep(PAUSE_MS, shell.signal)
      if (shell.signal.aborted) break
    }
    shell.exitCode = EXIT.interrupted
  },
})
