import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownPostgres } from '../run/postgres'
import { eventually } from '../support/eventually'
import { readFrames } from '../support/frames'
import { devKeyOf, type ServerProcess, startServerProcess } from '../support/server-process'
import { startUpstream } from '../support/upstream'

setDefaultTimeout(120_000)

/** Micro-cents for 1,000 tokens in and out: whose price an answer was charged says which settings it was made with. */
const PRICES = { a: [1_000_000, 3_000_000], b: [20_000_000, 50_000_000], dearer: [40_000_000, 90_000_000] } as const
const setting = ([promptPer1k, completionPer1k]: readonly [number, number]) => ({ promptPer1k, completionPer1k })

const root = mkdtempSync(join(tmpdir(), 'svc-live-engines-'))
const [a, b] = await Promise.all([startUpstream({ text: 'alpha' }), startUpstream({ text: 'bravo' })])
const stops: (() => Promise<unknown>)[] = [a.stop, b.stop]
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop()
  rmSync(root, { recursive: true, force: true })
})

async function nodesOn(names: readonly string[], env: Record<string, string>) {
  const homes = names.map((name) => join(root, name))
  const nodes: ServerProcess[] = []
  for (const home of homes) {
    if (nodes.length) {
      mkdirSync(home, { mode: 0o700 })
      cpSync(join(homes[0]!, 'secrets.json'), join(home, 'secrets.json'))
    }
    nodes.push(await startServerProcess({ dataDir: home, env }))
    stops.push(nodes.at(-1)!.kill)
  }
  const key = devKeyOf(homes[0]!)
  let requested = 0
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const post = (at: number, prompt: string, more = {}) =>
    fetch(`${nodes[at]!.url}/api/v1/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ prompt: `${prompt} ${++requested}`, mode: 'fast', ...more }),
    })
  return {
    nodes,
    headers,
    post,
    /** One plain call: who answered. */
    who: async (at: number) => ((await (await post(at, 'Who?')).json()) as { content?: string }).content ?? 'nobody',
    /** The operator API of the first node. */
    async ops(method: string, path: string, body?: unknown): Promise<void> {
      const unix = join(homes[0]!, 'ops.sock')
      const input = { method, unix, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body ?? {}) }
      const response = await fetch(`http://localhost/ops/v1/engines${path}`, input)
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    },
  }
}

type Usage = { prompt_tokens: number; completion_tokens: number; cost_cents: number }
type Answered = { content?: string; usage: Usage }

/** Whose prices these are; null for none. */
function pricedBy({ usage }: Answered): string | null {
  const cents = ([input, output]: readonly [number, number]) =>
    Math.ceil((input * usage.prompt_tokens + output * usage.completion_tokens) / 1_000) / 1_000_000
  const found = Object.entries(PRICES).find(([, price]) => Math.abs(cents(price) - usage.cost_cents) < 1e-4)
  return found?.[0] ?? null
}

const added = (url: string, name: 'a' | 'b') => ({
  name,
  kind: 'compat',
  base_url: url,
  models: ['scripted'],
  api_key: `key-of-${name}`,
  test: false,
  settings: { prices: setting(PRICES[name]), headers: { 'x-of': name } },
})

type Cluster = Awaited<ReturnType<typeof nodesOn>>

