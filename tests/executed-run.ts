/**
 * `bun run prove executed`: how many files of `src` run for one completion, event with delivery and visitor's message,
 * and how many asynchronous functions are called for it at least.
 */
import { Database } from 'bun:sqlite'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPeer } from './bench/processes'
import { freePort } from './support/free-port'
import { cleanEnv } from './support/server-process'

const ROUNDS = 12
const isListed = process.argv.includes('--files')
const folder = mkdtempSync(join(tmpdir(), 'svc-executed-'))
const [port, upstream] = [await freePort(), await startPeer('upstream')]
const server = Bun.spawn([process.execPath, join(import.meta.dir, 'support/executed-server.ts')], {
  env: cleanEnv({
    SVC_DATA_DIR: folder,
    SVC_PORT: String(port),
    SVC_ENGINE_BASE_URL: `http://127.0.0.1:${upstream.port}`,
    SVC_ENGINE_MODEL: 'bench',
    SVC_CREDITS_INITIAL_CENTS: '100000',
    SVC_EGRESS_ALLOW: '127.0.0.0/8',
    SVC_LOG_LEVEL: 'error',
  }),
  stdin: 'pipe',
  stdout: 'ignore',
  stderr: 'pipe',
})
const lines = linesOf(server.stderr)
const api = `http://127.0.0.1:${port}/api/v1`
while (
  !(await fetch(`${api}/health`).then(
    ({ ok }) => ok,
    () => false,
  ))
)
  await Bun.sleep(50)
const key = readFileSync(join(folder, 'dev-key'), 'utf8').trim()

async function send(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${api}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`)
  return JSON.parse(text)
}

/** Files that ran since the last question, and calls of asynchronous functions. */
async function ran(): Promise<{ noted: string[]; calls: number }> {
  server.stdin.write('\n')
  server.stdin.flush()
  for (;;) {
    const { value } = await lines.next()
    if (value?.startsWith('{"noted"')) return JSON.parse(value)
  }
}

/** The files that ran in every round: loops of the server that happened to run meanwhile are not among them. */
async function measure(name: string, act: () => Promise<unknown>): Promise<void> {
  await act()
  let common: Set<string> | null = null
  let fewest = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    await Bun.sleep(100 + 37 * round)
    await ran()
    await act()
    const { noted, calls } = await ran()
    common = common ? common.intersection(new Set(noted)) : new Set(noted)
    fewest = Math.min(fewest, calls)
  }
  process.stdout.write(`${name.padEnd(50)} ${common!.size}, asynchronous calls ${fewest}\n`)
  if (isListed)
    process.stdout.write(
      [...common!]
        .sort()
        .map((file) => `  ${file}\n`)
        .join(''),
    )
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const piece of stream) {
    const parts = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = parts.pop()!
    yield* parts
  }
}

const messages = [{ role: 'user', content: 'What is the answer?' }]
await measure('files run for a completion', () => send('/chat/completions', { model: 'svc-1-flash', messages }))

let delivered = Promise.withResolvers<void>()
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => {
    delivered.resolve()
    return new Response(null, { status: 204 })
  },
})
await send('/webhooks', { url: `http://127.0.0.1:${receiver.port}/`, event_types: ['tried.*'] })
const database = new Database(join(folder, 'svc.db'), { readonly: true })
const { user_id: orgId } = database.query('select user_id from webhooks').get() as { user_id: string }
database.close()
await measure('files run for an event with its delivery', async () => {
  delivered = Promise.withResolvers<void>()
  await send('/events', { orgId, eventType: 'tried.out', payload: { one: 1 } })
  await delivered.promise
  // Its outcome is stored after the answer.
  await Bun.sleep(100)
})
await receiver.stop(true)

const { keys } = await fetch(`${api}/keys`, { headers: { authorization: `Bearer ${key}` } }).then(
  (one) => one.json() as Promise<{ keys: { id: string }[] }>,
)
const { id } = await send('/iframes', {
  api_key_id: keys[0]!.id,
  security: { allowedOrigins: ['https://shop.example'] },
})
const origin = { origin: 'https://shop.example' }
const chat = await send(`/iframes/${id}/sessions`, {}, origin)
await measure("files run for a visitor's message", () =>
  send(
    `/iframes/${id}/sessions/${chat.session_id}/messages`,
    { content: 'Hello' },
    { ...origin, authorization: `Bearer ${chat.token}` },
  ),
)

server.kill()
await server.exited
await upstream.stop()
rmSync(folder, { recursive: true, force: true })
