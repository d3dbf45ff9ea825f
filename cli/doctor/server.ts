import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { send } from '../../src/app/client'
import { counted } from '../../src/kernel/text'
import { DEV_KEY, DEV_OWNER } from '../../src/kernel/user-folder'
import type { Status } from '../../src/operators/status-schema'
import type { SharedRoutes } from '../command'
import { bringUp } from '../commands/migrate'
import { expectData } from '../failure'
import { eachEntry, pageIn } from '../pages'
import { everyKey } from '../resource'
import { type Context, type Finding, fail, hostCheck, ok, repairable, serverCheck, skip, warn } from './check'

/** Checks whether receivers of webhooks accept deliveries, and whether the guard blocks private addresses. */
export const webhooksCheck = serverCheck('webhooks out', async (context) => {
  const api: SharedRoutes = (await context.connect()).ops()
  let [all, failing] = [0, 0]
  let worst: { id: string; failure_count: number } | null = null
  for await (const one of eachEntry((query) => pageIn(api.webhooks.get({ query }), 'webhooks'))) {
    if (!one.enabled && one.disabled_reason === null) continue
    all += 1
    if (one.failure_count === 0 && one.disabled_reason === null) continue
    failing += 1
    if (worst === null || one.failure_count > worst.failure_count) worst = one
  }
  const open = context.shell.globals.url ? '' : context.config().egressAllow
  const guard = open ? `the egress guard allows ${open}` : 'the egress guard blocks private addresses'
  if (worst)
    return warn(`${failing} of ${counted(all, 'webhook')} failing; ${guard}`, `svc-admin webhooks stats ${worst.id}`)
  const fine = all ? `${counted(all, 'webhook')}, none failing` : 'no webhooks'
  return open ? warn(`${guard}; ${fine}`, 'unset SVC_EGRESS_ALLOW, in production') : ok(`${guard}; ${fine}`)
})

/** Checks whether each active widget has an allowed page, and a key that works. */
export const widgetsCheck = serverCheck('widget origins', async (context) => {
  const api: SharedRoutes = (await context.connect()).ops()
  const live = new Map((await everyKey(api, { live: true })).map((key) => [key.id as string, key.allowed_origins]))
  const problems: { id: string; what: string; fix: string }[] = []
  let count = 0
  for await (const { id, name, status, api_key_id, security } of eachEntry((query) =>
    pageIn(api.iframes.get({ query }), 'configs'),
  )) {
    if (status !== 'active') continue
    count += 1
    const origins = live.get(api_key_id)
    if (!origins) problems.push({ id, what: `the key of widget "${name}" no longer works`, fix: `widgets get ${id}` })
    else if (!security.allowedOrigins.length && !origins.length)
      problems.push({
        id,
        what: `widget "${name}" has no origins, so no page can show it`,
        fix: `widgets update ${id} --origin https://YOUR-SITE`,
      })
  }
  if (!count) return skip('no active widgets')
  const [first] = problems
  if (!first) return ok(`${count} of ${count} active widgets have pages that can show them`)
  const more = problems.length > 1 ? `, and ${problems.length - 1} more` : ''
  return warn(`${first.what}${more}`, `svc-admin ${first.fix}`)
})

export const redisCheck = serverCheck('redis', async (context) => {
  const { redis, database, nodes } = await statusOf(context)
  if (!redis && nodes.count > 1)
    return warn(
      `not set, so each of the ${nodes.count} nodes counts rate limits alone`,
      'svc-admin config set redisUrl redis://HOST on every node',
    )
  if (!redis) return skip('not set')
  const { problem, latency_ms, evicts } = redis
  if (problem)
    return warn(
      `${problem}; nodes that reach it count for the others, or each node allows its share of the limits`,
      'svc-admin config get redisUrl',
    )
  if (database.dialect === 'sqlite') return skip('not used: with SQLite there is only one node')
  return evicts === null
    ? ok(`${latency_ms} ms`)
    : warn(
        `removes counts of rate limits by ${evicts} when its memory is full`,
        'redis-cli config set maxmemory-policy noeviction, and the same in redis.conf',
      )
})

