import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemClock } from '../kernel/clock'
import { ConfigError } from '../kernel/config'
import { errorFields } from '../kernel/log'
import type { Signals } from '../kernel/signals'
import { banner } from './banner'
import { ROOT } from './bundle'
import { type ConfigOverrides, environmentWith, loadConfig } from './config'
import type { OpenOptions } from './open'
import { firstLink } from './seed'
import { type RunningApp, start } from './start'
import { onceDatabaseAnswers } from './start-errors'
import { asTyped, unknownVariables } from './variables'

/** The stream for messages to people. With JSON logs, stdout carries only JSON lines. */
const outOf = ({ app }: RunningApp) => (app.config.logFormat === 'json' ? process.stderr : process.stdout)

/** Ends the process even if stopping fails. Otherwise it would keep the lock and the next server could not start. */
const end = (running: RunningApp, workers: Workers, hurry: AbortSignal): Promise<never> => {
  const giveUp = () => setTimeout(() => process.exit(1), HURRIED_MS)
  if (hurry.aborted) giveUp()
  else hurry.addEventListener('abort', giveUp, { once: true })
  return Promise.all([workers.stop(hurry), running.stop(hurry)]).then(
    () => {
      if (running.app.config.worker === 0) outOf(running).write('Stopped.\n')
      process.exit(0)
    },
    (error: unknown) => {
      running.app.log.error(errorFields(error), 'the shutdown failed; unfinished work is settled at the next start')
      process.exit(1)
    },
  )
}

const WIDTH = 80
/** Maximum wait for the upstreams' state. Only the start text waits, because the server already serves. */
const REQUESTING_MS = 1_000
/** Maximum wait for a start to finish after a stop signal, for example when its database does not answer. */
const STARTING_MS = 25_000
/** Maximum time from a second signal to the end of the process. */
const HURRIED_MS = 5_000

/**
 * Serves until `stop` aborts, then stops gracefully with exit 0. `hurry` shortens the stop. A stop during the start
 * waits for the start to finish, so that nothing stays half created, and gives up after STARTING_MS. Prints all
 * configuration problems together, exit 1.
 * @public The bundle is entered here, by its path.
 */
export async function serve(
  overrides: ConfigOverrides,
  { stop, hurry, ...more }: Pick<OpenOptions, 'newSecrets'> & Signals,
): Promise<void> {
  const startedAt = performance.now()
  if (stop.aborted) process.exit(0)
  const giveUp = () => setTimeout(() => process.exit(1), STARTING_MS)
  stop.addEventListener('abort', giveUp, { once: true })
  try {
    const config = loadConfig(overrides)
    // The processes of one machine keep their files in one folder.
    const options = {
      config:
        config.workers > 1
          ? {
              ...config,
              filesDir: config.filesDir || config.filesS3Bucket ? config.filesDir : join(config.dataDir, 'files'),
            }
          : config,
      ...more,
    }
    const say = (line: string) => void process.stderr.write(line)
    const running = config.databaseUrl
      ? await onceDatabaseAnswers(() => start(options), { clock: systemClock, stop, say })
      : await start(options)
    if (!running) process.exit(0)
    stop.removeEventListener('abort', giveUp)
    const workers = startWorkers(running, stop.aborted ? 1 : config.workers, overrides)
    if (stop.aborted) return await end(running, workers, hurry)
    // Registered before the banner is printed, because a process that reads the banner may send a signal at once.
    stop.addEventListener('abort', () => void end(running, workers, hurry), { once: true })
    if (config.worker > 0) {
      // The first process writes this worker's log, so the worker ends with it.
      process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
      return
    }
    const out = outOf(running)
    const startedMs = performance.now() - startedAt
    const upstreams = await running.app.container.engines.askUpstreams(REQUESTING_MS)
    const isTty = out.isTTY === true
    const link = isTty && running.seed ? await firstLink(running.app.container) : null
    out.write(
      banner(running, {
        isTty,
        columns: out.columns ?? WIDTH,
        startedMs,
        upstreams,
        link,
        unknown: unknownVariables(),
      }),
    )
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.problems.map((problem) => `error: ${asTyped(problem)}`).join('\n')}\n`)
    process.exit(1)
  }
}

type Workers = { stop(hurry: AbortSignal): Promise<void> }

/** Pauses before an ended worker restarts. Begins with the first again after a worker ran for STEADY_MS. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS, STEADY_MS] = [500, 30_000, 60_000]

/**
 * Starts the other processes of `SVC_WORKERS` on the port of the first, and restarts each that ends. Each is a node
 * with its own folder below the data folder. Workers answer requests. The first process also runs jobs and deliveries.
 */
function startWorkers({ app }: RunningApp, count: number, overrides: ConfigOverrides): Workers {
  const { config, clock, log } = app
  const stopping = new AbortController()
  const children = new Map<number, Bun.Subprocess>()
  const numbers = config.worker > 0 ? [] : Array.from({ length: count - 1 }, (_, at) => at + 1)
  const own = (worker: number, dataDir: string): ConfigOverrides => ({
    worker,
    dataDir,
    production: config.production,
    workers: config.workers,
    port: app.api.server?.port ?? config.port,
    roles: config.roles
      .split(',')
      .filter((role) => role === 'api' || role === 'browser')
      .join(','),
    filesDir: config.filesDir && resolve(config.filesDir),
    logFormat: config.logFormat === 'auto' && process.stdout.isTTY ? 'pretty' : config.logFormat,
  })
  const ends = numbers.map(keep)

  async function keep(worker: number): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; !stopping.signal.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const startedAt = clock.monotonic()
      const child = spawn(worker)
      children.set(worker, child)
      const exit = await child.exited
      if (stopping.signal.aborted) return
      if (clock.monotonic() - startedAt > STEADY_MS) pauseMs = FIRST_PAUSE_MS
      log.error({ worker, exit, pause_ms: pauseMs }, 'a worker ended and is started again')
      await clock.sleep(pauseMs, stopping.signal)
    }
  }

  function spawn(worker: number) {
    const dataDir = join(config.dataDir, 'workers', String(worker))
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    // With a master key, the database holds the secrets.
    const secrets = join(config.dataDir, 'secrets.json')
    if (existsSync(secrets)) copyFileSync(secrets, join(dataDir, 'secrets.json'))
    const child = Bun.spawn([process.execPath, join(ROOT, 'src/main.ts')], {
      env: environmentWith({ ...overrides, ...own(worker, dataDir) }),
      stdio: ['ignore', 'pipe', 'inherit'],
      ipc: () => undefined,
    })
    void passOn(child.stdout)
    return child
  }

  return {
    async stop(hurry) {
      stopping.abort()
      const notify = () => {
        for (const child of children.values()) child.kill('SIGTERM')
      }
      notify()
      hurry.addEventListener('abort', notify, { once: true })
      await Promise.all(ends)
    },
  }
}

/** Writes a worker's output in whole lines, so that lines of two processes do not mix. */
async function passOn(stream: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of stream) {
    const text = rest + decoder.decode(piece, { stream: true })
    const end = text.lastIndexOf('\n') + 1
    rest = text.slice(end)
    process.stdout.write(text.slice(0, end))
  }
}
