/**
 * `bun run prove upgrade [--from COMMIT] [--seconds N] [--seed N]`: two nodes of an older commit, on one Postgres and
 * one Redis under clients, are replaced by nodes of this one, one at a time as docs/deploy says. Without `--from` it is
 * the last commit before the newest migration, or its own if that removes what older nodes use. Between the two, both
 * releases serve for so many seconds, each hears what the other changes, and Redis crashes. Fails on a request that is
 * refused or has no answer, and on anything lost, done or charged twice, overspent, or let in above a limit.
 */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ownPostgres } from '../run/postgres'
import { eventually } from '../support/eventually'
import { seededRandom } from '../support/random'
import { hasRedis, startRedis } from '../support/redis'
import { devKeyOf, type ServerProcess } from '../support/server-process'
import { startUpstream } from '../support/upstream'
import { startGreedy } from './bounds'
import { createClient, type Json, type Outcome } from './client'
import { createRig } from './rig'

const CLIENTS = 16
/** As a proxy looks at them. */
const LOOK_MS = 100
const REDIS_AWAY_MS = 3_000
/** A change is heard everywhere within this time, or else read. */
const HEARD_WITHIN_MS = 1_000
const MAX_SHOWN = 20

type Node = { name: string; server: ServerProcess; isHealthy: boolean }

const { values } = parseArgs({
  options: { from: { type: 'string' }, seconds: { type: 'string' }, seed: { type: 'string' } },
})
const sideBySideMs = Number(values.seconds ?? 20) * 1_000
const random = seededRandom(Number(values.seed ?? 1))
const from = git('rev-parse', values.from ?? oldest())
const postgres = await ownPostgres()
if ('missing' in postgres || !hasRedis('an upgrade under load')) {
  process.stderr.write(`No upgrade: ${'missing' in postgres ? postgres.missing : 'redis-server is not installed.'}\n`)
  process.exit(2)
}
const older = { cwd: mkdtempSync(join(tmpdir(), 'svc-older-')), command: [process.execPath, 'src/main.ts'] }
check(['sh', '-c', `git archive ${from} | tar -x -C ${older.cwd}`])
symlinkSync(join(process.cwd(), 'node_modules'), join(older.cwd, 'node_modules'))
const [redis, upstream] = [await startRedis(), await startUpstream()]
const rig = await createRig(upstream, postgres.url, { SVC_REDIS_URL: redis.url, SVC_DRAIN_S: '1' })

const nodes: Node[] = []
const healthy = () => nodes.filter(({ isHealthy }) => isHealthy)
/** Of a node that serves. */
const url = () => random.pick(healthy()).server.url
let isOver = false
const looking = look()

await boot('data', older)
await boot('node-2', older)
const key = devKeyOf(rig.dataDir)
print(`  two nodes of ${from.slice(0, 8)} serve`)
await rig.work({ url, random, cluster: { clients: CLIENTS, isAway: null } }, async () => {
  const endGreedy = await startGreedy({ client: createClient(url, key), folder: rig.dataDir, url })
  await Bun.sleep(sideBySideMs / 4)
  await replace('node-2')
  const [old, present] = nodes as [Node, Node]
  for (const [one, other] of [
    [old, present],
    [present, old],
  ] as const)
    await hears(one.server.url, other.server.url)
  await Bun.sleep(sideBySideMs / 2)
  await redis.kill()
  await Bun.sleep(REDIS_AWAY_MS)
  await redis.start()
  await Bun.sleep(sideBySideMs / 2)
  await replace('data')
  await Bun.sleep(sideBySideMs / 4)
  const { max, limit, isAbove, refusals } = await endGreedy()
  print(`  at most ${max} requests of ${limit} in a minute; ${refusals} calls refused for want of credit`)
  if (isAbove) rig.violations.push(`a limit of ${limit} requests let in ${max}`)
})
isOver = true
await looking
for (const { server } of nodes) await server.kill()
await rig.checkCopy()
const last = await rig.boot()
await rig.checkLive(last, 'all')
if ((await last.stop()) !== 0) rig.violations.push('SIGTERM did not end a node with exit 0')
await rig.close()
await upstream.stop()
await redis.stop()
await postgres.stop()
rmSync(older.cwd, { recursive: true, force: true })
for (const violation of rig.violations.slice(0, MAX_SHOWN)) print(`VIOLATION ${violation}`)
print(`prove upgrade from ${from.slice(0, 8)}: ${rig.witness.acks()} writes, ${rig.violations.length} violations`)
process.exit(rig.violations.length ? 1 : 0)

