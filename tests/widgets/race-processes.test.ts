import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isLong } from '../support/long'
import { seededRandom } from '../support/random'
import { devKeyOf, type ServerProcess, startServerProcess } from '../support/server-process'
import { createMigratedDatabase, postgresUrl } from '../support/store'
import { raced, races, violationsOf, watchCommits } from './races'
import { SHOP } from './world'

if (!postgresUrl) process.stdout.write('NOT RUN: races of real processes, because SVC_TEST_POSTGRES_URL is not set.\n')

const ROUNDS = isLong ? 300 : 30
const PATIENCE_MS = 300_000
const ENV = {
  SVC_TIERS: JSON.stringify({ enterprise: { rpm: 100_000_000, tpm: 100_000_000_000, text: 100_000_000 } }),
  SVC_WIDGET_SESSIONS_PER_HOUR: '1000',
  SVC_WIDGET_MESSAGES_PER_MINUTE: '100000',
}

const stops: (() => unknown)[] = []
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

test.skipIf(!postgresUrl)(
  'two real processes on one Postgres: the AI never answers while a person has the chat (I36, M10)',
  async () => {
    const database = await createMigratedDatabase(postgresUrl!)
    stops.push(() => database.drop())
    const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'svc-race-')))
    stops.push(() => folders.map((folder) => rmSync(folder, { recursive: true, force: true })))
    const servers: ServerProcess[] = []
    for (const dataDir of folders) {
      if (servers.length) copyFileSync(join(folders[0]!, 'secrets.json'), join(dataDir, 'secrets.json'))
      const server = await startServerProcess({ dataDir, env: { ...ENV, SVC_DATABASE_URL: database.url } })
      stops.push(() => server.kill())
      servers.push(server)
    }
    const key = devKeyOf(folders[0]!)
    const { pick, between } = seededRandom(11)
    const ask = async (method: string, path: string, body: object | null, headers: Record<string, string>) => {
      const response = await fetch(`${pick(servers).url}/api/v1/${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
      return { status: response.status, body: (await response.json()) as any }
    }
    const owner = { authorization: `Bearer ${key}` }
    const { keys } = (await ask('GET', 'keys', null, owner)).body
    const security = { allowedOrigins: [SHOP], maxMessagesPerSession: 10_000 }
    const { id } = (await ask('POST', 'iframes', { api_key_id: keys[0].id, security }, owner)).body
    const commits = await watchCommits({ config: { databaseUrl: database.url }, folder: folders[0]! } as never)
    const chats = await raced(async () => {
      const { body } = await ask('POST', `iframes/${id}/sessions`, {}, { origin: SHOP })
      return { sessionId: body.session_id, token: body.token }
    })
    const seen = await races({
      rounds: ROUNDS,
      key,
      chats,
      between,
      send: (method, path, body, headers) => ask(method, `iframes/${id}/${path}`, body, headers),
      // The loop of either process ends it within half a minute, or an operator's move comes first.
      silent: (sessionId) => commits.age(sessionId),
    })
    const log = await commits.log()
    expect(violationsOf(log)).toEqual([])
    expect([...seen.statuses]).toEqual([200])
    expect(seen.answered + seen.silent).toBe(ROUNDS)
    expect(seen.answered).toBe(log.filter(({ what }) => what === 'assistant').length)
    expect(await commits.deadlocks()).toBe(0)
  },
  PATIENCE_MS,
)
