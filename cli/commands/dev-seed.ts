import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { connectOps } from '../../src/app/client'
import { type Config, loadConfig } from '../../src/app/config'
import { systemClock } from '../../src/kernel/clock'
import { randomBase62 } from '../../src/kernel/crypto'
import { createLog } from '../../src/kernel/log'
import { DEV_KEY, DEV_OWNER } from '../../src/kernel/user-folder'
import { columnsOf, commandsOf } from '../command'
import { expectData, usageFailure } from '../failure'
import { overridesOf, writeWhole } from '../settings'
import type { Shell } from '../shell'
import type { Connection } from '../transport'
import { choice, flag } from '../words'
import { assertDev, type Caller, callerWith, notForProduction, resetData } from './dev'

const command = commandsOf('dev', { apis: ['operator'], exits: [] })

/** Prompts that ordinary code answers, so that a seeded server needs no language model. */
const REQUESTS = [
  { mode: 'fast', prompt: 'Count to {n}' },
  { mode: 'fast', prompt: 'What is {n} times 17?' },
  { mode: 'think', prompt: 'Which date is {n} days after 2026-01-01?' },
  { mode: 'code', prompt: 'Write a regular expression for exactly {n} digits' },
  { mode: 'auto', prompt: 'Convert {n} miles to kilometres' },
  { mode: 'auto', prompt: 'Summarise: The harbour opens at noon. Boat {n} leaves with the tide. It waits for no one.' },
] as const

const DAY_MS = 86_400_000
const DAYS = 30
/** Number of calls that share one commit, because commits take most of the time. */
const AT_ONCE = 6

/** What seeding created, as a row of its table. */
type Made = { what: string; count: number; see: string }

type Demo = {
  /** Calls with the key of the user who owns everything. */
  call: Caller
  /** Calls as a visitor of a widget, without a key. */
  visit: Caller
  keyId: string
  /** Account that events are published for. */
  accountId: string
  prompts: number
  /** Suffix for names that must be unique. */
  mark: string
  /** True if a server runs. Finished work exists only then. */
  isServed: boolean
}

/** Number of parallel calls. */
const LANES = 6
const SHOP = 'http://localhost:5055'

type Taken = { deliveries: { event_id: string }[] }

/** Calls today, calls per day of the past month, and additional organizations. */
const SIZES = {
  small: { prompts: 6, aDay: 2, orgs: 1 },
  demo: { prompts: 24, aDay: 12, orgs: 3 },
  large: { prompts: 120, aDay: 60, orgs: 10 },
} as const

const NAMES = 'Tide & Sons,Harbour Books,North Light,Salt Works,Two Oars,Pier Nine,Gull Post,Reef'.split(',')

const columns = columnsOf`what MADE, count COUNT number, see SEE IT keep`

export const devSeed = command`seed (severe, exits 5): Fill a development server with sample data
  Creates people, keys, credit, calls, skills and submissions, a widget with chats, webhooks, events, a workflow and jobs. Everything is created with API requests. Without a server and a database, it first adds a month of calls. Jobs end once a server runs them. Not available in production mode. --reset first deletes all data, and asks for the name of the folder.
  $ dev seed
  $ dev seed --size small --json
  $ dev seed --reset --confirm data`({
  columns,
  flags: {
    size: choice(['small', 'demo', 'large'], 'how much data; demo by default'),
    reset: flag('delete the data of this server first, as dev reset does'),
  },
  action({ size = 'demo', reset }, { globals }) {
    if (globals.url) throw usageFailure("dev seed works only on the server's machine.", 'leave out --url')
    return `${reset ? 'delete all data and ' : ''}create sample data of size ${size}`
  },
  async run(shell, { size = 'demo', reset }) {
    const { prompts, aDay, orgs } = SIZES[size]
    const config = loadConfig(overridesOf(shell))
    if (reset) await resetData(shell, config)
    const made: Made[] = []
    // On Postgres, only the database could tell whether others wrote to it before.
    if (!config.databaseUrl && !['svc.db', 'ops.sock'].some((name) => existsSync(join(config.dataDir, name)))) {
      if (config.production) throw notForProduction('dev seed')
      const count = await seedPast(config, aDay, shell.signal)
      made.push({ what: 'completions of the past month', count, see: 'usage show --by day' })
    }
    const connection = await shell.connect()
    await assertDev(connection, 'dev seed')
    made.push(...(await seedPeople(connection, orgs)))
    made.push(...(await seedRest(shell, connection, prompts)))
    shell.print.list(made, columns, 'Nothing was created.')
    if (connection.transport.kind === 'local') shell.note('Start it: svc-admin serve --dev, then svc-admin dashboard')
    else shell.note('Look at it: svc-admin dashboard')
  },
})

