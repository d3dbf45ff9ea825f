import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config'
import { writeWhole } from '../../src/kernel/config-file'
import { randomBase62 } from '../../src/kernel/crypto'
import { defineCommand } from '../command'
import type { Connection } from '../connection'
import { expectData, replyFailure, usageFailure } from '../failure'
import { column } from '../output/columns'
import { overridesOf } from '../overrides'
import { callerWith } from '../seed/call'
import { type Made, seedDemo } from '../seed/demo'
import { assertDev, notForProduction } from '../seed/dev-only'
import { type PastApp, seedPast } from '../seed/past'
import type { Shell } from '../shell'
import { choice, flag } from '../words'
import { resetData } from './dev-reset'

/** Calls of today, calls of a day of the past month, and organizations besides. */
const SIZES = {
  small: { prompts: 6, aDay: 2, orgs: 1 },
  demo: { prompts: 24, aDay: 12, orgs: 3 },
  large: { prompts: 120, aDay: 60, orgs: 10 },
} as const

const OWNER = 'owner@example.com'
const NAMES = [
  'Tide & Sons',
  'Harbour Books',
  'North Light',
  'Salt Works',
  'Two Oars',
  'Pier Nine',
  'Gull Post',
  'Reef',
]

const columns = [
  column('what', 'MADE'),
  column('count', 'COUNT', { kind: 'number' }),
  column('see', 'SEE IT', { keep: true }),
]

export const devSeed = defineCommand({
  path: 'dev seed',
  summary: 'Fill a development server with sample data',
  about:
    'Creates people, keys, credit, calls, skills and submissions, a widget with chats, webhooks, events, a workflow and jobs. Everything is created with API requests. Without a server and a database, it first adds a month of calls. Jobs end once a server runs them. Not available in production mode. --reset first deletes all data, and asks for the name of the folder.',
  examples: ['dev seed', 'dev seed --size small --json', 'dev seed --reset --confirm data'],
  apis: ['operator'],
  impact: 'write',
  danger: 'severe',
  exits: [5],
  columns,
  flags: {
    size: choice(['small', 'demo', 'large'], 'how much data; demo by default'),
    reset: flag('delete the data of this server first, as dev reset does'),
  },
  async run(shell, { size = 'demo', reset }) {
    const { prompts, aDay, orgs } = SIZES[size]
    const config = loadConfig(overridesOf(shell))
    if (shell.globals.url) throw usageFailure("dev seed works only on the server's machine.", 'leave out --url')
    if (shell.planned(`${reset ? 'delete all data and ' : ''}create sample data of size ${size}`)) return
    if (reset) await resetData(shell, config)
    const made: Made[] = []
    if (isUntouched(config)) {
      if (config.production) throw notForProduction('dev seed')
      const count = await seedPast(config, { most: aDay, signal: shell.signal, key: (app) => firstKey(app, config) })
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

type Config = ReturnType<typeof loadConfig>

/** On Postgres others may have written before, which only the database could say. */
const isUntouched = ({ dataDir, databaseUrl }: Config): boolean =>
  !databaseUrl && !existsSync(join(dataDir, 'svc.db')) && !existsSync(join(dataDir, 'ops.sock'))

/** What the first start would have made: an owner with credit and a key, which examples find in `dev-key`. */
async function firstKey({ ops }: PastApp, { dataDir }: Config): Promise<string> {
  const ask = async (path: string, body: object): Promise<Record<string, string>> => {
    const headers = { 'content-type': 'application/json', 'x-svc-transport': 'local' }
    const sent = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await ops.handle(new Request(`http://localhost/ops/v1/${path}`, sent))
    if (!answer.ok) throw replyFailure(answer.status, await answer.text())
    return (await answer.json()) as Record<string, string>
  }
  await ask('users', { email: OWNER, name: 'Owner' })
  await ask('orgs', { name: 'Dev', owner: OWNER })
  await ask('credits', { owner: OWNER, amount_cents: 10_000, note: 'dev seed' })
  const { key = '' } = await ask('keys', { name: 'Dev laptop', tier: 'enterprise', user: OWNER, personal: true })
  await writeWhole(join(dataDir, 'dev-key'), `${key}\n`)
  return key
}

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
  for await (const one of seedDemo(demo)) {
    made.push(one)
    shell.note(`${one.what}: ${one.count}`)
  }
  return made
}
