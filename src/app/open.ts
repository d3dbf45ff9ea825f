import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { FAR_OFF_MS, OFF_MS } from '../cluster'
import { createConnections } from '../http/connections'
import { createMetrics, type Metrics } from '../http/metrics'
import { type Clock, correctedClock, systemClock } from '../kernel/clock'
import { ConfigError } from '../kernel/config'
import { randomBase62 } from '../kernel/crypto'
import { shuttingDown } from '../kernel/errors'
import { armFailpoint } from '../kernel/failpoint'
import { createLog, errorFields, type Log } from '../kernel/log'
import {
  type DatabaseLocation,
  inTurn,
  migrate,
  openPostgres,
  openSqlite,
  removedAfter,
  type Schema,
  type Store,
  schemaOf,
} from '../kernel/store'
import { sweepUnfinished } from '../operators'
import { type Config, type ConfigOverrides, loadConfig, originOf } from './config'
import { buildContainer } from './container'
import { type DataLock, lockDataDir } from './lock'
import { createOps } from './ops'
import { claimPrivate, makePrivate } from './private-file'
import { assertMayServe, assertProductionReady, unmappedModes } from './production'
import { connectRedis } from './redis'
import { secretsFor } from './secrets'
import { createServer, isTrustedProxy } from './server'
import { assertAlone } from './single-server'
import { namedForOperators } from './start-errors'
import { openTelemetry } from './telemetry'

/** Smallest clock difference to correct. Correcting less would make the clock jump with every measurement. */
const SLACK_MS = 100

let isWatched = false

export { loadSecrets } from './secrets'

export type OpenOptions = {
  config: Config
  clock?: Clock
  log?: Log
  /** False inside a command, which may inspect and repair data that a server refuses to start with. */
  serving?: boolean
  /** Creates new secrets for a database whose own secrets are lost. */
  newSecrets?: boolean
}

export type OpenApp = Awaited<ReturnType<typeof openApp>>

/** What opening found and created. The banner shows it at start (docs/operating.md 4.1). */
type Findings = {
  newSecrets: boolean
  newDatabase: boolean
  migrations: number
  databaseMs: number
  released: number
}

/**
 * Opens everything but the ports: data folder, lock, secrets, database, modules, both APIs. The CLI uses it directly
 * when no server runs (docs/operating.md 2.2).
 * @throws ConfigError with every problem that stops a start
 */
export async function openApp(options: OpenOptions) {
  const { config, log = defaultLog(config), serving = true, newSecrets = false } = options
  const { onClock, clock } = { ...databaseClock(log), ...(options.clock && { clock: options.clock }) }
  // Checked before anything is created, so that a rejected start changes nothing.
  if (serving) assertMayServe(config, { clock, log })
  let lock: DataLock | null = null
  try {
    mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
    lock = lockDataDir(config.dataDir)
    const held = lock
    return await inTurn(databaseLocationOf(config), async () => {
      const app = await openLocked({ config, clock, log, newSecrets, serving, onClock }, held)
      try {
        if (serving) await app.container.skills.openStarters()
      } catch (error) {
        lock = null
        await app.close().catch(() => undefined)
        throw error
      }
      return app
    })
  } catch (error) {
    lock?.release()
    throw namedForOperators(error, config.dataDir)
  }
}

type Options = Required<OpenOptions> & { onClock(aheadMs: number): void }

async function openLocked(options: Options, lock: DataLock) {
  const { config, clock, log } = options
  if (!config.production) armFailpoint(config.failpoint)
  const [leaving, stopping] = [new AbortController(), new AbortController()]
  let url: string | null = null
  const apiUrl = () => url
  const modules = await openModules(options, lock.home, { leaving: leaving.signal, stopping: stopping.signal, apiUrl })
  await sweepUnfinished(config.dataDir)
  const { location, store, metrics, redis, container, findings } = modules
  const connections = createConnections({
    clock,
    log,
    limits: { perAddress: config.connectionsPerAddress, total: config.connections },
    isProxy: isTrustedProxy(config),
  })
  const api = createServer({
    ...{ config, container, metrics, connections, leaving: leaving.signal },
    browserOps: () => operatorApis.browserOps,
  })
  const operatorApis = createOps({
    config,
    container,
    metrics,
    redis,
    location,
    stopping: stopping.signal,
    apiUrl,
  })

  return {
    config,
    api,
    get ops() {
      return operatorApis.ops
    },
    remoteOps: operatorApis.remoteOps,
    container,
    store,
    metrics,
    log,
    clock,
    connections,
    findings,
    /** Sets the address that the operator API reports as the API's. */
    listensAt: (address: string) => {
      url = address
    },
    /** From now on, `GET /health` reports that this server is stopping. */
    leave: () => leaving.abort(),
    /** Ends the streams that are still open with the error `service_unavailable`. */
    stopStreams: () => stopping.abort(shuttingDown()),
    async close(): Promise<void> {
      await container.browser.close()
      redis?.close()
      await modules.telemetry?.close()
      // If the database is unreachable, other nodes wait for the lease to expire.
      await container.nodes.leave().catch(() => undefined)
      await store.close()
      lock.release()
    },
  }
}

