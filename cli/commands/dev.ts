import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { send, type Target } from '../../src/app/client'
import { type Config, loadConfig } from '../../src/app/config'
import { inUse } from '../../src/kernel/port-holder'
import { counted } from '../../src/kernel/text'
import { columnsOf, commandsOf } from '../command'
import { BadWord, type CommandFailed, conflictFailure, EXIT, expectData, replyFailure, usageFailure } from '../failure'
import { jsonIn, safeJson } from '../output/json'
import { aborted, feedOf, feedsJson } from '../pages'
import { changeSettings, overridesOf } from '../settings'
import type { Shell } from '../shell'
import type { Connection } from '../transport'
import { duration, flag, text, whole } from '../words'

const command = commandsOf('dev', { apis: ['host'], exits: [] })

export const notForProduction = (command: string): CommandFailed =>
  conflictFailure(
    `${command} is for development, but this server is in production mode.`,
    'choose another data folder with --data-dir',
  )

/** Calls a route of the API by its path below `/api/v1/`. @throws CommandFailed for an error */
export type Caller = <Answer = { id: string }>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
  headers?: Record<string, string>,
) => Promise<Answer>

const MAX_BYTES = 1024 * 1024
const PORT = 5056

const sinkColumns = columnsOf`
  at AT time, method METHOD, path PATH, bytes BYTES number, status ANSWERED number, event EVENT min`

const FOR_MS = 60_000

/** Prompts that ordinary code answers. Each varies slightly, so that the cache answers none. */
const PROMPTS = ['What is {n} times 7?', 'Count to five slowly, {n}', 'Write the date {n} days from today']

const engineColumns = columnsOf`latency_ms WAITS MS number, fail_rate FAILS number, chunk WORDS A PART number`

const share = {
  ...text('SHARE', 'share of calls that fail, from 0 to 1'),
  read: (word: string): string => {
    const part = Number(word)
    if (word.trim() !== '' && part >= 0 && part <= 1) return word
    throw new BadWord(`is "${word}"; it must be from 0 to 1`)
  },
}

