import { createSemaphore } from './semaphore'

/** What a worker's script posts back for each task. */
export type WorkerReply<Answer> = { ok: true; answer: Answer } | { ok: false; problem: string }

/** What a worker's script posts once it is loaded: the time of its first task counts from then. */
export const LOADED = 'loaded'

/** Why a worker gave no answer: it exceeded its time or memory and was ended, or its script failed. */
export class WorkerFailure extends Error {
  override name = 'WorkerFailure'
  constructor(
    readonly kind: 'timeout' | 'memory' | 'failed',
    message: string,
  ) {
    super(message)
  }
}

/** What a pool needs of a thread. The DOM type of `Worker` does not know `unref`. */
export type WorkerThread = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'> & { unref?(): void }

type Options = {
  /**
   * Starts a thread with the script, or a process (`openProcess`); called when a task arrives and none is idle. Code
   * of users that may never end needs a process: a thread does not end inside WebAssembly.
   */
  open(): WorkerThread
  /** The largest number of threads; further tasks wait. */
  most: number
  /** Threads that one owner may use at the same time. Default: `most`. */
  each?: number
  /** How long an idle thread is kept. */
  idleMs: number
  /**
   * Bytes by which the process may grow while a task runs. Threads share the memory of the process and have no limit
   * of their own, so an untrusted file that expands to gigabytes would use all of it.
   */
  growthBytes?: number
}

type TaskLimits = {
  /** Without the time that a new thread takes to load its script. */
  timeoutMs: number
  signal: AbortSignal
  /** The owner of the task; owners with fewer running tasks are served first. Absent: one common owner. */
  who?: string
}

type Wait = { timeoutMs: number; loadingMs: number; signal: AbortSignal }

/** On a machine so busy that a thread takes seconds to load, what it was opened for is no reason to refuse. */
const LOADING_MS = 20_000

export type WorkerPool<Task, Answer> = {
  /** Throws {@link WorkerFailure}, or the signal's reason. */
  run(task: Task, limits: TaskLimits): Promise<Answer>
}

/**
 * Runs tasks on worker threads, for work that would block the event loop (I28) or might never end: a task that
 * exceeds its limits is ended by terminating its thread. A thread runs one task at a time.
 */
export function createWorkerPool<Task, Answer>({
  open,
  most,
  each = most,
  idleMs,
  growthBytes,
}: Options): WorkerPool<Task, Answer> {
  const free: WorkerThread[] = []
  const semaphore = createSemaphore(most, each)

  return {
    run: (task, { timeoutMs, signal, who = '' }) => {
      const run = async () => {
        signal.throwIfAborted()
        const idle = free.pop()
        return await ask(idle ?? open(), task, { timeoutMs, loadingMs: idle ? 0 : LOADING_MS, signal })
      }
      return semaphore.run(who, run, signal)
    },
  }

  async function ask(worker: WorkerThread, task: Task, { timeoutMs, loadingMs, signal }: Wait): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<WorkerReply<Answer>>()
    const endAfter = (ms: number) => setTimeout(() => reject(new WorkerFailure('timeout', `no answer in ${ms} ms`)), ms)
    let timer = endAfter(loadingMs + timeoutMs)
    const watch = growthBytes === undefined ? null : watchGrowth(growthBytes, reject)
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    worker.onmessage = ({ data }: MessageEvent<WorkerReply<Answer> | typeof LOADED>) => {
      if (data !== LOADED) return resolve(data)
      clearTimeout(timer)
      timer = endAfter(timeoutMs)
    }
    worker.onerror = ({ message }) => reject(new WorkerFailure('failed', message))
    worker.postMessage(task)
    try {
      const reply = await promise
      keep(worker)
      if (!reply.ok) throw new WorkerFailure('failed', reply.problem)
      return reply.answer
    } catch (error) {
      if (!free.includes(worker)) worker.terminate()
      throw error
    } finally {
      clearTimeout(timer)
      if (watch) clearInterval(watch)
      signal.removeEventListener('abort', onAbort)
    }
  }

  function keep(worker: WorkerThread): void {
    // An idle thread must not keep the process alive.
    worker.unref?.()
    free.push(worker)
    const leave = () => {
      const at = free.indexOf(worker)
      if (at < 0) return
      free.splice(at, 1)
      worker.terminate()
    }
    setTimeout(leave, idleMs).unref()
  }
}

const WATCH_MS = 50

/** Measures the whole process, so memory that other work takes may be blamed on this task and fail it. */
function watchGrowth(most: number, fail: (reason: WorkerFailure) => void) {
  const before = process.memoryUsage.rss()
  const look = () => {
    if (process.memoryUsage.rss() - before > most) fail(new WorkerFailure('memory', `grew by more than ${most} bytes`))
  }
  return setInterval(look, WATCH_MS)
}