async function seedPeople(connection: Connection, orgs: number): Promise<Made[]> {
  const ops = connection.ops()
  for (let at = 0; at < orgs; at++) {
    const mark = randomBase62(5).toLowerCase()
    const owner = `owner-${mark}@example.com`
    const name = NAMES[at % NAMES.length]!
    expectData(await ops.users.post({ email: owner, name: `Owner of ${name}` }))
    const { id } = expectData(await ops.orgs.post({ name, owner, slug: `demo-${mark}` }))
    expectData(await ops.keys.post({ name: `${name} site`, org: id, tier: at % 2 ? 'pro' : 'free' }))
    expectData(await ops.credits.post({ owner: id, amount_cents: 1_000, note: 'dev seed' }))
  }
  return [
    { what: 'organizations, each with an owner, a key and 10.00', count: orgs, see: 'orgs list' },
    { what: 'keys', count: orgs, see: 'keys list' },
  ]
}

async function seedRest(shell: Shell, connection: Connection, prompts: number): Promise<Made[]> {
  const { client, target, key } = await connection.tenant()
  const { keys } = expectData(await client.keys.get({ query: { limit: 100 } }))
  const own = keys.find(({ prefix }) => key.startsWith(prefix))
  if (!own) throw usageFailure('The list of keys does not contain the key in use.', 'add --key-file FILE')
  const { user, active_org_id } = expectData(await client.auth.me.get())
  const made: Made[] = []
  const demo = {
    call: callerWith(target, key, shell.signal),
    visit: callerWith(target, null, shell.signal),
    keyId: own.id,
    accountId: active_org_id ?? user.id,
    prompts,
    mark: randomBase62(5).toLowerCase(),
    isServed: connection.transport.kind === 'socket',
  }
  // Each row comes from the request that a client would send.
  for (const seed of [seedPrompts, seedPolicies, seedSkills, seedWidget, seedWebhooks, seedWork])
    for await (const one of seed(demo)) {
      made.push(one)
      shell.note(`${one.what}: ${one.count}`)
    }
  return made
}

async function* seedPrompts({ call, prompts }: Demo): AsyncGenerator<Made> {
  const ask = async (n: number): Promise<void> => {
    if (n >= prompts) return
    await call('POST', 'completions', promptOf(n))
    await ask(n + LANES)
  }
  await Promise.all(Array.from({ length: LANES }, (_, lane) => ask(lane)))
  yield { what: 'completions', count: prompts, see: 'usage show --by mode' }
}

async function* seedPolicies({ call, mark }: Demo): AsyncGenerator<Made> {
  const short = { guardrail_id: 'max_length', phase: 'input', verdict: 'block', config: { max_chars: 5_000 } }
  await call('POST', 'guardrail-policies', { name: `Short prompts ${mark}`, rules: [short] })
  const rule = { pattern: 'stack trace', target_mode: 'code', confidence: 0.95 }
  await call('POST', 'routing-preferences', { name: `Code first ${mark}`, rules: [rule] })
  yield { what: 'policies', count: 2, see: 'guardrails list' }
}

async function* seedSkills({ call, mark }: Demo): AsyncGenerator<Made> {
  const manifest = (slug: string, more: object = {}) => ({
    name: slug.replaceAll('-', ' '),
    slug: `${slug}-${mark}`,
    version: '1.0.0',
    description: 'Created by dev seed, as an example to review.',
    category: 'creative',
    author: { name: 'dev seed' },
    systemPromptExtension: 'When asked for a poem, write a haiku of three lines.',
    ...more,
  })
  const tools = [{ name: 'count_syllables', description: 'Counts syllables.' }]
  const grave = ['execute:tools', 'external:http', 'write:notes']
  await call('POST', 'skills/submit', { manifest: manifest('haiku-writer') })
  yield { what: 'published skills', count: 1, see: 'skills list' }
  await call('POST', 'skills/submit', { manifest: manifest('syllable-counter', { tools }) })
  await call('POST', 'skills/submit', { manifest: manifest('note-sender', { tools, permissions: grave }) })
  yield { what: 'pending submissions', count: 2, see: 'submissions list' }
}

async function* seedWidget({ call, visit, keyId, mark }: Demo): AsyncGenerator<Made> {
  const security = { allowedOrigins: [SHOP] }
  const { id } = await call('POST', 'iframes', { name: `Shop help ${mark}`, api_key_id: keyId, security })
  yield { what: 'widgets', count: 1, see: `widgets snippet ${id.slice(0, 8)} --page` }
  for (const wants of [false, true]) {
    const origin = { origin: SHOP }
    const chats = `iframes/${id}/sessions`
    const { session_id, token } = await visit<{ session_id: string; token: string }>('POST', chats, {}, origin)
    const asVisitor = { ...origin, authorization: `Bearer ${token}` }
    await visit('POST', `${chats}/${session_id}/messages`, { content: 'What is 19 times 21?' }, asVisitor)
    if (wants) await visit('POST', `${chats}/${session_id}/request-human`, { reason: 'A refund' }, asVisitor)
  }
  yield { what: 'chats, one waiting for a person', count: 2, see: 'takeovers list' }
}

