import { defineCommand } from '../command'
import { CheckFailed, replyFailure } from '../failure'
import { column } from '../output/columns'
import { assertDev } from '../seed/dev-only'
import { duration, text, whole } from '../words'

const FOR_MS = 60_000
/** Prompts that ordinary code can answer, each a little different so that the cache answers none. */
const PROMPTS = ['What is {n} times 7?', 'Count to five slowly, {n}', 'Write the date {n} days from today']

const columns = [
  column('sent', 'SENT', { kind: 'number' }),
  column('ok', 'OK', { kind: 'number' }),
  column('failed', 'FAILED', { kind: 'number' }),
  column('per_second', 'PER SECOND', { kind: 'number' }),
  column('p50_ms', 'P50 MS', { kind: 'number' }),
  column('p95_ms', 'P95 MS', { kind: 'number' }),
  column('first_problem', 'FIRST PROBLEM'),
]

export const devLoad = defineCommand({
  path: 'dev load',
  summary: 'Send completions at a steady rate',
  about:
    'Calls the API with the key of the first start, or with --key-file, until the time is over or you press Ctrl-C. It sends each call on time, without waiting for earlier answers. Not available in production mode, because each call is charged. Exits 9 when calls failed.',
  examples: ['dev load --rps 5 --for 60s', 'dev load --rps 20 --for 10s --mode code --json'],
  apis: ['operator'],
  offline: false,
  impact: 'write',
  exits: [5, 9],
  columns,
  flags: {
    rps: whole('N', 'calls per second; 5 by default', { min: 1, max: 500 }),
    for: duration('60s', 'how long to run; 60s by default'),
    mode: text('MODE', 'fast by default'),
  },
  async run(shell, { rps = 5, for: lasting = FOR_MS, mode = 'fast' }) {
    if (shell.planned(`send ${Math.round((rps * lasting) / 1000)} completions`)) return
    const connection = await shell.connect()
    await assertDev(connection, 'dev load')
    const { client } = await connection.tenant()
    const began = shell.clock.monotonic()
    const times: number[] = []
    const calls: Promise<void>[] = []
    let problem: string | null = null
    let failed = 0

    async function call(n: number): Promise<void> {
      const since = shell.clock.monotonic()
      const prompt = PROMPTS[n % PROMPTS.length]!.replace('{n}', String(n))
      const { status, error } = await client.completions.post({ prompt, mode } as never)
      if (error === null) times.push(shell.clock.monotonic() - since)
      else {
        failed += 1
        problem ??= replyFailure(status, error.value).message
      }
    }

    for (let n = 0; shell.clock.monotonic() - began < lasting && !shell.signal.aborted; n++) {
      calls.push(call(n))
      const next = ((n + 1) * 1000) / rps - (shell.clock.monotonic() - began)
      if (next > 0) await shell.clock.sleep(next, shell.signal)
    }
    await Promise.all(calls)
    const seconds = (shell.clock.monotonic() - began) / 1000
    const at = (share: number) =>
      Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
    const sorted = times.toSorted((a, b) => a - b)
    const per_second = Math.round((calls.length / seconds) * 10) / 10
    const sums = { sent: calls.length, ok: times.length, failed, per_second, p50_ms: at(0.5), p95_ms: at(0.95) }
    shell.print.item({ ...sums, first_problem: problem }, columns)
    if (failed) throw new CheckFailed()
  },
})