/** Opens secrets, database and modules, and settles the unfinished work of an earlier run. */
async function openModules(
  { config, clock, log, newSecrets, serving, onClock }: Options,
  home: string,
  { leaving, stopping, apiUrl }: { leaving: AbortSignal; stopping: AbortSignal; apiUrl: () => string | null },
) {
  const location = databaseLocationOf(config)
  const startedAt = clock.monotonic()
  claimDatabase(location)
  const schema = await prepareSchema(location, config, home)
  const metrics = createMetrics()
  const store = openStore(location, log, metrics)
  const secrets = await secretsFor(store, { config, home, newSecrets, serving }).catch(closing(store))
  const redis = connectRedis(config.redisUrl, {
    clock,
    onChange: (problem) =>
      problem ? log.warn({ problem }, 'Redis is unavailable: other nodes count the limits') : log.info('Redis is back'),
  })
  const telemetry = serving ? await openTelemetry(config, log) : null
  const container = buildContainer({
    config,
    store,
    clock,
    onClock,
    log,
    auditKey: secrets.auditKey,
    masterKey: secrets.masterKey,
    origin: () => originOf(config, apiUrl()),
    node: randomBase62(12),
    home,
    serving,
    redis,
    leaving,
    stopping,
    observeEngine: (engine, outcome) => metrics.engineCalls.add(1, engine, outcome),
    observeCall: (entry) => {
      metrics.calls(entry)
      telemetry?.call(entry)
    },
    telemetry,
  })
  const ready = async () => {
    await container.engineRegistry.refresh()
    if (serving) assertProductionReady(config, unmappedModes(container.engines))
    await container.nodes.join()
    if (serving && container.nodes.hasScatteredFiles())
      log.warn(
        {},
        'the nodes store files in different folders: set SVC_FILES_DIR to a folder that all share, or use a bucket',
      )
    const released = await container.billing.releaseAbandoned()
    while (await container.billing.expiringGrants.expireDue());
    return released
  }
  const released = await ready().catch(async (error) => {
    redis?.close()
    await telemetry?.close()
    return closing(store)(error)
  })
  const findings: Findings = {
    newSecrets: secrets.isNew,
    newDatabase: schema.applied === 0,
    migrations: schema.known,
    databaseMs: clock.monotonic() - startedAt,
    released,
  }
  return { location, store, metrics, redis, container, findings, telemetry }
}

/**
 * Creates the database file for its owner only, or removes other users' access, for example after a copy. SQLite gives
 * the -wal and -shm files the same mode. Throws ConfigError if the file belongs to someone else.
 */
export function claimDatabase(location: DatabaseLocation): void {
  if (location.dialect !== 'sqlite') return
  claimPrivate(location.path)
  makePrivate(location.path, `${location.path}-wal`, `${location.path}-shm`)
}

const closing =
  (store: Store) =>
  async (error: unknown): Promise<never> => {
    await store.close()
    throw error
  }

export const databaseLocationOf = (config: Config): DatabaseLocation =>
  config.databaseUrl
    ? { dialect: 'postgres', url: config.databaseUrl }
    : { dialect: 'sqlite', path: join(config.dataDir, 'svc.db') }

/** Opens the store. After a disk failure during a commit the process ends, and recovers at the next start. */
function openStore(location: DatabaseLocation, log: Log, metrics: Metrics): Store {
  if (location.dialect === 'postgres') return openPostgres({ url: location.url })
  return openSqlite({
    path: location.path,
    onBatch: (units) => metrics.storeBatches.add(units),
    onDiskFailure: (error) => {
      log.error(errorFields(error), 'the disk failed under a commit; stopping')
      process.exit(1)
    },
  })
}

/** Opens the app inside a command: the same modules and rules, no port, and only warnings (docs/operating.md 2.2). */
export const open = (overrides: ConfigOverrides = {}): Promise<OpenApp> => {
  const write = (line: string) => void process.stderr.write(line)
  const log = createLog({ level: 'warn', pretty: true, write })
  return openApp({ config: loadConfig(overrides), log, serving: false })
}

