/**
 * `bun run bench size`: how many requests a core answers in a second of its time, by the built-in engine on SQLite. The
 * kernel counts the time of the server alone, so that what else runs here hardly matters.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { devKeyOf, startServerProcess } from '../support/server-process'
import { processorMsOf } from './processor'

const AT_ONCE = 16
const OPEN = { rpm: 1_000_000, tpm: 1_000_000_000 }
const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-size-'))
const server = await startServerProcess({
  dataDir,
  env: {
    SVC_CACHE_ENABLED: '0',
    SVC_TIERS: JSON.stringify({ free: OPEN, starter: OPEN, pro: OPEN, enterprise: OPEN }),
  },
})
const headers = {
  authorization: `Bearer ${devKeyOf(dataDir)}`,
  'content-type': 'application/json',
}

await measure('GET /models', 4_000, 'models', () => null)
await measure('completions, mode fast', 3_000, 'completions', (at) => ({ prompt: `What is ${at} * 23?`, mode: 'fast' }))
await measure('completions, mode auto', 1_500, 'completions', (at) => ({ prompt: `What is ${at} * 29?` }))
await measure('streamed chats', 1_500, 'chat/completions', (at) => ({
  ...{ model: 'svc-1-flash', stream: true },
  messages: [{ role: 'user', content: `What is ${at} * 31?` }],
}))
const [, kb] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))!
process.stdout.write(`memory afterwards: ${Math.round(Number(kb) / 1_024)} MB\n`)
await server.stop()
rmSync(dataDir, { recursive: true, force: true })
process.exit(0)

async function measure(
  what: string,
  count: number,
  path: string,
  bodyOf: (at: number) => object | null,
): Promise<void> {
  let at = 0
  const until = (end: number) =>
    Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (at < end) await send(path, bodyOf(at++))
      }),
    )
  await until(count / 5)
  const before = processorMsOf(server.pid)
  const first = at
  await until(first + count)
  const seconds = (processorMsOf(server.pid) - before) / 1_000
  process.stdout.write(`${what}: ${Math.round((at - first) / seconds)} in a second of a core\n`)
}

async function send(path: string, body: object | null): Promise<void> {
  const input = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
  const answer = await fetch(`${server.url}/api/v1/${path}`, input)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 300)}`)
}
