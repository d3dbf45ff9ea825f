import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('./process-main.ts', import.meta.url))

/** A process that runs a worker's script, one task at a time. */
export type WorkerProcess = {
  /** The message is copied, so send only plain values and bytes. */
  send(message: unknown): void
  onMessage(message: unknown): void
  /**
   * Called when the process ends, and for a message to a process that has ended. `isKilled` if the system killed it, as
   * when memory runs out.
   */
  onEnd(how: { isKilled: boolean }): void
  /** Resident bytes now. 0 on systems without `/proc`. */
  memory(): number
  /** Ends the process at once, whatever it is doing. */
  kill(): void
}

/**
 * Starts a process for a worker's script. A terminated thread inside a regular expression, WebAssembly or native code
 * continues until it returns, perhaps forever, and keeps its memory. A process ends at once and returns all of it. The
 * process has an empty environment, ends with the server even while it computes, and does not keep the server from
 * ending.
 */
export function openProcess(script: URL): WorkerProcess {
  const child = Bun.spawn([process.execPath, '--no-env-file', '--no-orphans', MAIN, script.href], {
    env: {},
    stdio: ['ignore', 'ignore', 'ignore'],
    serialization: 'advanced',
    ipc: (message) => opened.onMessage(message),
    onExit: end,
  })
  function end(): void {
    opened.onEnd({ isKilled: child.signalCode === 'SIGKILL' })
  }
  child.unref()
  const opened: WorkerProcess = {
    onMessage: () => {},
    onEnd: () => {},
    send: (message) => {
      if (child.killed || child.exitCode !== null) end()
      else child.send(message)
    },
    memory: () => residentBytes(child.pid),
    kill: () => child.kill('SIGKILL'),
  }
  return opened
}

function residentBytes(pid: number): number {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? []
    return Number(kilobytes ?? 0) * 1024
  } catch {
    return 0
  }
}