async function boot(name: string, program = {}): Promise<void> {
  nodes.push({ name, server: await rig.bootNode(name, program), isHealthy: true })
}

/** Tells the node by the other one to take no more work, stops it, and starts the present release in its folder. */
async function replace(name: string): Promise<void> {
  const node = nodes.find((one) => one.name === name)!
  const unix = join(rig.root, name === 'data' ? 'node-2' : 'data', 'ops.sock')
  const ops = async (path: string, init = {}) =>
    (await fetch(`http://localhost/ops/v1/${path}`, { ...init, unix } as object)).json()
  const { nodes: rows } = (await ops('nodes')) as Json
  const id = rows.find(({ pid }: { pid: number }) => pid === node.server.pid).id
  await ops(`nodes/${id}/drain`, { method: 'POST' })
  await eventually(() => !node.isHealthy)
  if ((await node.server.stop()) !== 0) rig.violations.push(`SIGTERM did not end ${name} with exit 0`)
  nodes.splice(nodes.indexOf(node), 1)
  await boot(name)
  print(`  ${name} is of this release`)
}

/** What is changed at one node is so at the other, and a job that one of them has is read at the other as it runs. */
async function hears(one: string, other: string): Promise<void> {
  const here = createClient(one, key)
  const made = resultOf(await here.send('POST', 'keys', { name: `heard ${one}` }))
  const used = async (secret: string) => (await createClient(other, secret).send('GET', 'models')).is
  if ((await used(made.key)) !== 'acked') rig.violations.push('a key of one release is not known to the other')
  const path = `keys/${made.id}/rotate`
  const { key: secret } = resultOf(await here.send('POST', path, { grace_period_seconds: 0 }))
  await eventually(
    () => used(made.key),
    (is) => is === 'refused',
    HEARD_WITHIN_MS,
  )
  if ((await used(secret)) !== 'acked') rig.violations.push('a rotated key of one release is not known to the other')

  const input = `Tell me at ${one}. [[say:This answer comes in many small pieces, one after the other.]] [[slow:20]]`
  const { id } = resultOf(await here.send('POST', 'responses', { model: 'svc-1-flash', input, background: true }))
  const read = await fetch(`${other}/api/v1/responses/${id}?stream=true`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const text = await read.text()
  if (!text.includes('event: response.completed')) rig.violations.push(`a response was read as ${text.slice(-300)}`)
}

async function look(): Promise<void> {
  while (!isOver) {
    for (const node of [...nodes]) {
      const answer = await fetch(`${node.server.url}/api/v1/health`).catch(() => null)
      await answer?.arrayBuffer()
      node.isHealthy = answer?.ok ?? false
    }
    await Bun.sleep(LOOK_MS)
  }
}

function resultOf(outcome: Outcome<Json>): Json {
  if (outcome.is === 'acked') return outcome.value
  throw new Error(JSON.stringify(outcome))
}

function oldest(): string {
  const migrations = ['--', 'drizzle/postgres/*.sql']
  const added = git('log', '-1', '--diff-filter=A', '--format=%H', ...migrations)
  return /^\+DROP |RENAME /m.test(git('show', '--format=', added, ...migrations)) ? added : `${added}~1`
}

function git(...words: string[]): string {
  return check(['git', ...words]).trim()
}

function check(command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command)
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr.toString()}`)
  return stdout.toString()
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
