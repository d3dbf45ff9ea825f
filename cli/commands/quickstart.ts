import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config'
import type { RunningApp } from '../../src/app/start'
import { createLog } from '../../src/kernel/log'
import { clean, commandsAsTyped } from '../../src/kernel/text'
import { columnsOf, commandsOf } from '../command'
import { EXIT, expectData, usageFailure } from '../failure'
import { formatOf } from '../globals'
import { isListening } from '../open'
import { aborted } from '../pages'
import { overridesOf } from '../settings'
import type { Shell } from '../shell'
import type { Connection } from '../transport'
import { flag } from '../words'
import { assertDev, callerWith } from './dev'

const command = commandsOf('', { apis: ['operator'], exits: [] })

const columns = columnsOf`step STEP, came WHAT CAME keep, ms MS number, command DO IT YOURSELF`

type Row = { step: string; came: string; ms: number; command: string }

export const quickstart =
  command`quickstart (exits 1 5 6): Walk through the first five minutes: server, answer, stream, webhook, widget
  Starts a development server, unless one is already running. Then it makes the first calls for real, and prints for each the command that does the same. The server it started runs until Ctrl-C; --end stops it after the last step. Not available in production mode.
  $ quickstart
  $ quickstart --end --json`({
    columns,
    flags: { end: flag('stop the server it started after the last step') },
    action(_, { globals }) {
      if (globals.url) throw usageFailure('quickstart works only on this machine.', 'leave out --url')
      return 'start a server unless one is running, and make some calls, a webhook and a widget'
    },
    async run(shell, { end }) {
      const began = shell.clock.monotonic()
      const own = await startUnlessThere(shell)
      try {
        const connection = await shell.connect()
        await assertDev(connection, 'quickstart')
        const { api_url } = expectData(await connection.ops().status.get())
        const rows: Row[] = []
        const isTable = formatOf(shell.globals) === 'table'
        const show = (row: Row) => {
          rows.push(row)
          if (!isTable) return
          // Prints no table, because the answer may be long. The command is on its own line, ready to paste.
          const { step, came, ms, command } = row
          shell.io.out(`${step.padEnd(8)} ${String(ms).padStart(6)} ms  ${clean(came)}`)
          shell.io.out(shell.paint('dim', `${' '.repeat(19)}$ ${commandsAsTyped(command, shell.env)}`))
        }
        const ms = Math.round(shell.clock.monotonic() - began)
        show({ step: 'server', came: api_url ?? '', ms, command: 'svc-admin serve --dev' })
        for await (const row of firstSteps(shell, connection)) show(row)
        if (!isTable) shell.print.list(rows, columns, '')
        shell.note(`
Next:
  svc-admin dashboard          everything on one screen
  svc-admin open               the reference, ${api_url ? new URL(api_url).origin : ''}/docs
  svc-admin dev seed           sample data to look at
  svc-admin engines add main --kind compat --base-url URL --models MODEL`)
        if (!own || end) return
        shell.note('\nThe server keeps running. Ctrl-C stops it.')
        await aborted(shell.signal)
        shell.exitCode = EXIT.interrupted
      } finally {
        await shell.disconnect()
        await own?.stop()
      }
    },
  })

/** Starts a server in this process, unless one answers at the data folder's socket. */
async function startUnlessThere(shell: Shell): Promise<RunningApp | null> {
  const config = loadConfig(overridesOf(shell))
  const socket = join(config.dataDir, 'ops.sock')
  if (shell.globals.socket || (existsSync(socket) && (await isListening(socket)))) return null
  const { start } = await import('../../src/app/start')
  const log = createLog({ level: 'warn', pretty: true, write: (line) => void process.stderr.write(line) })
  const running = await start({ config, log })
  if (running.seed) shell.note(`Your first API key is in ${running.seed.keyFile}. Only you can read the file.`)
  return running
}

async function* firstSteps(shell: Shell, connection: Connection): AsyncGenerator<Row> {
  const { target, key, client } = await connection.tenant()
  const call = callerWith(target, key, shell.signal)
  const timed = async <T>(work: () => Promise<T>): Promise<{ done: T; ms: number }> => {
    const since = shell.clock.monotonic()
    const done = await work()
    return { done, ms: Math.round(shell.clock.monotonic() - since) }
  }
  type Answer = { content: string }
  const prompt = 'Count to five slowly'
  const first = await timed(() => call<Answer>('POST', 'completions', { prompt }))
  yield { step: 'answer', came: first.done.content, ms: first.ms, command: `svc-admin try "${prompt}"` }

  const stream = await timed(async () => {
    const reply = await client.completions.post({ prompt: 'Count to four', stream: true } as never)
    const parts = await Array.fromAsync(expectData(reply) as unknown as AsyncIterable<{ event?: string }>)
    return parts.filter(({ event }) => event === 'token').length
  })
  const came = `${stream.done} parts`
  yield { step: 'stream', came, ms: stream.ms, command: 'svc-admin try "Count to four" --stream' }

  const received = await timed(() => receiveEvent(call))
  yield {
    step: 'webhook',
    came: received.done,
    ms: received.ms,
    command: 'svc-admin webhooks listen --events completion.created',
  }

  const { keys } = expectData(await client.keys.get({ query: { limit: 100 } }))
  const own = keys.find(({ prefix }) => key.startsWith(prefix))
  const widget = await timed(async () => {
    const input = { name: 'Shop help', api_key_id: own?.id, security: { allowedOrigins: ['http://localhost:5055'] } }
    const { id } = await call('POST', 'iframes', input)
    const { preview_url } = await call<{ preview_url: string }>('POST', `iframes/${id}/preview-token`)
    return { id, preview_url }
  })
  yield {
    step: 'widget',
    came: widget.done.preview_url,
    ms: widget.ms,
    command: `svc-admin widgets preview ${widget.done.id} --open`,
  }
}

type Listened = { deliveries: { event_id: string; event_type: string; body: string }[] }

/** Creates a webhook that this command listens to, triggers an event by a call, and removes the webhook again. */
async function receiveEvent(call: ReturnType<typeof callerWith>): Promise<string> {
  const input = { url: 'listen:', event_types: ['completion.created'], description: 'svc-admin quickstart' }
  const { id } = await call('POST', 'webhooks', input)
  await call('POST', 'completions', { prompt: 'Ping' })
  const { deliveries } = await call<Listened>('PUT', `webhooks/${id}/listener`, { done: [], wait_seconds: 10 })
  const [got] = deliveries
  const done = deliveries.map(({ event_id }) => ({ event_id, http_status: 200, duration_ms: 1 }))
  if (done.length) await call('PUT', `webhooks/${id}/listener`, { done })
  await call('DELETE', `webhooks/${id}`)
  return got ? `${got.event_type}, signed, ${got.body.length} bytes` : 'nothing arrived within 10 s'
}
