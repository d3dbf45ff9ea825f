/**
 * `bun run prove cluster [--kills N] [--seed N]`: three nodes on one Postgres and one Redis under 64 clients. One node
 * at a time is killed and started again; in between Postgres crashes or freezes, and Redis crashes, freezes or forgets.
 * The clock of the third node is 40 s ahead. After every ten kills all nodes are killed and what they left is checked:
 * nothing acknowledged lost, nothing done or charged twice, no overspend, no hold open a minute later, no limit passed
 * by more than 1 %. Exits 1 otherwise. What takes long is no fault: the processes may get little of the machine. Limits
 * of time count only what the nodes were given, or are there to end a run in which nothing moves at all.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { RedisClient } from 'bun'
import { ownPostgres } from '../run/postgres'
import { eventually } from '../support/eventually'
import { seededRandom } from '../support/random'
import { hasRedis, startRedis } from '../support/redis'
import { devKeyOf, type ServerProcess } from '../support/server-process'
import { startUpstream } from '../support/upstream'
import { startGreedy } from './bounds'
import { createClient } from './client'
import { createRig, type Rig } from './rig'

const NODES = 3
const CLIENTS = 64
const KILLS_A_ROUND = 10
const AHEAD_MS = 40_000
const PAUSE_MS = { min: 500, max: 2_500 }
const FAULT_MS = 3_000
const MAX_SHOWN = 20
/** Nobody works for so long. */
const STUCK_MS = 600_000
/** One call in so many may say that the engine did not answer: connections to it break when the machine stands still. */
const CALLS_AN_ENGINE_FAILS = 100

const { values } = parseArgs({ options: { kills: { type: 'string' }, seed: { type: 'string' } } })
const [kills, seed] = [Number(values.kills ?? 200), Number(values.seed ?? 1)]
const random = seededRandom(seed)
const postgres = await ownPostgres()
if ('missing' in postgres || !hasRedis('the cluster under kills')) {
  process.stderr.write(`No cluster: ${'missing' in postgres ? postgres.missing : 'redis-server is not installed.'}\n`)
  process.exit(2)
}
const [redis, upstream] = [await startRedis(), await startUpstream()]
const faults: Record<string, () => Promise<void>> = {
  'Postgres crashes': () => postgres.crash().then(postgres.start),
  'Postgres freezes': async () => {
    postgres.freeze()
    await Bun.sleep(FAULT_MS)
    postgres.thaw()
  },
  'Redis crashes': async () => {
    await redis.kill()
    await Bun.sleep(FAULT_MS)
    await redis.start()
  },
  'Redis freezes': async () => {
    redis.freeze()
    await Bun.sleep(FAULT_MS)
    redis.thaw()
  },
  'Redis forgets': async () => {
    const client = new RedisClient(redis.url)
    await client.send('FLUSHALL', [])
    client.close()
  },
}
let [killed, acks] = [0, 0]
/** Calls that said so. */
let engineFailed = 0
/** Nobody knows whether it happened; it is asked again under its key. In a stream it is the same as a status of 503. */
function isAway(status: number, text: string): boolean {
  if (/"code":"engine_unavailable"/.test(text)) engineFailed += 1
  return (
    status === 503 || /"code":"(storage_unavailable|service_unavailable|engine_unavailable|request_timeout)"/.test(text)
  )
}
const violations: string[] = []
while (killed < kills && violations.length === 0) await round()
await upstream.stop()
await redis.stop()
await postgres.stop()
for (const violation of violations.slice(0, MAX_SHOWN)) print(`VIOLATION ${violation}`)
print(`prove cluster, seed ${seed}: ${killed} kills, ${acks} writes acknowledged, ${violations.length} violations`)
process.exit(violations.length ? 1 : 0)

async function round(): Promise<void> {
  if ('missing' in postgres!) return
  const rig = await createRig(upstream, postgres.url, { SVC_REDIS_URL: redis.url })
  const started: ServerProcess[] = []
  const boot = async (at: number) => {
    const node = await bootOne(rig, at)
    started.push(node)
    return node
  }
  const nodes = await bootAll(boot)
  const living = () => nodes.filter((node): node is ServerProcess => node !== null)
  const url = () => (living().length ? random.pick(living()).url : `http://127.0.0.1:${rig.port}`)
  const greedyClient = createClient(url, devKeyOf(rig.dataDir), isAway)
  await rig.work({ url, random, cluster: { clients: CLIENTS, isAway } }, async () => {
    const endGreedy = await startGreedy({ client: greedyClient, folder: rig.dataDir, url })
    for (let n = 0; n < KILLS_A_ROUND && killed < kills; n++) {
      await Bun.sleep(random.between(PAUSE_MS.min, PAUSE_MS.max))
      if (n % 2) await fault(random.pick(Object.keys(faults)))
      const at = random.between(0, NODES - 1)
      const victim = nodes[at]!
      nodes[at] = null
      await victim.kill()
      killed += 1
      nodes[at] = await boot(at)
    }
    const before = rig.witness.acks()
    await eventually(() => rig.witness.acks() > before, Boolean, STUCK_MS)
    const { max, limit, isAbove, refusals } = await endGreedy()
    print(`    at most ${max} requests of ${limit} in a minute; ${refusals} calls refused for want of credit`)
    if (isAbove) rig.violations.push(`a limit of ${limit} requests let in ${max}`)
    if (engineFailed * CALLS_AN_ENGINE_FAILS > rig.witness.acks())
      rig.violations.push(`${engineFailed} calls of ${rig.witness.acks()} said that the engine did not answer`)
    await Promise.all(living().map((node) => node.kill()))
  })
  await rig.checkCopy()
  const again = await bootAll(boot)
  for (const node of again) await rig.checkLive(node!, node === again[0] ? 'all' : 'new')
  for (const node of again)
    if ((await node!.stop()) !== 0) rig.violations.push('SIGTERM did not end a node with exit 0')
  writeFileSync(join(rig.root, 'nodes.log'), started.map((node) => node.printed()).join('\n'))
  await rig.close()
  acks += rig.witness.acks()
  violations.push(...rig.violations)
  print(
    `  ${killed} of ${kills} kills, ${rig.witness.acks()} writes acknowledged, ${engineFailed} calls without an engine, ` +
      `${violations.length} violations`,
  )
  engineFailed = 0
}

async function fault(name: string): Promise<void> {
  print(`    ${name}`)
  await faults[name]!()
}

async function bootAll(boot: (at: number) => Promise<ServerProcess>): Promise<(ServerProcess | null)[]> {
  const nodes: (ServerProcess | null)[] = []
  for (let at = 0; at < NODES; at++) nodes.push(await boot(at))
  return nodes
}

/** Each node has a folder and a port of its own; the first has the rig's. */
async function bootOne(rig: Rig, at: number): Promise<ServerProcess> {
  if (at === 0) return rig.boot()
  if (at === 1) return rig.bootNode('node-1')
  const shift = join(rig.root, 'ahead')
  writeFileSync(shift, String(AHEAD_MS))
  const command = [process.execPath, '--preload', './tests/support/shifted-clock.ts', 'src/main.ts']
  return rig.bootNode('node-2', { env: { SHIFT_FILE: shift }, command })
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
