import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, type Outcome } from '../chaos/client'
import { slowness } from '../support/effort'
import { eventually } from '../support/eventually'
import { isListening } from '../support/listening'
import { isLong } from '../support/long'
import { devKeyOf, type ServerProcess, spawnServer, startServerProcess } from '../support/server-process'
import { temporaryFolder } from '../support/temporary-folder'
import { startUpstream } from '../support/upstream'

const root = temporaryFolder('svc-process-')
const upstream = await startUpstream({ delayMs: 40 })
afterAll(() => upstream.stop())

const folder = () => join(mkdtempSync(join(root, 'case-')), 'data')
/** Two signals that are further apart are two. */
const TWO_PRESSES_MS = 400
const engine = { SVC_ENGINE_BASE_URL: upstream.url }

describe('two servers', () => {
  test('never share a data folder: the second says who is there, and the first does not notice', async () => {
    const dataDir = folder()
    const first = await startServerProcess({ dataDir })
    const second = await spawnServer({ dataDir, port: first.port })
    expect(await second.exited).toBe(1)
    expect(await second.output()).toContain(`Another server (pid ${first.pid}) is using ${dataDir}`)
    expect((await fetch(`${first.url}/api/v1/health`)).status).toBe(200)
    expect(await first.stop()).toBe(0)
  })

  test('never share a port: the second says so, and how to choose another', async () => {
    const first = await startServerProcess({ dataDir: folder() })
    const dataDir = folder()
    const second = await spawnServer({ dataDir, port: first.port })
    expect(await second.exited).toBe(1)
    expect(existsSync(dataDir)).toBe(false)
    const text = await second.output()
    expect(text).toContain(`Port ${first.port} on 127.0.0.1 is used by another program`)
    // Other systems do not say who it is.
    if (process.platform === 'linux')
      expect(text).toMatch(new RegExp(`\\(pid ${first.pid}, .+\\). Choose another: --port `))
    expect(await first.stop()).toBe(0)
  })

  test('may follow each other at once, also after a kill', async () => {
    const dataDir = folder()
    const first = await startServerProcess({ dataDir })
    await first.kill()
    expect(await (await startServerProcess({ dataDir, port: first.port })).stop()).toBe(0)
  })
})

describe('a signal during the start', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s stops it in good order, exit 0, whenever it comes', async (signal) => {
    const dataDir = folder()
    const server = await spawnServer({ dataDir })
    // Its lock is the first that a start makes: what it must take back is still to come.
    await eventually(() => existsSync(join(dataDir, 'server.lock')))
    process.kill(server.pid, signal)
    expect(await server.exited).toBe(0)
    expect(await (await startServerProcess({ dataDir })).stop()).toBe(0)
  })

  test('`svc-admin serve` does so too', async () => {
    const dataDir = folder()
    const server = await spawnServer({ dataDir, command: [process.execPath, 'cli/main.ts', 'serve'] })
    await eventually(() => existsSync(join(dataDir, 'server.lock')))
    process.kill(server.pid, 'SIGTERM')
    expect(await server.exited).toBe(0)
  })
})

test('a second signal cuts the notice and the wait for running requests short, and one press that comes twice is one', async () => {
  const server = await startServerProcess({ dataDir: folder(), env: { SVC_DRAIN_S: '300' } })
  const health = () => fetch(`${server.url}/api/v1/health`).then(({ status }) => status)
  process.kill(server.pid, 'SIGINT')
  process.kill(server.pid, 'SIGTERM')
  await eventually(async () => (await health()) === 503)
  await Bun.sleep(TWO_PRESSES_MS)
  expect(await health()).toBe(503)
  process.kill(server.pid, 'SIGINT')
  expect(await server.exited).toBe(0)
})

describe('a production start', () => {
  const production = { NODE_ENV: 'production', SVC_PUBLIC_URL: 'https://svc.example', SVC_LOG_FORMAT: 'json' }

  test('makes no key, and says how to make the first', async () => {
    const dataDir = folder()
    const server = await startServerProcess({ dataDir, env: { ...production, ...engine } })
    expect(await server.stop()).toBe(0)
    expect(await server.output()).toContain('No keys exist. Create one: svc-admin keys create --name NAME')
    expect(existsSync(join(dataDir, 'dev-key'))).toBe(false)
  })

  test('is refused with all that is missing, exit 1', async () => {
    const server = await spawnServer({ dataDir: folder(), env: { NODE_ENV: 'production' } })
    expect(await server.exited).toBe(1)
    expect((await server.output()).split('\n').filter((line) => line.startsWith('error: '))).toHaveLength(2)
  })
})

