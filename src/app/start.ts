import { existsSync, lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Server } from 'bun'
import { pathOf } from '../http/context'
import { openSocketTable } from '../http/socket-table'
import { ConfigError } from '../kernel/config'
import { errorFields } from '../kernel/log'
import { isEgressGuarded } from '../kernel/outbound-canary'
import { inUse, portProblem } from '../kernel/port-holder'
import { inTurn } from '../kernel/store'
import type { Config } from './config'
import { assertWorkers, servesApi } from './config'
import { lockDataDir } from './lock'
import { databaseLocationOf, type OpenApp, type OpenOptions, openApp } from './open'
import { assertRemoteAddressFree, listenForRemoteOperators, urlOf } from './remote-operators'
import { hasDevKey, hasKeys, type Seed, seedFirstRun } from './seed'
import { namedForOperators } from './start-errors'

export type RunningApp = {
  /** Where the API listens. Empty if this process lacks the role api. */
  readonly url: string
  readonly socket: string
  /** URL of the operator API for other machines. Null unless configured. */
  readonly opsUrl: string | null
  readonly app: OpenApp
  /** What the first start of a dev data folder created. Null on later starts and in production. */
  readonly seed: Seed | null
  /** True in production when no API key exists yet. Production creates none by itself. */
  readonly keyless: boolean
  /** True in production while the key of a first run in dev mode works. */
  readonly devKey: boolean
  /**
   * Graceful stop. `GET /health` reports it for SVC_DRAIN_S while requests are still served. Then new connections are
   * refused, running requests get at most GRACE_MS, and everything is closed. `hurry` shortens both waits.
   */
  stop(hurry?: AbortSignal): Promise<void>
}

const GRACE_MS = 25_000
/** Streams end with an error this long before the grace period ends, so that the error reaches clients. */
const FAREWELL_MS = 5_000
/** Like FAREWELL_MS, after `hurry` aborted. */
const LAST_WORDS_MS = 500
/** Long enough for two checks of a load balancer that checks every second. */
const PRODUCTION_NOTICE_S = 5

/** Opens the app and listens: the API on its port, the operator API on a socket that only this user can use. */
export async function start(options: OpenOptions): Promise<RunningApp> {
  const { config } = options
  assertWorkers(config)
  // A worker shares the port with the first process. All other addresses belong to the first process.
  const isFirst = config.worker === 0
  if (isFirst) await assertAddressesFree(config)
  const app = await openApp(options)
  let remote: Server<unknown> | null = null
  try {
    // Refuses to serve without the address guard: callers could reach this machine's network (docs/promises.md I24).
    if (!(await isEgressGuarded()))
      throw new ConfigError([
        'The egress guard did not stop a call to this machine. Use the Bun version in package.json.',
      ])
    remote = isFirst ? listenForRemoteOperators(app) : null
    const seed = config.production
      ? null
      : await inTurn(databaseLocationOf(config), () => seedFirstRun(app.container, config.dataDir))
    const keyless = config.production && !(await hasKeys(app.container))
    const devKey = config.production && (await hasDevKey(app.container))
    const server = servesApi(config) ? listen(app) : null
    const socket = join(config.dataDir, 'ops.sock')
    const ops = listenForOperators(app, socket)
    const probes = isFirst ? listenForProbes(app) : null
    const table = server && !config.unix ? openSocketTable(server.port ?? 0) : undefined
    if (table === null) app.log.warn({}, 'this system cannot limit connections: use a proxy that does')
    const unwatch = table ? app.connections.watch(table) : () => undefined
    const loops = app.container.startLoops()
    const url = server
      ? config.unix
        ? config.publicUrl.replace(/\/$/, '') || 'http://localhost'
        : `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${server.port}`
      : ''
    if (url) app.listensAt(url)
    app.container.nodes.describe(() => ({
      address: url || null,
      connections: (server?.pendingRequests ?? 0) + (server?.pendingWebSockets ?? 0),
      jobs: app.container.jobs.running(),
    }))
    watchForBugs(app)
    let stopping: Promise<void> | null = null
    const stop = async (hurry: AbortSignal) => {
      if (server) {
        // Load balancers see that this server will stop, and send requests elsewhere before it does.
        const seconds =
          app.config.drainSeconds === 'auto'
            ? app.config.production
              ? PRODUCTION_NOTICE_S
              : 0
            : app.config.drainSeconds
        app.leave()
        app.log.info({ notice_s: seconds }, 'stopping; a second signal stops at once')
        if (seconds > 0) await app.clock.sleep(seconds * 1_000, hurry)
        await drain(app, server, hurry)
      }
      unwatch()
      await ops.stop(true)
      await probes?.stop(true)
      await remote?.stop(true)
      await Promise.all(loops.map((loop) => loop.stop()))
      rmSync(socket, { force: true })
      if (config.unix) rmSync(config.unix, { force: true })
      await app.close()
    }
    return {
      url,
      socket,
      opsUrl: remote && urlOf(remote),
      app,
      seed,
      keyless,
      devKey,
      stop: (hurry = new AbortController().signal) => {
        stopping ??= stop(hurry)
        return stopping
      },
    }
  } catch (error) {
    await remote?.stop(true)
    // Closing also writes, so it fails too on a full disk. The first error names the cause.
    await app.close().catch(() => undefined)
    throw namedForOperators(error, config.dataDir)
  }
}

