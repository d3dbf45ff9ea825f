import { totalmem } from 'node:os'
import { createSemaphore } from './semaphore'
import { openProcess, type WorkerProcess } from './worker-process'

/** A process whose memory is monitored. */
type Watched = {
  /** Resident bytes now. */
  memory(): number
  /** Its memory limit, in bytes. */
  max: number
  isIdle: boolean
  /** Ends the process, and fails its running task. */
  end(): void
}

const WATCH_MS = 50

const MB = 1024 ** 2

/** Shares of the server's memory: for one process, and for all of them together. */
const SHARE = { one: 1 / 4, all: 1 / 2 }

/** Memory limit of a process on the smallest machine. */
const MIN_BYTES = 256 * MB

const watched = new Set<Watched>()

let timerWorkerMemory: ReturnType<typeof setInterval> | undefined

/** Bytes that this server may use: the memory of the machine, or of its container. */
const memoryLimit = (): number => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)

/** The memory limit of a process that requests `wanted` bytes, on a machine or in a container of `limit` bytes. */
export const allowedBytes = (wanted: number, limit = memoryLimit()): number =>
  Math.min(wanted, Math.max(MIN_BYTES, limit * SHARE.one))

/** Message of a worker's script for each finished task. */
export type WorkerReply<Answer> = { ok: true; answer: Answer } | { ok: false; problem: string }

/** Progress message of a worker's script while a task runs. */
export type WorkerProgress = { percent: number }

/** Message of a worker's script once it is loaded. The timeout of its first task starts then. */
export const LOADED = 'loaded'

type Message<Answer> = WorkerReply<Answer> | WorkerProgress | typeof LOADED

/** To call at the end of a worker's script. Answers each task with the result of `work`, or with its error. */
export function answerTasks<Task>(work: (task: Task) => unknown): void {
  const worker = self as unknown as Worker
  worker.onmessage = async ({ data }: MessageEvent<Task>) => {
    let reply: WorkerReply<unknown>
    try {
      reply = { ok: true, answer: await work(data) }
    } catch (error) {
      reply = { ok: false, problem: String(error instanceof Error ? error.stack : error) }
    }
    worker.postMessage(reply)
  }
  worker.postMessage(LOADED)
}

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

type Options = {
  /** The script. A process starts with it when a task arrives and none is idle. */
  script: URL
  /** The maximum number of processes. Further tasks wait. */
  max: number
  /** Processes that one owner may use at the same time. Default: `max`. */
  each?: number
  /** How long an idle process is kept. */
  idleMs: number
  /**
   * Memory limit of a process, in bytes. It takes 60 MB to begin with. On a smaller machine or container, a quarter of
   * the memory, but at least 256 MB. Default: 512 MB.
   */
  memoryBytes?: number
}

type TaskLimits = {
  /** Excludes the time that a new process takes to load its script. */
  timeoutMs: number
  signal: AbortSignal
  /** The owner of the task. Owners with fewer running tasks are served first. Absent: one common owner. */
  who?: string
  /** Called with the percentage done, if the script reports it. */
  notify?(percent: number): void
}

/** One process of a pool. */
type Member = Watched & {
  worker: WorkerProcess
  /** Fails its running task. */
  fail(reason: WorkerFailure): void
  /** Ends the process after a long idle time. */
  timer?: ReturnType<typeof setTimeout>
}

/** A slow start is no reason to fail a task: on a very busy machine a process takes seconds to load. */
const LOADING_MS = 20_000
const DEFAULT_BYTES = 512 * 1024 ** 2

export type WorkerPool<Task, Answer> = {
  /** Throws {@link WorkerFailure}, or the signal's reason. */
  run(task: Task, limits: TaskLimits): Promise<Answer>
}

/**
 * Runs tasks in processes, for work on callers' data that would block the event loop (docs/promises.md I28) or might
 * never end. A task that exceeds its time or memory is ended with its process. A process runs one task at a time. It is
 * reused for the next unless it has grown to more than half of its limit.
 */
export function createWorkerPool<Task, Answer>(options: Options): WorkerPool<Task, Answer> {
  const { script, max, each = max, idleMs, memoryBytes = DEFAULT_BYTES } = options
  const bytes = allowedBytes(memoryBytes)
  const free: Member[] = []
  const semaphore = createSemaphore(max, each)

  return {
    run: (task, { who = '', signal, ...limits }) => {
      const run = async () => {
        signal.throwIfAborted()
        const idle = free.pop()
        return await ask(idle ?? open(), task, { ...limits, signal, loadingMs: idle ? 0 : LOADING_MS })
      }
      return semaphore.run(who, run, signal)
    },
  }

  function open(): Member {
    const worker = openProcess(script)
    const stop = (kind: WorkerFailure['kind'], why: string) =>
      member.isIdle ? leave(member) : member.fail(new WorkerFailure(kind, why))
    const member: Member = {
      worker,
      max: bytes,
      isIdle: false,
      memory: worker.memory,
      fail: () => {},
      end: () => stop('memory', `used more than its maximum of ${bytes} bytes of memory`),
    }
    worker.onEnd = ({ isKilled }) => stop(isKilled ? 'memory' : 'failed', 'its process ended')
    return member
  }

  async function ask(member: Member, task: Task, limits: TaskLimits & { loadingMs: number }): Promise<Answer> {
    const { timeoutMs, loadingMs, signal, notify } = limits
    const { worker } = member
    const { promise, resolve, reject } = Promise.withResolvers<WorkerReply<Answer>>()
    const endAfter = (ms: number) => setTimeout(() => reject(new WorkerFailure('timeout', `no answer in ${ms} ms`)), ms)
    let timer = endAfter(loadingMs + timeoutMs)
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    worker.onMessage = (message) => {
      const data = message as Message<Answer>
      if (data === LOADED) {
        clearTimeout(timer)
        timer = endAfter(timeoutMs)
      } else if ('percent' in data) notify?.(data.percent)
      else resolve(data)
    }
    member.fail = reject
    member.isIdle = false
    clearTimeout(member.timer)
    // Monitors a process until {@link unwatch}. Ends it when it takes too much memory, or when all processes together
    // do.
    watched.add(member)
    timerWorkerMemory ??= setInterval(look, WATCH_MS)
    timerWorkerMemory.unref()
    worker.send(task)
    try {
      const reply = await promise
      keep(member)
      if (!reply.ok) throw new WorkerFailure('failed', reply.problem)
      return reply.answer
    } catch (error) {
      if (!member.isIdle) leave(member)
      throw error
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  }

  function keep(member: Member): void {
    if (member.memory() > bytes / 2) {
      leave(member)
      return
    }
    member.isIdle = true
    free.push(member)
    member.timer = setTimeout(leave, idleMs, member)
    member.timer.unref()
  }

  function leave(member: Member): void {
    const at = free.indexOf(member)
    if (at >= 0) free.splice(at, 1)
    clearTimeout(member.timer)
    watched.delete(member)
    member.worker.kill()
  }
}

/** Ends processes above their own limit, then the largest ones until the rest fit. Idle ones go first. */
function look(): void {
  const sizes = [...watched].map((one) => ({ one, bytes: one.memory() }))
  let left = memoryLimit() * SHARE.all
  const byWorth = sizes.sort((a, b) => Number(a.one.isIdle) - Number(b.one.isIdle) || a.bytes - b.bytes)
  for (const { one, bytes } of byWorth) {
    if (bytes > one.max || bytes > left) one.end()
    else left -= bytes
  }
  if ([...watched].every(({ isIdle }) => isIdle)) {
    clearInterval(timerWorkerMemory)
    timerWorkerMemory = undefined
  }
}