describe('a restart under load (I32)', () => {
  const CALLS = 30
  const EVERY_MS = 20
  const HELD = 10
  const ROUNDS = isLong ? 3 : 1

  test('resets no request in flight, refuses none with a 5xx, and ends with exit 0', async () => {
    const dataDir = folder()
    for (let round = 0; round < ROUNDS; round++) {
      const server = await startServerProcess({ dataDir, env: engine })
      const outcomes = await callUntilStopped(server, dataDir)
      expect(await server.exited).toBe(0)
      expect(outcomes).toHaveLength(CALLS + HELD)
      expect(outcomes.filter(({ is }) => is !== 'acked')).toEqual([])
    }
  }, 180_000)

  /** Steady calls, the last of which wait; SIGTERM once the server has them all. Answers what became of each. */
  async function callUntilStopped(server: ServerProcess, dataDir: string): Promise<Outcome<unknown>[]> {
    const client = createClient(server.url, devKeyOf(dataDir))
    upstream.reset()
    const calls: Promise<Outcome<unknown>>[] = []
    const ask = (prompt: string) => calls.push(client.send('POST', 'completions', { prompt, mode: 'fast' }))
    for (let n = 0; n < CALLS; n++) {
      ask(`call ${n}`)
      await Bun.sleep(EVERY_MS)
    }
    for (let n = 0; n < HELD; n++) ask(`held ${n} [[held]]`)
    await eventually(() => new Set(upstream.calls.map(({ prompt }) => prompt)).size === CALLS + HELD)
    const stopped = server.stop()
    await eventually(async () => !(await isListening(server.url)))
    upstream.release()
    const outcomes = await Promise.all(calls)
    await stopped
    return outcomes
  }
})

describe('a start (I33)', () => {
  const HOLDS = 2_000
  const CONVERSATIONS = 20_000
  const TRIES = 2

  test('over a crash with 2,000 open holds and 20,000 conversations is as quick as any other, and leaves no hold open', async () => {
    const dataDir = folder()
    await (await startServerProcess({ dataDir, env: engine })).stop()
    const usual: number[] = []
    const recovering: number[] = []
    for (let tried = 0; tried < TRIES; tried++) {
      usual.push(await bootMs(dataDir))
      fill(dataDir, tried)
      recovering.push(await bootMs(dataDir))
      expect(ask(dataDir, "SELECT count(*) AS n FROM holds WHERE state = 'open'")).toBe(0)
      expect(ask(dataDir, 'SELECT sum(held) AS n FROM wallets')).toBe(0)
    }
    // The best of them: what the others lost, they lost to whatever else this machine was doing.
    expect(Math.min(...recovering) - Math.min(...usual)).toBeLessThan(500 * (await slowness()))
  }, 180_000)

  async function bootMs(dataDir: string): Promise<number> {
    const server = await startServerProcess({ dataDir, env: engine })
    expect(await server.stop()).toBe(0)
    return server.bootMs
  }

  function ask(dataDir: string, text: string): number {
    const database = new Database(join(dataDir, 'svc.db'), { readonly: true })
    const { n } = database.query(text).get() as { n: number }
    database.close()
    return n
  }

  /** What a server that died in the middle of 2,000 answers would have left. */
  function fill(dataDir: string, round: number): void {
    const database = new Database(join(dataDir, 'svc.db'))
    const { id: wallet } = database.query("SELECT id FROM wallets WHERE id LIKE 'user:%'").get() as { id: string }
    const hold = database.prepare(
      "INSERT INTO holds (ref, wallet_id, key_id, capped, amount, state, settled_amount, node, created_at, expires_at) VALUES (?, ?, NULL, 0, 10, 'open', 0, 'gone', 0, 9000000000000)",
    )
    const conversation = database.prepare(
      'INSERT INTO conversations (id, owner, title, last_message, message_count, created_at, updated_at) VALUES (?, ?, ?, ?, 0, 0, 0)',
    )
    database.transaction(() => {
      for (let n = 0; n < HOLDS; n++) hold.run(`0.req_${round}_${n}`, wallet)
      database.run('UPDATE wallets SET held = held + ? WHERE id = ?', [HOLDS * 10, wallet])
      for (let n = 0; n < CONVERSATIONS / TRIES; n++) {
        conversation.run(crypto.randomUUID(), wallet, `t ${n}`, 'x'.repeat(500))
      }
    })()
    database.close()
  }
})
