import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { SQL } from 'bun'
import { onceDatabaseAnswers } from '../../src/app/start-errors'
import { ConfigError } from '../../src/kernel/config'
import { storageUnavailable } from '../../src/kernel/errors'
import { ownPostgres } from '../run/postgres'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { spawnServer } from '../support/server-process'
import { startTcpProxy } from '../support/tcp-proxy'
import { temporaryFolder } from '../support/temporary-folder'

const postgres = await ownPostgres().catch((error: Error) => ({ missing: `Postgres did not start: ${error.message}` }))
if ('missing' in postgres) process.stdout.write(`NOT RUN: a Postgres that is late, because ${postgres.missing}\n`)

const refused = Object.assign(new Error('Failed to connect'), { code: 'ERR_POSTGRES_CONNECTION_REFUSED' })

/** Starts until `ends`, on a clock that passes half a second with each attempt that failed. */
async function started(attempt: (n: number) => unknown, stop = new AbortController()) {
  const [clock, printed] = [fakeClock(), [] as string[]]
  let attempts = 0
  const start = async () => attempt(++attempts)
  const ends = onceDatabaseAnswers(start, { clock, stop: stop.signal, say: (line) => printed.push(line) })
  const over = ends.then(
    (value) => ({ value, error: null }),
    (error: Error) => ({ value: null, error }),
  )
  const outcome = await eventually(
    async () => {
      clock.advance(500)
      return Promise.race([over, new Promise<null>((resolve) => setImmediate(() => resolve(null)))])
    },
    (found) => found !== null,
  )
  return { ...outcome!, attempts, printed }
}

describe('a start whose database does not answer', () => {
  test('goes on when it answers, and says once why it waits', async () => {
    const failures = [
      new ConfigError(['Postgres cannot be used.'], refused),
      storageUnavailable.with({ cause: refused }),
    ]
    const { value, attempts, printed } = await started((n) => {
      if (failures[n - 1]) throw failures[n - 1]
      return 'served'
    })
    expect({ value, attempts, printed }).toEqual({
      value: 'served',
      attempts: 3,
      printed: ['Postgres cannot be used. Trying again for 30 s.\n'],
    })
  })

  test('ends after 30 s with the last problem', async () => {
    const { error, attempts } = await started(() => Promise.reject(storageUnavailable.with({ cause: refused })))
    expect(error).toBeInstanceOf(ConfigError)
    expect((error as Error).message).toContain('The database cannot be written to')
    expect(attempts).toBeGreaterThan(50)
    expect(attempts).toBeLessThan(63)
  })

  test('fails at once for a wrong password, and ends without a start when it is told to stop', async () => {
    const wrong = new ConfigError(['Check SVC_DATABASE_URL.'], Object.assign(new Error(), { errno: '28P01' }))
    expect(await started(() => Promise.reject(wrong))).toMatchObject({ error: wrong, attempts: 1, printed: [] })
    const stop = new AbortController()
    const stopped = await started((n) => {
      if (n === 3) stop.abort()
      throw refused
    }, stop)
    expect(stopped).toMatchObject({ value: null, attempts: 3 })
  })
})

describe.skipIf('missing' in postgres)('a server that starts while Postgres does not answer', () => {
  if ('missing' in postgres) return
  const root = temporaryFolder('svc-late-')
  afterAll(postgres.stop)

  test('serves once Postgres is there, also if each commit of its start loses its answer, and leaves nothing open', async () => {
    const { hostname, port } = new URL(postgres.url)
    const cable = await startTcpProxy({ hostname, port: Number(port) })
    await postgres.crash()
    const SVC_DATABASE_URL = `postgres://postgres@127.0.0.1:${cable.port}/postgres`
    const server = await spawnServer({ dataDir: join(root, 'late'), env: { SVC_DATABASE_URL } })
    await eventually(() => server.printed().includes('Trying again for 30 s.'), Boolean, 20_000)
    // Each attempt then gets one commit further, and fails because it never hears of it.
    cable.loseCommits(true)
    await postgres.start()
    const client = new SQL(postgres.url, { max: 1 })
    const hasJoined = async () => (await client`SELECT id FROM nodes`.catch(() => [])).length > 0
    await eventually(hasJoined, Boolean, 20_000)
    cable.loseCommits(false)
    const isServing = async () => (await fetch(`${server.url}/api/v1/health`).catch(() => null))?.ok === true
    await eventually(isServing, Boolean, 30_000)
    expect(server.exitCode()).toBeNull()
    const [{ nodes }] = await client`SELECT count(*)::int AS nodes FROM nodes WHERE roles <> ''`
    const [{ sessions }] = await client`
      SELECT count(DISTINCT split_part(application_name, ' ', 2))::int AS sessions FROM pg_stat_activity
      WHERE application_name LIKE 'svc %'`
    await client.close()
    expect({ nodes, sessions }).toEqual({ nodes: 1, sessions: 1 })
    expect(await server.stop()).toBe(0)
  }, 120_000)
})
