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

/** Groups of their own outlive the runner, so what a failed test left running ends with it. */
const running = new Set<number>()
process.on('exit', () => {
  for (const pid of running) process.kill(-pid, 'SIGKILL')
})

/** The environment of a clean machine: nothing of this one's settings reaches the server. */
export const cleanEnv = (more: Record<string, string> = {}): Record<string, string> => {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_') && name !== 'NODE_ENV')
  return { ...(Object.fromEntries(kept) as Record<string, string>), ...more }
}

/**
 * The real server as a process group of its own, answering. Throws with what it printed when it is not
 * healthy within a minute.
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

/** The same without waiting for it to answer, for servers that are to fail. */
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
  const output = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    pid: child.pid,
    exited: child.exited,
    exitCode: () => child.exitCode ?? (child.signalCode ? 128 : null),
    /** All that it printed; resolves when it has ended. */
    output: async () => (await output).join(''),
    /** `kill -9` of the whole group, as an out-of-memory killer or a power cut would. */
    async kill(): Promise<void> {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL')
      await child.exited
    },
    /** SIGTERM; answers the exit code. */
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
