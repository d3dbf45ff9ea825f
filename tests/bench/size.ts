/**
 * `bun run bench size`: how many requests a core answers in a second of its time, by the built-in engine on SQLite. The
 * kernel counts the time of the server alone, so that what else runs here hardly matters.
 */
import { processorMsOf, residentMb } from './processor'
import { OPEN_TIERS, print, serveBench } from './setup'

const AT_ONCE = 16
const env = { SVC_CACHE_ENABLED: '0', SVC_TIERS: JSON.stringify(OPEN_TIERS) }
const server = await serveBench('size', env)

await measure('GET /models', 4_000, 'models', () => undefined)
await measure('completions, mode fast', 3_000, 'completions', (at) => ({ prompt: `What is ${at} * 23?`, mode: 'fast' }))
await measure('completions, mode auto', 1_500, 'completions', (at) => ({ prompt: `What is ${at} * 29?` }))
await measure('streamed chats', 1_500, 'chat/completions', (at) => ({
  ...{ model: 'svc-1-flash', stream: true },
  messages: [{ role: 'user', content: `What is ${at} * 31?` }],
}))
print(`memory afterwards: ${Math.round(residentMb(server.pid))} MB`)
await server.stop()
process.exit(0)

async function measure(
  what: string,
  count: number,
  path: string,
  bodyOf: (at: number) => object | undefined,
): Promise<void> {
  let at = 0
  const until = (end: number) =>
    Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (at < end) await server.ask(path, bodyOf(at++))
      }),
    )
  await until(count / 5)
  const before = processorMsOf(server.pid)
  const first = at
  await until(first + count)
  const seconds = (processorMsOf(server.pid) - before) / 1_000
  print(`${what}: ${Math.round((at - first) / seconds)} in a second of a core`)
}
