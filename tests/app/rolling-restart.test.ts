import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../support/eventually'
import { freePort } from '../support/free-port'
import { devKeyOf, type ServerProcess, startServerProcess } from '../support/server-process'
import { createPostgresDatabase, postgresUrl } from '../support/store'

const haproxy = Bun.which('haproxy') ?? Bun.which('/usr/sbin/haproxy')
const missing = haproxy ? (postgresUrl ? null : 'SVC_TEST_POSTGRES_URL is not set') : 'haproxy is not installed'
if (missing) process.stdout.write(`NOT RUN: a rolling restart behind a proxy, because ${missing}.\n`)

const REQUESTS = 10_000
const CALLERS = 8
const NAMES = ['one', 'two'] as const

/** A proxy of the usual kind: it polls health each second, keeps its connections, and never sends a request twice. */
const configOf = (port: number, nodes: readonly ServerProcess[], stats: string) => `
global
  stats socket ${stats} level admin
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  retries 0
frontend in
  bind 127.0.0.1:${port}
  default_backend nodes
backend nodes
  option httpchk GET /api/v1/health
  default-server check inter 1s fall 2 rise 1
${nodes.map((node, at) => `  server ${NAMES[at]} 127.0.0.1:${node.port}`).join('\n')}
`

test.skipIf(missing !== null)(
  `a proxy that polls health each second loses none of ${REQUESTS} requests over a rolling restart of two nodes (I32)`,
  async () => {
    const root = mkdtempSync(join(tmpdir(), 'svc-rolling-'))
    const database = await createPostgresDatabase(postgresUrl!)
    const env = { SVC_DATABASE_URL: database.url, SVC_DRAIN_S: '5', SVC_TIERS: '{"enterprise":{"rpm":1000000}}' }
    const nodes: ServerProcess[] = []
    const boot = (at: number, port?: number) =>
      startServerProcess({ dataDir: join(root, NAMES[at]!), env, ...(port === undefined ? {} : { port }) })
    let proxy: Bun.Subprocess | null = null
    afterAll(async () => {
      proxy?.kill('SIGKILL')
      await proxy?.exited
      for (const node of nodes) await node.kill()
      await database.drop()
      rmSync(root, { recursive: true, force: true })
    })
    nodes.push(await boot(0))
    mkdirSync(join(root, NAMES[1]), { mode: 0o700 })
    copyFileSync(join(root, NAMES[0], 'secrets.json'), join(root, NAMES[1], 'secrets.json'))
    nodes.push(await boot(1))

    const [port, stats, config] = [await freePort(), join(root, 'stats.sock'), join(root, 'haproxy.cfg')]
    writeFileSync(config, configOf(port, nodes, stats))
    proxy = Bun.spawn([haproxy!, '-db', '-f', config], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
    const url = `http://127.0.0.1:${port}/api/v1`
    await eventually(() =>
      fetch(`${url}/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    /** Which nodes the proxy sends requests to. */
    const up = async (): Promise<string[]> => {
      const notices: string[] = []
      const { promise, resolve } = Promise.withResolvers<void>()
      const socket = await Bun.connect({
        unix: stats,
        socket: { data: (_, bytes) => void notices.push(String(bytes)), close: () => resolve() },
      })
      socket.write('show stat\n')
      await promise
      const lines = notices.join('').split('\n')
      return NAMES.filter((name) => lines.some((line) => line.startsWith(`nodes,${name},`) && /,UP[ ,]/.test(line)))
    }

    const authorization = `Bearer ${devKeyOf(join(root, NAMES[0]))}`
    const answers = new Map<string, number>()
    let [requested, restarted] = [0, false]
    const ask = async (): Promise<string> => {
      const n = requested++
      const input: RequestInit =
        n % 20
          ? { headers: { authorization } }
          : {
              method: 'PATCH',
              headers: { authorization, 'content-type': 'application/json' },
              body: JSON.stringify({ timezone: n % 40 ? 'UTC' : 'Europe/Berlin' }),
            }
      try {
        const response = await fetch(`${url}/${n % 20 ? 'models' : 'settings'}`, input)
        await response.arrayBuffer()
        return String(response.status)
      } catch (error) {
        return String(error)
      }
    }
    const caller = async () => {
      while (!restarted || requested < REQUESTS) {
        const answer = await ask()
        answers.set(answer, (answers.get(answer) ?? 0) + 1)
      }
    }
    const load = Promise.all(Array.from({ length: CALLERS }, caller))
    for (const [at, name] of NAMES.entries()) {
      await eventually(up, (found) => found.length === NAMES.length)
      const [node, before] = [nodes[at]!, requested]
      const stopped = node.stop()
      await eventually(up, (found) => !found.includes(name))
      expect(await stopped).toBe(0)
      expect(requested).toBeGreaterThan(before)
      nodes[at] = await boot(at, node.port)
    }
    restarted = true
    await load
    expect(Object.fromEntries(answers)).toEqual({ 200: requested })
    expect(requested).toBeGreaterThanOrEqual(REQUESTS)
  },
)