/** One webhook that answers, with the seed command as receiver, and one with an address that does not exist. */
async function* seedWebhooks({ call, mark, accountId, isServed }: Demo): AsyncGenerator<Made> {
  const well = await call('POST', 'webhooks', { url: 'listen:', event_types: ['*'], description: `well ${mark}` })
  const sick = { url: 'https://receiver.invalid/hook', event_types: ['order.*'], description: `fails ${mark}` }
  await call('POST', 'webhooks', sick)
  const thanks = { skill_slug: `haiku-writer-${mark}`, config: { prompt: 'Thank them' } }
  await call('POST', 'hooks', { event_pattern: 'order.*', ...thanks })
  for (let total = 1; total <= 3; total++) {
    const input = { orgId: accountId, eventType: 'order.created', payload: { total }, sourceConnector: 'dev seed' }
    await call('POST', 'events', input, { 'idempotency-key': randomBase62(24) })
  }
  const listener = `webhooks/${well.id}/listener`
  const { deliveries } = await call<Taken>('PUT', listener, { done: [], wait_seconds: isServed ? 2 : 0 })
  const done = deliveries.map(({ event_id }) => ({ event_id, http_status: 200, duration_ms: 40 }))
  if (done.length) await call('PUT', listener, { done })
  yield { what: 'webhooks, one failing', count: 2, see: 'deliveries list' }
  yield { what: 'events', count: 3, see: 'events list' }
}

async function* seedWork({ call, mark, isServed }: Demo): AsyncGenerator<Made> {
  const steps = [
    { type: 'transform', name: 'Shape', config: { template: '{{trigger.total}}' } },
    { type: 'approval', name: 'Ask', config: { message: 'Approve this refund?' } },
  ]
  const input = { name: `Refund ${mark}`, triggerType: 'manual', steps }
  const { workflow } = await call<{ workflow: { id: string } }>('POST', 'workflows', input)
  await call('POST', `workflows/${workflow.id}/run`, { triggerData: { total: 12 } })
  yield { what: 'workflow runs waiting for approval', count: 1, see: 'workflows list' }
  await call('POST', 'research', { prompt: 'When do the tides turn?' })
  await call('POST', 'video', { prompt: 'A red ball' })
  const { job_id } = await call<{ job_id: string }>('POST', 'research', { prompt: 'This one is cancelled' })
  await call('POST', `jobs/${job_id}/cancel`, {}).catch(() => undefined)
  yield { what: isServed ? 'jobs' : 'jobs, which run once a server starts', count: 3, see: 'jobs list' }
}

/**
 * Seeds a month of usage before today, for a database that nobody has written to. Runs the app inside this command with
 * a clock set back, so each row equals that of a real request. The audit record stays ordered by time.
 * @returns the number of calls
 */
async function seedPast(config: Config, max: number, signal: AbortSignal): Promise<number> {
  const { openApp } = await import('../../src/app/open')
  let behindMs = DAYS * DAY_MS
  const clock = { ...systemClock, now: () => Date.now() - behindMs }
  const log = createLog({ level: 'warn', pretty: true, write: (line) => void process.stderr.write(line) })
  const app = await openApp({ config, clock, log, serving: false })
  try {
    // What a first start would create: an owner with credit and a key. Examples find the key in `dev-key`.
    const ops = connectOps({ kind: 'app', handle: app.ops.handle }, { headers: { 'x-svc-transport': 'local' } })
    expectData(await ops.users.post({ email: DEV_OWNER, name: 'Owner' }))
    expectData(await ops.orgs.post({ name: 'Dev', owner: DEV_OWNER }))
    expectData(await ops.credits.post({ owner: DEV_OWNER, amount_cents: 10_000, note: 'dev seed' }))
    const input = { name: DEV_KEY, tier: 'enterprise' as const, user: DEV_OWNER, personal: true as const }
    const { key } = expectData(await ops.keys.post(input))
    await writeWhole(join(config.dataDir, 'dev-key'), `${key}\n`)
    const call = callerWith({ kind: 'app', handle: app.api.handle }, key, signal)
    let count = 0
    for (let day = DAYS; day > 0 && !signal.aborted; day--) {
      // Shapes the past: weekdays differ, and each day has slightly more calls than the day before.
      const today = Math.max(
        1,
        Math.round(max * ([0.4, 0.9, 1, 0.95, 0.9, 0.8, 0.3][day % 7]! * (0.5 + (0.5 * (DAYS - day)) / DAYS))),
      )
      for (let n = 0; n < today; n += AT_ONCE) {
        behindMs = day * DAY_MS - Math.floor((n * DAY_MS) / (today * 3))
        const some = Array.from({ length: Math.min(AT_ONCE, today - n) }, () => promptOf(count++))
        await Promise.all(some.map((prompt) => call('POST', 'completions', prompt)))
      }
    }
    return count
  } finally {
    await app.close()
  }
}

/** The nth prompt. One in four repeats an earlier one, so the cache answers some. */
function promptOf(n: number): { mode: string; prompt: string } {
  const { mode, prompt } = REQUESTS[n % REQUESTS.length]!
  return { mode, prompt: prompt.replace('{n}', String(10 + (n % 4 ? n : n % 8))) }
}