export const migrationsCheck = hostCheck('migrations', ['config', 'files'], async (context) => {
  // A running server may use another database than this shell's settings name.
  const running = context.named ?? (await runningOf(context))
  if (running) return migratedBy(running)
  const location = (await import('../../src/app/open')).databaseLocationOf(context.config())
  // Opening it would create it.
  if (location.dialect === 'sqlite' && !existsSync(location.path))
    return skip('no database yet; the first start creates it')
  const { schemaOf } = await import('../../src/kernel/store')
  const { applied, known, strange, unfinished } = await schemaOf(location)
  if (unfinished)
    return fail('a copy into the database did not finish', 'svc-admin migrate copy, on the machine where it started')
  if (strange)
    return fail(
      'another development version created the database',
      'run that version, or start over with an empty folder',
    )
  if (applied > known) return fail(`the database has ${applied}, this release has ${known}`, 'run the newer release')
  if (applied === known) return ok(`${applied} of ${known}`)
  const repair = () => bringUp(location, context.config().dataDir)
  return repairable(fail(`${applied} of ${known}`, 'svc-admin migrate up'), repair)
})

function migratedBy({ database }: Status): Finding {
  const { migrations_applied: applied, migrations_known: known } = database
  if (applied === null || known === null) return warn('the server cannot reach its database now')
  return applied === known
    ? ok(`${applied} of ${known}`)
    : fail(`the database has ${applied}, the server has ${known}`, 'run the release that matches the database')
}

export const databaseCheck = serverCheck(
  'database',
  async (context) => {
    const { database } = await statusOf(context)
    const { dialect, place, latency_ms, risks } = database
    if (!database.ok) return fail(`${dialect} ${place} does not answer`)
    if (!risks.length) return ok(`${dialect} ${place}, ${latency_ms} ms`)
    const lost = `with ${risks.join(', ')} it may lose acknowledged writes if its machine loses power`
    return warn(lost, `set ${risks.map((one) => one.replace('off', 'on')).join(', ')} in postgresql.conf`)
  },
  ['migrations', 'secrets'],
)

const CLOSE_MS = 2_000

export const clockCheck = serverCheck('clock', async (context) => {
  const { now, nodes } = await statusOf(context)
  const off = Math.abs(context.shell.clock.now() - Date.parse(now))
  const apart = nodes.clocks_apart_ms
  if (apart > CLOSE_MS)
    return warn(`${(apart / 1_000).toFixed(2)} s between the clocks of two nodes`, 'timedatectl set-ntp true, on each')
  const detail = `${(off / 1_000).toFixed(2)} s between this machine's and the server's`
  return off > CLOSE_MS ? warn(detail, 'timedatectl set-ntp true') : ok(detail)
})

export const publicUrlCheck = hostCheck('public url', ['config'], async (context) => {
  const own = context.config()
  const running = await runningOf(context).catch(() => null)
  const publicUrl = running ? running.public_url : own.publicUrl
  const production = running ? running.mode === 'production' : own.production
  if (!publicUrl) return production ? fail('not set', 'export SVC_PUBLIC_URL=https://…') : skip('not set')
  const url = publicUrl.replace(/\/$/, '')
  const signal = AbortSignal.timeout(5_000)
  const answer = await send({ kind: 'url', url }, '/api/v1/health', { redirect: 'manual', signal }).catch(
    (error: Error) => error,
  )
  if (answer instanceof Error) return fail(`${url} does not answer: ${answer.message}`)
  const location = answer.headers.get('location')
  if (location) {
    const right = new URL(location, url).origin
    return fail(
      `${url} answers ${answer.status} to ${right}; most clients drop the Authorization header on it`,
      `set SVC_PUBLIC_URL=${right}`,
    )
  }
  if (!url.startsWith('https://')) return warn(`${url} is not HTTPS`)
  return ok(`${url} answers ${answer.status}`)
})

/** Modes that need no model, because the server itself makes their output. */
const MADE_HERE = new Set(['image', 'video', 'tts'])

