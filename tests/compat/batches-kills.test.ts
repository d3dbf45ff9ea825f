import { afterAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI, { toFile } from 'openai'
import { isLong } from '../support/long'
import { seededRandom } from '../support/random'
import { devKeyOf, type ServerProcess, startServerProcess } from '../support/server-process'
import { createMigratedDatabase, postgresUrl } from '../support/store'
import { startUpstream } from '../support/upstream'

const LINES = isLong ? 1_000 : 120
const KILLS = isLong ? 20 : 3
/** Longest pause of a kill after the line at which it is due. */
const PAUSE_MS = 60

const folder = mkdtempSync(join(tmpdir(), 'svc-batch-'))
const database = postgresUrl ? await createMigratedDatabase(postgresUrl) : null
/** On Postgres the other node goes on while one starts, so its lines take longer than a start. */
const upstream = await startUpstream({ delayMs: database ? 200 : 20 })
const nodes = new Map<string, ServerProcess>()
const env = {
  SVC_ENGINE_BASE_URL: upstream.url,
  SVC_ENGINE_MODEL: 'scripted',
  SVC_FILES_DIR: join(folder, 'files'),
  SVC_JOB_LEASE_SECONDS: '5',
  ...(database ? { SVC_DATABASE_URL: database.url } : {}),
}
afterAll(async () => {
  for (const node of nodes.values()) await node.kill()
  await upstream.stop()
  await database?.drop()
  rmSync(folder, { recursive: true, force: true })
})

const boot = async (name: string) =>
  void nodes.set(name, await startServerProcess({ dataDir: join(folder, name), env }))

const lineOf = (n: number) => ({
  ...{ custom_id: `line-${n}`, method: 'POST', url: '/v1/chat/completions' },
  body: { model: 'svc-1-flash', messages: [{ role: 'user', content: `[[say:answer ${n}]]` }] },
})

/** On SQLite one node is killed and started again; on Postgres either of two. */
test(`a batch of ${LINES} lines and ${KILLS} kills -9: each line is answered once and charged once`, async () => {
  const random = seededRandom(11)
  await boot('a')
  const key = devKeyOf(join(folder, 'a'))
  if (database) {
    mkdirSync(join(folder, 'b'), { mode: 0o700 })
    cpSync(join(folder, 'a', 'secrets.json'), join(folder, 'b', 'secrets.json'))
    await boot('b')
  }
  const names = [...nodes.keys()]
  const client = () => new OpenAI({ baseURL: `${nodes.get('a')!.url}/v1`, apiKey: key })
  const get = async (path: string) => {
    const answer = await fetch(`${nodes.get('a')!.url}/api/v1/${path}`, { headers: { authorization: `Bearer ${key}` } })
    expect({ path, status: answer.status }).toEqual({ path, status: 200 })
    return answer
  }
  const balanceOf = async () => ((await (await get('usage')).json()) as Usage).balance.balance_cents
  const before = await balanceOf()
  const text = Array.from({ length: LINES }, (_, n) => JSON.stringify(lineOf(n))).join('\n')
  const file = await client().files.create({ file: await toFile(Buffer.from(text), 'in.jsonl'), purpose: 'batch' })
  const { id } = await client().batches.create({
    ...{ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' },
  })

  for (let kill = 1; kill <= KILLS; kill++) {
    const due = upstream.calls.length + Math.floor(LINES / (KILLS + 2))
    while (upstream.calls.length < Math.min(due, LINES)) await Bun.sleep(2)
    await Bun.sleep(random.between(0, PAUSE_MS))
    const victim = names[random.between(0, names.length - 1)]!
    await nodes.get(victim)!.kill()
    await boot(victim)
  }
  let batch = await client().batches.retrieve(id)
  while (!['completed', 'failed', 'expired', 'cancelled'].includes(batch.status)) {
    await Bun.sleep(200)
    batch = await client().batches.retrieve(id)
  }

  expect(batch).toMatchObject({ status: 'completed', request_counts: { total: LINES, completed: LINES, failed: 0 } })
  const answers = (await (await client().files.content(batch.output_file_id!)).text()).trimEnd().split('\n')
  const out = answers.map((line) => JSON.parse(line) as Out)
  expect(out.map(({ custom_id }) => custom_id).sort()).toEqual(
    Array.from({ length: LINES }, (_, n) => `line-${n}`).sort(),
  )
  for (const { custom_id, response } of out)
    expect(response.body.choices[0]!.message.content).toBe(custom_id.replace('line-', 'answer '))
  const requests = new Set(out.map(({ response }) => response.request_id))
  expect(requests.size).toBe(LINES)
  const rows = ((await (await get('usage/export?format=jsonl')).text()).trimEnd().split('\n') as string[])
    .map((line) => JSON.parse(line) as Row)
    .filter(({ endpoint, status }) => endpoint === '/chat/completions' && status === 200)
  expect(rows.map(({ request_id }) => request_id).sort()).toEqual([...requests].sort())
  const cents = out.reduce((sum, { response }) => sum + response.body.svc_metadata.cost_cents, 0)
  expect(cents).toBeGreaterThan(0)
  expect(rows.reduce((sum, { cost_cents }) => sum + cost_cents, 0)).toBeCloseTo(cents, 4)
  expect(before - (await balanceOf())).toBeCloseTo(cents, 4)
}, 900_000)

type Usage = { balance: { balance_cents: number } }
type Row = { endpoint: string; status: number; request_id: string; cost_cents: number }
type Out = {
  custom_id: string
  response: {
    request_id: string
    body: { choices: { message: { content: string } }[]; svc_metadata: { cost_cents: number } }
  }
}