/** What operators do to engines while every node answers plain calls and streams. */
async function underLoad({ nodes, post, ops, who, headers }: Cluster) {
  const last = nodes.length - 1
  const seen = async (name: string) => {
    const since = performance.now()
    await eventually(
      () => who(last),
      (content) => content === name,
      5_000,
    )
    return performance.now() - since
  }
  await ops('POST', '', added(a.url, 'a'))
  const waits = [await seen('alpha')]
  const notices: Answered[] = []
  const failures: string[] = []
  let isOver = false
  const worker = async (at: number, streams: boolean) => {
    while (!isOver) {
      const response = await post(at, streams ? '[[slow:15]] [[tokens:20]]' : 'Plain', streams ? { stream: true } : {})
      const text = await response.text()
      if (response.status !== 200) failures.push(`${response.status} ${text}`)
      else if (!streams) notices.push(JSON.parse(text))
      else {
        const done = readFrames(text).find(({ event }) => event === 'done')
        if (done) notices.push(done.data)
        else failures.push(text.slice(-300))
      }
    }
  }
  const load = nodes.flatMap((_, at) => [worker(at, true), worker(at, true), worker(at, false), worker(at, false)])
  // Streams that begin now end with what they began with, whatever changes until then.
  const long = await Promise.all(
    nodes.map(async (_, at) => {
      const response = await post(at, 'Long [[slow:60]] [[tokens:60]]', { stream: true })
      return { response, text: response.text() }
    }),
  )
  await ops('POST', '', added(b.url, 'b'))
  waits.push(await seen('bravo'))
  await ops('PATCH', '/b', { settings: { prices: setting(PRICES.dearer), concurrency: 4 }, test: false })
  await ops('PUT', '/map/fast', { targets: ['a:scripted'] })
  waits.push(await seen('alpha'))
  await ops('PUT', '/map/fast', { targets: ['b:scripted', 'a:scripted'] })
  waits.push(await seen('bravo'))
  await ops('PATCH', '/b', { api_key: 'second-key', settings: { concurrency: 0 }, test: false })
  await ops('PUT', '/prices', { prices: { 'svc-1-flash': setting(PRICES.dearer) } })
  await ops('PUT', '/map/fast', { targets: [] })
  await ops('PATCH', '/b', { settings: { off: true }, test: false })
  waits.push(await seen('alpha'))
  await ops('PATCH', '/b', { settings: { off: null }, test: false })
  waits.push(await seen('bravo'))
  await ops('DELETE', '/b')
  waits.push(await seen('alpha'))
  await ops('PUT', '/prices', { prices: { 'svc-1-flash': null } })
  isOver = true
  await Promise.all(load)
  const ended = await Promise.all(
    long.map(async ({ text }) => readFrames(await text).find(({ event }) => event === 'done')?.data),
  )
  const health = await Promise.all(nodes.map(({ url }) => fetch(`${url}/api/v1/models`, { headers })))
  return { waits, told: notices, failures, ended: ended as Answered[], models: health.map(({ status }) => status) }
}

function assertWhole({ waits, told: notices, failures, ended, models }: Awaited<ReturnType<typeof underLoad>>): void {
  expect(failures).toEqual([])
  expect(notices.length).toBeGreaterThan(20)
  const pairs = new Set(
    notices.map((one) => `${/alpha|bravo/.exec(one.content ?? '')?.[0] ?? 'stream'} ${pricedBy(one)}`),
  )
  const allowed = ['alpha a', 'alpha dearer', 'bravo b', 'bravo dearer', 'stream a', 'stream b', 'stream dearer']
  expect(allowed).toEqual(expect.arrayContaining([...pairs]))
  // They began when only "a" was there, and ended long after it was priced otherwise.
  expect(ended.map(pricedBy)).toEqual(ended.map(() => 'a'))
  expect(ended.map(({ usage }) => usage.completion_tokens)).toEqual(ended.map(() => 60))
  // The header and the key of an upstream go together, and neither goes to the other.
  const sent = (calls: typeof a.calls) =>
    new Set(calls.map(({ headers }) => `${headers['x-of']} ${headers.authorization}`))
  expect([...sent(a.calls)]).toEqual(['a Bearer key-of-a'])
  expect([...sent(b.calls)].toSorted()).toEqual(['b Bearer key-of-b', 'b Bearer second-key'])
  expect(models).toEqual(models.map(() => 200))
  process.stdout.write(
    `  ${notices.length} answers; a change was seen after ${Math.round(Math.max(...waits))} ms at most\n`,
  )
}

describe('engines that change under load', () => {
  test('on one node', async () => {
    assertWhole(await underLoad(await nodesOn(['alone'], {})))
  })

  test('on two nodes of one Postgres', async () => {
    const postgres = await ownPostgres()
    if ('missing' in postgres) {
      process.stdout.write(`NOT RUN: engines that change on two nodes, because ${postgres.missing}\n`)
      return
    }
    stops.push(postgres.stop)
    a.reset()
    b.reset()
    const outcome = await underLoad(await nodesOn(['one', 'two'], { SVC_DATABASE_URL: postgres.url }))
    assertWhole(outcome)
    expect(Math.max(...outcome.waits)).toBeLessThan(2_000)
  })
})