export const devCommands = [
  command`reset (severe, exits 1 5): Delete the database and files of a development server
  This cannot be undone. Secrets, the configuration and backups stay. Engines that you added are deleted with the database. It asks for the name of the data folder, and the server must be stopped. Not available in production mode.
  $ dev reset --confirm data
  $ dev reset --data-dir ./try --dry-run`({
    columns: columnsOf`folder FOLDER, database DATABASE, reset RESET flag`,
    find: async (shell) => ({ config: loadConfig(overridesOf(shell)) }),
    action: ({ config }) => `delete the database and files of ${config.dataDir}`,
    async answer({ shell }, { config }) {
      await resetData(shell, config)
      return { folder: config.dataDir, database: config.databaseUrl ? 'postgres' : 'svc.db', reset: true }
    },
    note: () => 'Fill it again: svc-admin dev seed',
  }),
  command`engine (writes, exits 5): Make the built-in engine slow or failing, for tests
  Writes the settings to svc.server.json; a running server uses them after a restart. Without a flag it shows the current ones. --calm removes all of them. A call that fails is retried once before the caller gets an error.
  $ dev engine --latency 2s --fail-rate 0.3
  $ dev engine --chunk 5
  $ dev engine --calm`({
    columns: engineColumns,
    flags: {
      latency: duration('2s', 'how long to wait before an answer'),
      failRate: share,
      chunk: whole('N', 'words in each part of a stream', { min: 1, max: 10_000 }),
      calm: flag('back to the default'),
    },
    async run(shell, { latency, failRate, chunk, calm }) {
      if (loadConfig(overridesOf(shell)).production) throw notForProduction('dev engine')
      const given = {
        builtinDelayMs: latency === undefined ? undefined : Math.round(latency),
        builtinFailRate: failRate === undefined ? undefined : Number(failRate),
        builtinChunk: chunk,
      }
      const set = Object.entries(given).filter(([, value]) => value !== undefined)
      if (calm || set.length) {
        const path = await changeSettings(shell, calm ? { ...given } : Object.fromEntries(set))
        if (path === null) return
        shell.note(`Written to ${path}. Restart the server to use it.`)
      }
      const { builtinDelayMs, builtinFailRate, builtinChunk } = loadConfig(overridesOf(shell))
      shell.print.item({ latency_ms: builtinDelayMs, fail_rate: builtinFailRate, chunk: builtinChunk }, engineColumns)
    },
  }),
  command`sink: Receive requests on this machine and print them
  Listens on 127.0.0.1 until Ctrl-C, prints a line for each request, and answers 204. --status and --delay test how a sender retries. Use it with webhooks listen --forward-to, or with SVC_EGRESS_ALLOW=127.0.0.0/8 in dev mode.
  $ dev sink
  $ dev sink --port 3000 --status 503 --delay 2s --print-body`({
    columns: sinkColumns,
    flags: {
      port: whole('N', `port to listen on; ${PORT} by default, 0 picks a free one`, { min: 0, max: 65_535 }),
      status: whole('N', 'status to answer with; 204 by default', { min: 200, max: 599 }),
      delay: duration('2s', 'how long to wait before answering'),
      printBody: flag('print the body of each request'),
    },
    async run(shell, { port = PORT, status = 204, delay = 0, printBody }) {
      const [asJson, feed] = [feedsJson(shell), feedOf(shell, sinkColumns)]
      let count = 0
      const answer = async (request: Request) => {
        const body = await request.text()
        const { pathname, search } = new URL(request.url)
        const { type } = (jsonIn(body) ?? {}) as { type?: unknown }
        const event = typeof type === 'string' ? type : null
        const at = new Date(shell.clock.now()).toISOString()
        const bytes = Buffer.byteLength(body)
        count += 1
        const row = { at, method: request.method, path: pathname + search, bytes, status, event }
        const headers = Object.fromEntries(request.headers)
        feed([asJson ? { ...row, headers, ...(printBody ? { body } : {}) } : row])
        if (printBody && !asJson) shell.io.out(safeJson(body))
        await shell.clock.sleep(delay, shell.signal)
        return new Response(null, { status })
      }
      let server: ReturnType<typeof Bun.serve>
      try {
        const limits = { maxRequestBodySize: MAX_BYTES, development: false }
        server = Bun.serve({ port, hostname: '127.0.0.1', ...limits, fetch: answer })
      } catch (error) {
        if ((error as { code?: string }).code !== 'EADDRINUSE') throw error
        throw usageFailure(`Port ${port} ${inUse(port)}.`, `svc-admin dev sink --port ${port + 1}`)
      }
      shell.note(`Listening at http://127.0.0.1:${server.port}/, answering ${status}. Stop with Ctrl-C.`)
      await aborted(shell.signal)
      await server.stop(true)
      shell.note(`${counted(count, 'request')} came.`)
      shell.exitCode = EXIT.interrupted
    },
  }),
  command`load (operator, live, exits 5 9): Send completions at a steady rate
  Calls the API with the key of the first start, or with --key-file, until the time is over or you press Ctrl-C. It sends each call on time, without waiting for earlier answers. Not available in production mode, because each call is charged. Exits 9 when calls failed.
  $ dev load --rps 5 --for 60s
  $ dev load --rps 20 --for 10s --mode code --json`({
    columns: columnsOf`
      sent SENT number, ok OK number, failed FAILED number, per_second PER SECOND number, p50_ms P50 MS number,
      p95_ms P95 MS number, first_problem FIRST PROBLEM`,
    flags: {
      rps: whole('N', 'calls per second; 5 by default', { min: 1, max: 500 }),
      for: duration('60s', 'how long to run; 60s by default'),
      mode: text('MODE', 'fast by default'),
    },
    action: ({ rps = 5, for: lasting = FOR_MS }) => `send ${Math.round((rps * lasting) / 1000)} completions`,
    async answer({ shell }, { rps = 5, for: lasting = FOR_MS, mode = 'fast' }) {
      const connection = await shell.connect()
      await assertDev(connection, 'dev load')
      const { client } = await connection.tenant()
      const began = shell.clock.monotonic()
      const times: number[] = []
      const calls: Promise<void>[] = []
      let problem: string | null = null
      const call = async (n: number) => {
        const since = shell.clock.monotonic()
        const prompt = PROMPTS[n % PROMPTS.length]!.replace('{n}', String(n))
        const { status, error } = await client.completions.post({ prompt, mode } as never)
        if (error === null) times.push(shell.clock.monotonic() - since)
        else problem ??= replyFailure(status, error.value).message
      }
      for (let n = 0; shell.clock.monotonic() - began < lasting && !shell.signal.aborted; n++) {
        calls.push(call(n))
        const next = ((n + 1) * 1000) / rps - (shell.clock.monotonic() - began)
        if (next > 0) await shell.clock.sleep(next, shell.signal)
      }
      await Promise.all(calls)
      const seconds = (shell.clock.monotonic() - began) / 1000
      const sorted = times.toSorted((a, b) => a - b)
      const at = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)
      const sent = calls.length
      const per_second = Math.round((sent / seconds) * 10) / 10
      const sums = { sent, ok: times.length, failed: sent - times.length, per_second }
      return { ...sums, p50_ms: at(0.5), p95_ms: at(0.95), first_problem: problem }
    },
    ok: ({ failed }) => !failed,
  }),
]

/** Calls with a key, or with `null` like a visitor of a widget. */
export function callerWith(target: Target, key: string | null, signal: AbortSignal): Caller {
  return async <Answer>(method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const answer = await send(target, `/api/v1/${path}`, {
      method,
      signal,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw replyFailure(answer.status, text)
    return JSON.parse(text) as Answer
  }
}

/** @throws CommandFailed 5 for a server in production mode */
export async function assertDev(connection: Connection, command: string): Promise<void> {
  const { mode } = expectData(await connection.ops().status.get())
  if (mode === 'production') throw notForProduction(command)
}

/** Asks the user to type the folder name, and deletes the data. @throws CommandFailed 2, 5 */
export async function resetData(shell: Shell, config: Config): Promise<void> {
  const { dataDir, production, databaseUrl } = config
  if (production) throw notForProduction('dev reset')
  const name = basename(dataDir)
  const what = databaseUrl ? 'the tables of the Postgres database and the files' : 'the database and the files'
  if (existsSync(dataDir)) shell.confirmName(`Delete ${what} of ${dataDir}? This cannot be undone.`, name)
  try {
    await (await import('../../src/app/reset')).resetData(config)
  } catch (error) {
    const { name: kind, message } = error as Error
    if (kind !== 'ConfigError') throw error
    throw conflictFailure(message, 'stop the server first')
  }
}