export const enginesCheck = serverCheck('engines', async (context) => {
  const { engines } = expectData(await (await context.connect()).ops().engines.get())
  const away = engines.filter(({ state }) => state === 'unreachable')
  // A target that serves several modes is listed once per mode.
  const gone = [...new Set(away.map(({ target, address, problem }) => `${target} at ${address}: ${problem}`))]
  if (gone.length) return fail(gone.join('; '), 'svc-admin engines test')
  const failing = engines.filter(({ state }) => state === 'failing')
  if (failing.length)
    return fail(`${failing.map(({ target }) => target).join(', ')} keeps failing`, 'svc-admin engines test')
  const builtin = engines.filter(({ kind, mode }) => kind === 'builtin' && !MADE_HERE.has(mode)).map(({ mode }) => mode)
  if (builtin.length) {
    const say = (await statusOf(context)).mode === 'production' ? fail : warn
    const fix = 'svc-admin engines add NAME --base-url URL --models MODEL'
    return say(`the built-in engine answers ${builtin.join(', ')}; it is not a language model`, fix)
  }
  // Same status as in GET /models.
  const short = engines.filter(({ status, why }) => status && status !== 'available' && why)
  const named = [...new Map(short.map(({ mode, status, why }) => [mode, `${mode} is ${status}: ${why}`])).values()]
  return named.length ? warn(named.join('; '), 'svc-admin engines list') : ok('every mode has an engine')
})

/** As in src/cluster. */
const CLOCK_OFF_MS = 5_000

/** Checks that each required role has a process, that clocks agree, and that processes read each other's files. */
export const jobsCheck = serverCheck('jobs', async (context) => {
  const { nodes, pid } = await statusOf(context)
  const { count, unserved, scattered_files, clock_ahead_ms } = nodes
  if (unserved.length)
    return fail(`no process has the role ${unserved.join(', ')}`, `svc-admin serve --roles ${unserved}`)
  if (Math.abs(clock_ahead_ms) > CLOCK_OFF_MS)
    return warn(
      `the clock of this node is ${Math.round(Math.abs(clock_ahead_ms) / 1_000)} s ${clock_ahead_ms > 0 ? 'ahead of' : 'behind'} the database`,
      'synchronize the clock of this machine: timedatectl set-ntp true, or chrony',
    )
  if (scattered_files)
    return warn(
      'several nodes run, but one stores files in its own folder',
      'set SVC_FILES_DIR to one folder on all nodes, or SVC_FILES_S3_BUCKET',
    )
  return pid === process.pid
    ? skip('no server runs')
    : ok(count > 1 ? `${count} nodes cover all roles` : 'one process covers all roles')
})

const OF_AUDIT: ReadonlySet<string> = new Set(['audit chain', 'audit checkpoints'])

export const ledgerCheck = serverCheck('ledger', (context) => verified(context, (check) => !OF_AUDIT.has(check)))

export const auditCheck = serverCheck('audit chain', (context) => verified(context, (check) => OF_AUDIT.has(check)))

async function verified(context: Context, wanted: (check: string) => boolean) {
  const broken = (await verificationOf(context)).checks
    .filter(({ check }) => wanted(check))
    .flatMap(({ check, violations }) => violations.map((one) => `${check}: ${one}`))
  return broken.length ? fail(`${broken.length} broken: ${broken[0]}`, 'svc-admin verify') : ok('holds')
}

/** Checks whether production still accepts the key that dev mode created and left in a file of the data folder. */
export const devKeyCheck = serverCheck('dev key', async (context) => {
  if ((await statusOf(context)).mode !== 'production') return skip('for production')
  const keys = await everyKey((await context.connect()).ops(), { live: true, user: DEV_OWNER }).catch(noneOf)
  const key = keys.find(({ name }) => name === DEV_KEY)
  if (!key) return ok('the key of a first start in dev mode does not work')
  return warn(
    `the key "${DEV_KEY}" of a first start in dev mode still works`,
    `svc-admin keys revoke ${key.id} --reason production`,
  )
})

/** The owner does not exist, so there was no first run in dev mode. */
function noneOf(error: { code?: string }): [] {
  if (error.code === 'not_found') return []
  throw error
}

/** Requests once per run and shares the answer between checks. */
const once = <T>(ask: (context: Context) => Promise<T>) => {
  const request = new WeakMap<Context, Promise<T>>()
  return (context: Context): Promise<T> => {
    const answer = request.get(context) ?? ask(context)
    request.set(context, answer)
    return answer
  }
}

const statusOf = once(async (context) => expectData(await (await context.connect()).ops().status.get()))
/** The server of this data folder, perhaps started with other settings than this shell's. Null without one. */
export async function runningOf(context: Context): Promise<Status | null> {
  if (!existsSync(join(context.config().dataDir, 'ops.sock'))) return null
  // Checks that need the server report why it cannot be reached.
  const connection = await context.connect().catch(() => null)
  return connection?.transport.kind === 'socket' ? await statusOf(context) : null
}

const verificationOf = once(async (context) => expectData(await (await context.connect()).ops().verify.post()))