function listenForOperators(app: OpenApp, socket: string): Server<unknown> {
  if (existsSync(socket)) rmSync(socket)
  const before = process.umask(0o177)
  try {
    const listening = { unix: socket, fetch: (request: Request) => app.ops.handle(request), development: false }
    // Verifying a large store sends nothing for longer than the default idle timeout of ten seconds. Bun's types do not
    // allow `idleTimeout` on unix sockets, though it works there, and `server.timeout` does not.
    return Bun.serve({ ...listening, idleTimeout: 0 } as typeof listening)
  } finally {
    process.umask(before)
  }
}

/** Serves only `GET /health`, on a port that is not for clients. A node without the role api has no other port. */
function listenForProbes({ container, config }: OpenApp): Server<unknown> | null {
  const { host: hostname, healthPort: port } = config
  if (!port) return null
  const fetch = async (request: Request) => {
    if (!/^(\/api\/v1)?\/health$/.test(pathOf(request.url))) return new Response('Not Found', { status: 404 })
    const state = container.health.draining() ?? (await container.health.check()).health
    return Response.json(state, { status: state.status === 'draining' || state.status === 'down' ? 503 : 200 })
  }
  try {
    return Bun.serve({ port, hostname, fetch, development: false })
  } catch (error) {
    throw new ConfigError([`SVC_HEALTH_PORT: ${hostname}:${port} cannot be used (${(error as Error).message}).`])
  }
}

/** Refuses new connections at once and lets running requests finish (docs/promises.md I32). */
async function drain({ api, clock, stopStreams }: OpenApp, server: Server<unknown>, hurry: AbortSignal): Promise<void> {
  const over = new AbortController()
  const finished = Promise.resolve(api.stop()).then(() => over.abort())
  const enough = AbortSignal.any([over.signal, hurry])
  const cut = async () => {
    await clock.sleep(GRACE_MS - FAREWELL_MS, enough)
    stopStreams()
    await clock.sleep(FAREWELL_MS, enough)
    if (hurry.aborted) await clock.sleep(LAST_WORDS_MS, over.signal)
  }
  await Promise.race([finished, cut()])
  await server.stop(true)
}

/** Logs and counts uncaught errors. They are bugs, but no reason to stop serving (docs/promises.md I43). */
function watchForBugs({ log, metrics }: OpenApp): void {
  const report = (error: unknown) => {
    metrics.faults.add(1)
    log.error(errorFields(error), 'unhandled')
  }
  process.on('unhandledRejection', report)
  process.on('uncaughtException', report)
}

/**
 * Checks every address before a start creates anything. A first start that fails later would leave an account and a key
 * that was never shown.
 * @throws ConfigError
 */
async function assertAddressesFree(config: Config): Promise<void> {
  await assertRemoteAddressFree(config)
  if (!servesApi(config)) return
  if (config.unix) {
    if (existsSync(config.unix) && !lstatSync(config.unix).isSocket())
      throw new ConfigError([`SVC_UNIX: ${config.unix} exists but is not a socket. Choose another path.`])
    return
  }
  const code = await portProblem(config.host, config.port)
  if (!code) return
  // The server of this folder most likely holds the port. Its lock names its process.
  if (existsSync(join(config.dataDir, 'server.lock'))) lockDataDir(config.dataDir).release()
  throw cannotListen(config, code)
}

/** Listens on the port or the socket. @throws ConfigError */
function listen({ api, config }: OpenApp): Server<unknown> {
  if (config.unix) return listenOnSocket(api, config.unix)
  try {
    api.listen({ port: config.port, hostname: config.host })
  } catch (error) {
    throw cannotListen(config, (error as { code?: string }).code)
  }
  return api.server as Server<unknown>
}

function cannotListen({ host, port }: Config, code: string | undefined): ConfigError {
  const next = `Choose another: --port ${port < 1024 ? 8080 : port + 1}, or SVC_PORT.`
  if (code === 'EADDRINUSE') return new ConfigError([`Port ${port} on ${host} ${inUse(port)}. ${next}`])
  if (code === 'EACCES') return new ConfigError([`Port ${port} on ${host} needs rights that this user lacks. ${next}`])
  return new ConfigError([
    `SVC_HOST: ${host} is not an address of this machine. Use 127.0.0.1 for this machine only, or 0.0.0.0 for all networks.`,
  ])
}

/** The socket is open to this user and its group, for example that of a proxy. Its mode decides who reaches the API. */
function listenOnSocket(api: OpenApp['api'], path: string): Server<unknown> {
  rmSync(path, { force: true })
  const before = process.umask(0o117)
  try {
    api.listen({ unix: path } as unknown as Parameters<typeof api.listen>[0])
  } catch (error) {
    throw new ConfigError([`SVC_UNIX: ${path} cannot be used (${(error as Error).message}).`])
  } finally {
    process.umask(before)
  }
  return api.server as Server<unknown>
}
