import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { neededBy } from './effort'
import { freePort } from './free-port'
import { spentBy } from './spent'

export type ServerProcess = Awaited<ReturnType<typeof startServerProcess>>

type Options = {
  dataDir: string
  port?: number
  env?: Record<string, string>
  /** The program and its arguments, instead of `bun src/main.ts`. */
  command?: string[]
  cwd?: string
}

const ROOT = join(import.meta.dir, '../..')
const HEALTHY_WITHIN_MS = 60_000
const POLL_MS = 4

/** Process groups outlive the test runner, so kill whatever a failed test left running. */
const running = new Set<number>()
process.on('exit', () => {
  for (const pid of running) process.kill(-pid, 'SIGKILL')
})

/** The environment without NODE_ENV and this machine's SVC_ settings. */
export const cleanEnv = (more: Record<string, string> = {}): Record<string, string> => {
  const remaining = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_') && name !== 'NODE_ENV')
  return { ...(Object.fromEntries(remaining) as Record<string, string>), ...more }
}

/**
 * Starts the real server in a process group of its own and waits until it is healthy. Throws with its output when it is
 * not healthy within a minute.
 */
export async function startServerProcess(options: Options) {
  const [startedAt, queuedBefore] = [performance.now(), spentBy('thread-self').queuedMs]
  const server = await spawnServer(options)
  const deadline = startedAt + HEALTHY_WITHIN_MS
  while (!(await isHealthy(server.url))) {
    if (server.exitCode() !== null || performance.now() > deadline) {
      await server.kill()
      throw new Error(`the server did not become healthy (exit ${server.exitCode()}):\n${await server.output()}`)
    }
    await Bun.sleep(POLL_MS)
  }
  return { ...server, bootMs: neededBy(server.pid, performance.now() - startedAt, queuedBefore) }
}

/** The same without waiting, for servers that are expected to fail. */
export async function spawnServer({ dataDir, env = {}, command, cwd = ROOT, ...options }: Options) {
  const port = options.port ?? (await freePort())
  const child = Bun.spawn(command ?? [process.execPath, 'src/main.ts'], {
    cwd,
    detached: true,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: cleanEnv({ SVC_DATA_DIR: dataDir, SVC_PORT: String(port), SVC_LOG_LEVEL: 'warn', ...env }),
  })
  running.add(child.pid)
  void child.exited.then(() => running.delete(child.pid))
  const heard = { out: '', err: '' }
  const collect = async (stream: ReadableStream<Uint8Array>, name: keyof typeof heard) => {
    const decoder = new TextDecoder()
    for await (const piece of stream) heard[name] += decoder.decode(piece, { stream: true })
  }
  const ended = Promise.all([collect(child.stdout, 'out'), collect(child.stderr, 'err')])
  const printed = () => heard.out + heard.err
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    pid: child.pid,
    exited: child.exited,
    exitCode: () => child.exitCode ?? (child.signalCode ? 128 : null),
    /** Everything it printed; resolves when it has exited. */
    output: async () => {
      await ended
      return printed()
    },
    /** What it has printed so far. */
    printed,
    /** `kill -9` of the whole group, like an out-of-memory kill or a power cut. */
    async kill(): Promise<void> {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL')
      await child.exited
    },
    /** Sends SIGTERM and returns the exit code. */
    async stop(): Promise<number> {
      child.kill('SIGTERM')
      return child.exited
    },
  }
}

export const devKeyOf = (dataDir: string): string => readFileSync(join(dataDir, 'dev-key'), 'utf8').trim()

async function isHealthy(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/api/v1/health`)
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}