/**
 * Standard output for a log. Drops a line that cannot be written, for example on a full disk, and the server continues.
 * When writing works again, calls `onTaken` with the number of lost lines.
 */
function createOutput(onTaken: (lost: number) => void): (line: string) => void {
  let [lost, lines, waiting] = [0, 0, '']
  // Without a listener, each failed write is an uncaught error, and logging that error fails again.
  if (!isWatched) for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  isWatched = true
  process.once('exit', flush)
  return (line) => {
    // Lines written in the same turn of the event loop go out together.
    if (lines === 0) setImmediate(flush)
    lines += 1
    waiting += line
  }

  function flush(): void {
    const [text, count] = [waiting, lines]
    ;[waiting, lines] = ['', 0]
    if (count === 0) return
    process.stdout.write(text, (error) => {
      if (error) lost += count
      if (error || lost === 0) return
      const missing = lost
      lost = 0
      onTaken(missing)
    })
  }
}

/** The log of a server, on standard output. `auto` writes readable lines on a terminal and JSON elsewhere. */
function defaultLog({ logFormat, logLevel }: Config): Log {
  const pretty = logFormat === 'auto' ? process.stdout.isTTY === true : logFormat === 'pretty'
  const write = createOutput((lost) => log.warn({ lost }, 'log lines were lost'))
  const log = createLog({ level: logLevel, pretty, write })
  return log
}

/**
 * The clock of the database, as far as it is known. All nodes use it, because they share leases, due times and
 * expiries. `onClock` gets the time by which this machine's clock is ahead, and logs a large difference.
 */
function databaseClock(log: Log): { clock: Clock; onClock(aheadMs: number): void } {
  const clock = correctedClock(systemClock)
  let corrected = 0
  let text = ''
  return {
    clock,
    onClock(aheadMs) {
      if (Math.abs(aheadMs - corrected) > SLACK_MS) {
        corrected = aheadMs
        clock.correct(-aheadMs)
      }
      const off = Math.abs(aheadMs)
      const state = off > FAR_OFF_MS ? 'takes no work' : off > OFF_MS ? 'uses the clock of the database' : ''
      if (state === text) return
      text = state
      const fact = { clock_ahead_ms: aheadMs }
      if (state)
        log.warn(
          fact,
          `the clock of this machine differs from that of the database: this process ${state}. Synchronize the clock`,
        )
      else log.info(fact, 'the clock of this machine is correct again')
    },
  }
}

/**
 * Brings the schema up to date, unless the settings forbid it. Works while nodes of the previous release serve, so that
 * nodes can be replaced one by one, unless it removes what they use.
 * @throws ConfigError for a database of another release, or while such nodes serve
 */
async function prepareSchema(location: DatabaseLocation, config: Config, home: string): Promise<Schema> {
  const schema = await schemaOf(location)
  assertOurs(schema, config)
  if (schema.applied === schema.known || config.migrate === 'off') return schema
  if (config.migrate === 'check') {
    throw new ConfigError([`The database lacks ${schema.known - schema.applied} migrations. Run: svc-admin migrate up`])
  }
  const removed = schema.applied > 0 ? removedAfter(schema.applied) : []
  if (removed.length) await assertAlone(location, home, ` This release removes what they use: ${removed.join(', ')}.`)
  await migrate(location)
  return schema
}

/** @throws ConfigError for a database of a newer release, of another development version, or of an unfinished copy */
export function assertOurs(
  { applied, known, strange, unfinished }: Schema,
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
): void {
  if (unfinished) {
    throw new ConfigError([
      `A copy into the database (${databaseUrl ? 'SVC_DATABASE_URL' : join(dataDir, 'svc.db')}) did not finish, so the data is incomplete. Run svc-admin migrate copy again from the source database; it starts over.`,
    ])
  }
  if (applied > known) {
    throw new ConfigError([
      `The database has ${applied} migrations, but this release has only ${known}. Start the newer release. Nothing was changed.`,
    ])
  }
  if (strange) {
    const place = databaseUrl ? 'SVC_DATABASE_URL' : join(dataDir, 'svc.db')
    const elsewhere = `another ${databaseUrl ? 'database' : 'SVC_DATA_DIR'}`
    throw new ConfigError([
      `The database (${place}) was made by another development version of svc, and its tables are not this one's. Start the version that made it, or begin anew with ${elsewhere}; nothing was changed.`,
    ])
  }
}
