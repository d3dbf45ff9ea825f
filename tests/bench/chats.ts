/**
 * `bun run bench chats [--streams=5000] [--rate=200] [--seconds=20] [--chats=100] [--postgres=postgres://…]`: the
 * memory of open streams of visitors (budget 40 KB each), and how late an operator's message reaches its visitor
 * (budget 50 ms p99), on one process and, with Postgres, on two: the operator's and the visitors'. Lateness counts from
 * when a message was due, so that a server that falls behind shows it.
 */
import { percentile } from '../support/percentile'
import { createMigratedDatabase } from '../support/store'
import { type Crowd, startCrowd } from '../widgets/crowd'
import { processorMsOf } from './processor'
import { count, option, print } from './setup'

const STREAMS = count('streams', 5_000)
const RATE = count('rate', 200)
const SECONDS = count('seconds', 20)
const CHATS = count('chats', 100)
const WARM_UP_S = 3
const SETTLED_MS = 5_000
const url = option('postgres')

await measure('one process on SQLite', {}, STREAMS)
if (url !== undefined) {
  for (const servers of [1, 2]) {
    const database = await createMigratedDatabase(url)
    await measure(`${servers} on one Postgres`, { servers, databaseUrl: database.url }, 0)
    await database.drop()
  }
}
process.exit(0)

async function measure(where: string, options: Parameters<typeof startCrowd>[0], streams: number): Promise<void> {
  const crowd = await startCrowd(options)
  try {
    await crowd.begin(Math.max(CHATS, streams))
    if (streams > 0) {
      await Bun.sleep(SETTLED_MS)
      const before = crowd.memory()
      await crowd.listen()
      await Bun.sleep(SETTLED_MS)
      const each = (crowd.memory() - before) / streams / 1024
      print(`${where}: ${streams} open streams, ${each.toFixed(1)} KB each`)
    } else await crowd.listen()
    await crowd.take(CHATS)
    await sayFor(crowd, WARM_UP_S)
    const before = crowd.pids.map(processorMsOf)
    const { late, failed } = await sayFor(crowd, SECONDS)
    const spent = crowd.pids.map((pid, at) => processorMsOf(pid) - before[at]!)
    const [half, max, worst] = [0.5, 0.99, 1].map((share) => percentile(late, share).toFixed(1))
    const cpu = spent.map((ms) => (ms / late.length).toFixed(2)).join(' + ')
    print(
      `${where}: ${late.length} messages at ${RATE} a second, ${failed} lost; p50 ${half} ms, p99 ${max} ms, worst ${worst} ms; ${cpu} ms of processor each`,
    )
  } finally {
    await crowd.stop()
  }
}

/** Says `RATE` messages a second, whether or not the earlier ones have come, and waits for the last. */
async function sayFor(crowd: Crowd, seconds: number): Promise<{ late: number[]; failed: number }> {
  const due = new Map<string, number>()
  const late: number[] = []
  let failed = 0
  crowd.hear((text) => {
    for (const [word] of text.matchAll(/word-\d+-end/g)) {
      const at = due.get(word)
      if (at === undefined) continue
      due.delete(word)
      late.push(performance.now() - at)
    }
  })
  const began = performance.now()
  const messages: Promise<unknown>[] = []
  for (let n = 0; n < RATE * seconds; n++) {
    const at = began + (n * 1_000) / RATE
    while (performance.now() < at) await Bun.sleep(1)
    due.set(`word-${n}-end`, at)
    messages.push(
      crowd.say(n % CHATS, `word-${n}-end`).catch((error) => {
        failed += 1
        if (failed === 1) print(String(error))
      }),
    )
  }
  await Promise.all(messages)
  for (let tries = 0; due.size > failed && tries < 500; tries++) await Bun.sleep(10)
  return { late, failed: due.size }
}
