import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { inArray, isNotNull, sql } from 'drizzle-orm'
import { artifacts } from '../../../src/files/table'
import { jobs as jobTable } from '../../../src/jobs/table'
import { usageRecords } from '../../../src/usage/table'
import { startVideoServer } from '../../media/video-server'
import { seededRandom } from '../../support/random'
import { startResearchSite } from '../../support/research-site'
import { devKeyOf, type ServerProcess, startServerProcess } from '../../support/server-process'
import { openPlace, type Place, processOf } from './kills'
import { CENT } from './support'

type Input = { folder: string; url: string | null; jobs: number; kills: number; killEveryMs: number; seed: number }
export type RealReport = {
  jobs: number
  kills: number
  completed: number
  /** Failed because a kill came while an order was on its way: it may not be repeated, and is not charged. */
  inDoubt: number
  /** Failed because kills hit each of its tries, of which a research has two. */
  givenUp: number
  orders: number
  cents: number
  problems: string[]
}

const LEASE_S = 5
/** How long the last job may take to end after the last order: ten minutes, and longer where there are many. */
const patienceMs = (jobs: number): number => Math.max(600_000, jobs * 1_000)
/** Of so many jobs, one is a research; the others are videos of an upstream, which cost 40 cents. */
const RESEARCH_EACH = 6
const VIDEO_CENTS = 40

/**
 * docs/promises.md I15 and I9 on what callers really start: videos that an upstream makes and researches of a site, on
 * two nodes of one Postgres or one on SQLite, of which one is killed again and again. Every job ends, is charged once,
 * and keeps its files once; no order is made twice; nothing stays held or leased.
 */
export async function runRealKills({ folder, url, jobs: count, kills, killEveryMs, seed }: Input): Promise<RealReport> {
  const random = seededRandom(seed)
  const [videos, site] = [startVideoServer(), startResearchSite()]
  const nodes = new Map<string, ServerProcess>()
  const place: Place =
    url === null ? { dialect: 'sqlite', url: join(folder, 'a', 'svc.db') } : { dialect: 'postgres', url }
  const env = {
    SVC_EGRESS_ALLOW: '127.0.0.1/32',
    SVC_JOB_LEASE_SECONDS: String(LEASE_S),
    SVC_FILES_DIR: join(folder, 'files'),
    SVC_VIDEO_BASE_URL: videos.url,
    SVC_VIDEO_API_KEY: 'sk-film',
    SVC_VIDEO_MODEL: 'filmer',
    SVC_SEARCH_DRIVER: 'searxng',
    SVC_SEARCH_BASE_URL: site.origin,
    SVC_TIERS: JSON.stringify({ free: RATES, starter: RATES, pro: RATES, enterprise: RATES }),
    ...(url === null ? {} : { SVC_DATABASE_URL: url }),
  }
  const boot = async (name: string) => {
    nodes.set(name, await startServerProcess({ dataDir: join(folder, name), env }))
  }
  const report: RealReport = {
    jobs: count,
    kills: 0,
    completed: 0,
    inDoubt: 0,
    givenUp: 0,
    orders: 0,
    cents: 0,
    problems: [],
  }
  try {
    await boot('a')
    const key = devKeyOf(join(folder, 'a'))
    const { user } = await surely(() => nodes.get('a')!.url, key, 'auth/me')
    await nodes.get('a')!.stop()
    await addCredit(place, folder, user.id, count * VIDEO_CENTS)
    await boot('a')
    if (url !== null) {
      mkdirSync(join(folder, 'b'), { mode: 0o700 })
      cpSync(join(folder, 'a', 'secrets.json'), join(folder, 'b', 'secrets.json'))
      await boot('b')
    }
    const names = [...nodes.keys()]
    const killing = (async () => {
      for (; report.kills < kills; report.kills++) {
        await Bun.sleep(random.between(killEveryMs / 2, killEveryMs * 1.5))
        const victim = names[random.between(0, names.length - 1)]!
        await nodes.get(victim)!.kill()
        await boot(victim)
      }
    })()
    const ask = (path: string, body?: object, once = '') =>
      surely(() => nodes.get(names[random.between(0, names.length - 1)]!)!.url, key, path, body, once)
    const ids: string[] = []
    const start = async (n: number) => {
      const isResearch = n % RESEARCH_EACH === 0
      const input = isResearch
        ? { prompt: `How tall is the lighthouse? ${site.urls.slice(0, 3).join(' ')}`, max_sources: 3 }
        : { prompt: `boat ${n}`, duration: '4s', style: 'flat' }
      ids.push((await ask(isResearch ? 'research' : 'video', input, `order-${n}`)).job_id)
    }
    for (let from = 0; from < count; from += AT_ONCE) {
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, n) => start(from + n)))
    }
    const open = new Set(ids)
    const until = performance.now() + patienceMs(count)
    while (open.size && performance.now() < until) {
      for (const id of [...open].slice(0, 20)) {
        const { status } = await ask(`jobs/${id}`)
        if (status === 'completed' || status === 'failed') open.delete(id)
      }
      await Bun.sleep(500)
    }
    await killing
    if (open.size) report.problems.push(`${open.size} jobs did not end`)
    if (new Set(ids).size !== count) report.problems.push(`${count} orders are ${new Set(ids).size} jobs`)
    for (const node of nodes.values()) await node.stop()
    await check(place, folder, ids, videos, report)
  } finally {
    for (const node of nodes.values()) await node.kill()
    videos.stop()
    site.stop()
  }
  return report
}

