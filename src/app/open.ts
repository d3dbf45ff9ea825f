import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createConnections } from '../http/connections'
import { createMetrics, type Metrics } from '../http/metrics'
import type { Clock } from '../kernel/clock'
import { randomBase62 } from '../kernel/crypto'
import { shuttingDown } from '../kernel/errors'
import { armFailpoint } from '../kernel/failpoint'
import { createLog, errorFields, type Log } from '../kernel/log'
import { type DatabaseLocation, inTurn, openPostgres, openSqlite, type Store } from '../kernel/store'
import { sweepUnfinished } from '../operators'
import { isTrustedProxy } from './client-address'
import { type Config, type ConfigOverrides, loadConfig } from './config'
import { buildContainer } from './container'
import { databaseClock } from './database-clock'
import { secretsFor } from './database-secrets'
import { type DataLock, lockDataDir } from './lock'
import { defaultLog } from './log-output'
import { createOps } from './ops'
import { originOf } from './origin'
import { claimPrivate, makePrivate } from './private-file'
import { assertMayServe, assertProductionReady, unmappedModes } from './production'
import { connectRedis } from './redis'
import { prepareSchema } from './schema-at-start'
import { createServer } from './server'
import { namedForOperators } from './start-errors'
import { openTelemetry } from './telemetry'

export { assertOurs } from './schema-at-start'
export { loadSecrets } from './secrets'

export type OpenOptions = {
  config: Config
  clock?: Clock
  log?: Log
  /** False inside a command: a command may inspect and repair what a server refuses to start with. */
  serving?: boolean
  /** Makes new secrets for a database whose own are lost. */
  newSecrets?: boolean
}

export type OpenApp = Awaited<ReturnType<typeof openApp>>

/** What opening found and created, for the banner at start (dx 4.1). */
type Findings = {
  newSecrets: boolean
  newDatabase: boolean
  migrations: number
  databaseMs: number
  released: number
}

/**
 * Opens everything but the ports: data folder, lock, secrets, database, rooms, both APIs. The CLI uses it directly
 * when no server runs (dx 2.2).
 * @throws ConfigError with every problem that stops a start
 */
export async function openApp(options: OpenOptions) {
  const { config, log = defaultLog(config), serving = true, newSecrets = false } = options
  const { onClock, clock } = { ...databaseClock(log), ...(options.clock && { clock: options.clock }) }
  // Checked before anything is created, so that a refused start changes nothing.
  if (serving) assertMayServe(config, { clock, log })
  let lock: DataLock | null = null
  try {
    mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
    lock = lockDataDir(config.dataDir)
    const held = lock
    return await inTurn(databaseLocationOf(config), async () => {
      const app = await openLocked({ config, clock, log, newSecrets, serving, onClock }, held)
      if (serving) await app.container.skills.openStarters()
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
  const rooms = await openRooms(options, lock.home, { leaving: leaving.signal, stopping: stopping.signal, apiUrl })
  await sweepUnfinished(config.dataDir)
  const { location, store, metrics, redis, container, findings } = rooms
  const connections = createConnections({
    clock,
    log,
    limits: { perAddress: config.connectionsPerAddress, total: config.connections },
    isProxy: isTrustedProxy(config),
  })
  const api = createServer({ config, container, metrics, connections, leaving: leaving.signal })
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
    /** Tells the operator API where the API listens. */
    listensAt: (address: string) => {
      url = address
    },
    /** `GET /health` says from now on that this server stops. */
    leave: () => leaving.abort(),
    /** Ends the streams that are still open with the error `service_unavailable`. */
    stopStreams: () => stopping.abort(shuttingDown()),
    async close(): Promise<void> {
      await container.browser.close()
      redis?.close()
      await rooms.telemetry?.close()
      // Without a database others see the end of the lease.
      await container.nodes.leave().catch(() => undefined)
      await store.close()
      lock.release()
    },
  }
}

/** Opens secrets, database and rooms, and settles what an earlier run left unfinished. */
async function openRooms(
  { config, clock, log, newSecrets, serving, onClock }: Options,
  home: string,
  { leaving, stopping, apiUrl }: { leaving: AbortSignal; stopping: AbortSignal; apiUrl: () => string | null },
) {
  const location = databaseLocationOf(config)
  const startedAt = clock.monotonic()
  claimDatabase(location)
  const schema = await prepareSchema(location, config)
  const metrics = createMetrics()
  const store = openStore(location, log, metrics)
  const secrets = await secretsFor(store, { dataDir: config.dataDir, home, newSecrets, serving }).catch(closing(store))
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
  }
  await ready().catch(closing(store))
  await container.nodes.join()
  if (serving && container.nodes.hasScatteredFiles())
    log.warn(
      {},
      'the nodes store files in different folders: set SVC_FILES_DIR to a folder that all share, or use a bucket',
    )
  const released = await container.billing.releaseAbandoned()
  while (await container.billing.expiringGrants.expireDue());
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
 * Creates the database file for its owner only, or takes it from others who could read it, as after a copy. SQLite gives
 * the -wal and -shm files its mode. Throws ConfigError where the file belongs to someone else.
 */
export function claimDatabase(location: DatabaseLocation): void {
  if (location.dialect !== 'sqlite') return
  claimPrivate(location.path)
  makePrivate(location.path, `${location.path}-wal`, `${location.path}-shm`)
}

const closing = (store: Store) => async (error: unknown) => {
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

/** Opens the app inside a command: the same rooms and rules, no port, and only warnings in the log (dx 2.2). */
export const open = (overrides: ConfigOverrides = {}): Promise<OpenApp> => {
  const write = (line: string) => void process.stderr.write(line)
  const log = createLog({ level: 'warn', pretty: true, write })
  return openApp({ config: loadConfig(overrides), log, serving: false })
}
