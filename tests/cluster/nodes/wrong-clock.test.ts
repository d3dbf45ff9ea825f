import { afterAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { eventually } from '../../support/eventually'
import { devKeyOf, type ServerProcess } from '../../support/server-process'
import { postgresUrl } from '../../support/store'
import { temporaryFolder } from '../../support/temporary-folder'
import { startTwoNodes } from '../../support/two-nodes'

if (!postgresUrl)
  process.stdout.write('NOT RUN: a node with a wrong clock, because SVC_TEST_POSTGRES_URL is not set.\n')

const MINUTE_MS = 60_000
/** A node looks for jobs every two seconds at least. */
const SEVERAL_LOOKS_MS = 5_000
const SHIFTED = [process.execPath, '--preload', './tests/support/shifted-clock.ts', 'src/main.ts']

test.skipIf(!postgresUrl)(
  'a node with a wrong clock goes by that of the database, says so, and far off takes no work',
  async () => {
    const shift = join(temporaryFolder('svc-wrong-clock-'), 'shift')
    writeFileSync(shift, String(30_000))
    const settings = { SVC_LOG_LEVEL: 'info', SVC_LOG_FORMAT: 'json', SHIFT_FILE: shift }
    const both = await startTwoNodes(settings, { command: SHIFTED })
    const { one: right, other: wrong, home, away: other, databaseUrl } = both
    const client = new SQL(databaseUrl, { max: 1 })
    afterAll(() => client.close())

    const headers = { authorization: `Bearer ${devKeyOf(home)}`, 'content-type': 'application/json' }
    const ask = async ({ url }: ServerProcess, path: string, input: RequestInit = {}) => {
      const response = await fetch(`${url}/api/v1/${path}`, { headers, ...input })
      return { status: response.status, body: (await response.json()) as Record<string, string> }
    }
    const statusOf = async (dataDir: string) => {
      const response = await fetch('http://localhost/ops/v1/status', { unix: join(dataDir, 'ops.sock') } as RequestInit)
      return (await response.json()) as { nodes: { clock_ahead_ms: number }; health: string }
    }
    const near = (at: string | number) => Math.abs(new Date(at).getTime() - Date.now())

    // Half a minute off: times are those of the database, and the operator is told.
    expect((await ask(wrong, 'health')).status).toBe(200)
    expect(near((await ask(wrong, 'health')).body.timestamp!)).toBeLessThan(15_000)
    expect((await statusOf(home)).nodes.clock_ahead_ms).toBeLessThan(5_000)
    expect((await statusOf(other)).nodes.clock_ahead_ms).toBeGreaterThan(25_000)
    const expiring = { name: 'brief', expires_at: new Date(Date.now() + 20_000).toISOString() }
    const made = await ask(right, 'keys', { method: 'POST', body: JSON.stringify(expiring) })
    const use = ({ url }: ServerProcess) =>
      fetch(`${url}/api/v1/models`, { headers: { authorization: `Bearer ${made.body.key}` } }).then(
        ({ status }) => status,
      )
    expect({ right: await use(right), wrong: await use(wrong) }).toEqual({ right: 200, wrong: 200 })

    // Ten minutes behind: no longer ready, and what is due is left to others.
    writeFileSync(shift, String(-10 * MINUTE_MS))
    await eventually(async () => (await ask(wrong, 'health')).status === 503)
    expect((await statusOf(other)).nodes.clock_ahead_ms).toBeLessThan(-9 * MINUTE_MS)
    expect((await ask(right, 'health')).status).toBe(200)
    expect((await ask(wrong, 'models')).status).toBe(200)
    await right.stop()
    const due = Date.now() - 1_000
    await client`UPDATE jobs SET run_at = ${due} WHERE kind = 'jobs.tidy'`
    const isLeft = async () => {
      const [job] = await client`SELECT run_at, lease_until FROM jobs WHERE kind = 'jobs.tidy'`
      // Put in line at most: one that ran is due again later.
      return job.lease_until === null && Number(job.run_at ?? due) === due
    }
    await Bun.sleep(SEVERAL_LOOKS_MS)
    expect(await isLeft()).toBe(true)

    // Right again: it is ready, and takes work.
    writeFileSync(shift, '0')
    await eventually(async () => (await ask(wrong, 'health')).status === 200)
    expect((await statusOf(other)).nodes.clock_ahead_ms).toBe(0)
    await eventually(async () => !(await isLeft()))
    await wrong.stop()
    const notice = await wrong.output()
    for (const words of ['uses the clock of the database', 'takes no work', 'is correct again'])
      expect(notice.split('\n').filter((line) => line.includes(words))).toHaveLength(1)
  },
)