const RATES = { rpm: 1_000_000, tpm: 1_000_000_000 }
const AT_ONCE = 8

/** Until it is answered: an Idempotency-Key keeps a repeated request to one effect. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function surely(urlOf: () => string, key: string, path: string, body?: object, once = ''): Promise<any> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    ...(once ? { 'idempotency-key': once } : {}),
  }
  const until = performance.now() + 120_000
  for (let text = ''; performance.now() < until; await Bun.sleep(50)) {
    try {
      const input = body ? { method: 'POST', body: JSON.stringify(body) } : {}
      const response = await fetch(`${urlOf()}/api/v1/${path}`, { headers, ...input })
      if (response.ok) return await response.json()
      text = `${response.status} ${await response.text()}`
      if (response.status < 500 && response.status !== 409 && response.status !== 429)
        throw new Error(`${path}: ${text}`)
    } catch (error) {
      if (error instanceof Error && error.message.startsWith(path)) throw error
    }
  }
  throw new Error(`${path} was not answered in time`)
}

async function addCredit(place: Place, folder: string, userId: string, cents: number): Promise<void> {
  const store = openPlace(place)
  const { billing } = processOf(store, 'grants', folder)
  const owner = `user:${userId}` as const
  const grant = { owner, amount: cents * CENT, ref: 'kills', kind: 'grant', note: null } as const
  await store.write((tx) => billing.grant(tx, grant))
  await store.close()
}

async function check(
  place: Place,
  folder: string,
  ids: string[],
  films: { of(method: string, path: RegExp): { headers: Headers }[] },
  report: RealReport,
) {
  const store = openPlace(place)
  const problem = (text: string) => report.problems.push(text)
  try {
    const { billing, publicJobs } = processOf(store, 'checks', folder)
    const t = store.read.of(jobTable)
    const rows = await store.read
      .select({ id: t.id, type: t.type, state: t.state, error: t.error, lease: t.lease_until })
      .from(t)
      .where(isNotNull(t.type))
    for (const { id, state, error, lease } of rows) {
      if (state === 'completed') report.completed += 1
      else if (state === 'failed' && error?.includes('may or may not')) report.inDoubt += 1
      else if (state === 'failed' && error?.includes('ended unexpectedly')) report.givenUp += 1
      else problem(`${id} is ${state}: ${error}`)
      if (lease !== null) problem(`${id} is still leased`)
    }
    if (rows.length !== ids.length) problem(`${ids.length} jobs are ${rows.length} rows`)
    const videos = rows.filter(({ type, state }) => type === 'video' && state === 'completed').length
    const a = store.read.of(artifacts)
    const stored = await store.read
      .select({ type: a.type, count: sql<number>`count(*)`.mapWith(Number) })
      .from(a)
      .where(inArray(a.type, ['video', 'image']))
      .groupBy(a.type)
    for (const type of ['video', 'image'] as const) {
      const found = stored.find((one) => one.type === type)?.count ?? 0
      if (found !== videos) problem(`${videos} videos kept ${found} files of type ${type}`)
    }
    const u = store.read.of(usageRecords)
    const [used] = await store.read
      .select({ cost: sql<number>`coalesce(sum(${u.cost_micro}), 0)`.mapWith(Number) })
      .from(u)
    report.cents = used!.cost / CENT
    if (report.cents !== videos * VIDEO_CENTS) problem(`${videos} videos cost ${report.cents} cents`)
    const keys = films.of('POST', /videos$/).map(({ headers }) => headers.get('idempotency-key'))
    report.orders = keys.length
    if (new Set(keys).size !== keys.length) problem('an order was made twice')
    report.problems.push(...(await billing.verify(store.read)), ...(await publicJobs.verify(store.read)))
  } finally {
    await store.close()
  }
}
