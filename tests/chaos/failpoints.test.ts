import { afterAll, describe, expect, test } from 'bun:test'
import { eventually } from '../support/eventually'
import { isLong } from '../support/long'
import { seededRandom } from '../support/random'
import { devKeyOf, type ServerProcess, spawnServer } from '../support/server-process'
import { startUpstream } from '../support/upstream'
import { createClient, type Json } from './client'
import { openHolds } from './copy'
import { createRig, type Rig } from './rig'

const upstream = await startUpstream()
afterAll(() => upstream.stop())

const SIGKILL = 137
const DIES_WITHIN_MS = 60_000
const RUNS = isLong ? 2 : 1
/** A death comes at the fifth to this time that its instant is passed. */
const MAX_BEFORE = isLong ? 60 : 30
const STATEMENTS = isLong ? [1, 3, 9, 17] : [9]

/** Runs a server armed to end itself; throws when it lives on. */
async function dies(rig: Rig, failpoint: string): Promise<void> {
  const server = await spawnServer({
    dataDir: rig.dataDir,
    port: rig.port,
    env: { ...rig.env, SVC_FAILPOINT: failpoint },
  })
  const code = await Promise.race([server.exited, Bun.sleep(DIES_WITHIN_MS).then(() => 'alive')])
  await server.kill()
  expect(code).toBe(SIGKILL)
}

async function expectSound(rig: Rig): Promise<void> {
  await rig.checkCopy()
  const server = await rig.boot()
  await rig.checkLive(server, 'all')
  expect(await server.stop()).toBe(0)
  await rig.close()
  expect(rig.violations).toEqual([])
}

/** Those between which money or an answer could get lost; the long run has the others too. */
const INSTANTS = [
  'after_hold_commit',
  'engine_done_before_settle',
  'settle_commit_before_ack',
  'answer_kept_before_ack',
  ...(isLong ? ['after_auth', 'engine_first_byte', 'in_mid_tool', 'hold_grown_before_turn'] : []),
]

describe('a process that ends at a named instant', () => {
  // One folder for all: each start recovers from the death before, and the last one answers for all of them.
  let rig: Rig
  test.each(INSTANTS)(
    '%s: what it leaves on the disk is sound',
    async (name) => {
      rig ??= await createRig(upstream)
      const random = seededRandom(name.length)
      for (let run = 0; run < RUNS; run++) {
        const server = await rig.boot({ SVC_FAILPOINT: `${name}:${random.between(5, MAX_BEFORE)}` })
        const death = Promise.race([server.exited, Bun.sleep(DIES_WITHIN_MS).then(() => 'alive')])
        await rig.load(server, random, death)
        expect(await death).toBe(SIGKILL)
        await rig.checkCopy()
      }
      expect(rig.violations).toEqual([])
    },
    180_000,
  )

  test('and after all of them nothing is lost that was acknowledged', async () => {
    await expectSound(rig)
    expect(rig.witness.replays()).toBeGreaterThan(0)
  }, 180_000)

  test.each(STATEMENTS)(
    'in the middle of a first migration, statement %d: the next start does it anew (S14)',
    async (nth) => {
      const rig = await createRig(upstream)
      await dies(rig, `migration_step:${nth}`)
      const server = await rig.boot()
      expect(devKeyOf(rig.dataDir)).toStartWith('svc_sk_')
      expect(await server.stop()).toBe(0)
      await expectSound(rig)
    },
    180_000,
  )

  test('in the middle of recovery, twice: the third start has given every hold back', async () => {
    const rig = await createRig(upstream)
    const server = await rig.boot()
    await leaveHolds(server, rig, 5)
    await dies(rig, 'recovery_step:2')
    await dies(rig, 'recovery_step:5')
    await expectSound(rig)
  }, 180_000)
})

test('a process killed in the middle of tools: their holds are given back, and asked again each runs once', async () => {
  const RUNS = 5
  const rig = await createRig(upstream)
  const server = await rig.boot()
  const client = createClient(server.url, devKeyOf(rig.dataDir))
  const requests = Array.from({ length: RUNS }, (_, at) => {
    const prompt = `Wait ${at} [[while:One moment.]][[plan:wait{"ms":9000};wait{"ms":9000}]]`
    const body = { prompt, mode: 'fast', tools: [rig.endpoint.tool] }
    const note = (answer: Json, requestId: string) => {
      expect(answer.tools_used).toHaveLength(2)
      rig.witness.answers.push({ requestId, costCents: answer.usage.cost_cents })
    }
    return { kind: 'act', key: `mid-tool-${at}`, path: 'completions', body, note }
  })
  const answers = requests.map(({ path, body, key }) => client.send('POST', path, body, key))
  await eventually(() => rig.endpoint.called() === 2 * RUNS)
  await server.kill()
  expect((await Promise.all(answers)).map(({ is }) => is)).toEqual(Array(RUNS).fill('unknown'))
  // The one that they share.
  expect(openHolds(rig.dataDir)).toBe(1)

  rig.endpoint.hasten()
  rig.witness.unfinished.push(...requests)
  await expectSound(rig)
  expect(rig.endpoint.called()).toBe(4 * RUNS)
  expect(rig.witness.answers).toHaveLength(RUNS)
}, 180_000)

/** Starts answers that never come, and kills the server while their holds are open. */
async function leaveHolds(server: ServerProcess, rig: Rig, count: number): Promise<void> {
  const client = createClient(server.url, devKeyOf(rig.dataDir))
  upstream.reset()
  const requests = Array.from({ length: count }, (_, at) =>
    // Each stream has a hold of its own; plain calls of one account share one.
    client.stream('completions', { prompt: `Wait ${at} [[hang]]`, mode: 'fast' }),
  )
  // Told apart by prompt: an engine may be asked twice for one hold.
  const waiting = () =>
    new Set(upstream.calls.map(({ prompt }) => prompt).filter((prompt) => prompt.includes('[[hang]]')))
  await eventually(() => waiting().size === count)
  // A hold may be answered before it is durable; what is written after it is not, and takes it along.
  expect((await client.send('POST', 'memory', { content: 'Durable.' })).is).toBe('acked')
  await server.kill()
  expect((await Promise.all(requests)).map(({ is }) => is)).toEqual(Array(count).fill('unknown'))
}
