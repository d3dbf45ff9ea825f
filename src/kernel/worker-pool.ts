import { totalmem } from 'node:os'
import { createSemaphore } from './semaphore'
import { openProcess, type WorkerProcess } from './worker-process'

/** A process whose memory is watched. */
type Watched = {
  /** Resident bytes now. */
  memory(): number
  /** Bytes that it may have. */
  max: number
  isIdle: boolean
  /** Ends the process, and fails the task that it runs. */
  end(): void
}

const WATCH_MS = 50

const MB = 1024 ** 2

/** What one process, and what all of them together, may have of the memory of the server. */
const SHARE = { one: 1 / 4, all: 1 / 2 }

/** What a process may have on the smallest machine. */
const MIN_BYTES = 256 * MB

const watched = new Set<Watched>()

let timerWorkerMemory: ReturnType<typeof setInterval> | undefined

/** Bytes that this server may use: those of the machine, or of the container that it runs in. */
const memoryLimit = (): number => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)

/** What a process that would have `wanted` bytes may have on a machine or in a container of `limit` bytes. */
export const allowedBytes = (wanted: number, limit = memoryLimit()): number =>
  Math.min(wanted, Math.max(MIN_BYTES, limit * SHARE.one))

/** What a worker's script posts back for each task. */
export type WorkerReply<Answer> = { ok: true; answer: Answer } | { ok: false; problem: string }

/** What a worker's script may post while a task runs: how much of it is done. */
export type WorkerProgress = { percent: number }

/** What a worker's script posts once it is loaded: the time of its first task counts from then. */
export const LOADED = 'loaded'

type Message<Answer> = WorkerReply<Answer> | WorkerProgress | typeof LOADED

/** For the script of a worker, at its end: answers each task with what `work` returns, or with why it failed. */
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
  /** The script; a process is started with it when a task arrives and none is idle. */
  script: URL
  /** The largest number of processes; further tasks wait. */
  max: number
  /** Processes that one owner may use at the same time. Default: `most`. */
  each?: number
  /** How long an idle process is kept. */
  idleMs: number
  /**
   * Bytes that a process may have, of which it takes 60 MB to begin with. A quarter of the memory of a smaller machine
   * or container, but at least 256 MB. Default: 512 MB.
   */
  memoryBytes?: number
}

type TaskLimits = {
  /** Without the time that a new process takes to load its script. */
  timeoutMs: number
  signal: AbortSignal
  /** The owner of the task; owners with fewer running tasks are served first. Absent: one common owner. */
  who?: string
  /** Told of the percent that is done, where the script tells it. */
  notify?(percent: number): void
}

/** One process of a pool. */
type Member = Watched & {
  worker: WorkerProcess
  /** Fails the task that it runs. */
  fail(reason: WorkerFailure): void
  /** Ends it when it was idle for long. */
  timer?: ReturnType<typeof setTimeout>
}

/** On a machine so busy that a process takes seconds to load, what it was opened for is no reason to refuse. */
const LOADING_MS = 20_000
const DEFAULT_BYTES = 512 * 1024 ** 2

export type WorkerPool<Task, Answer> = {
  /** Throws {@link WorkerFailure}, or the signal's reason. */
  run(task: Task, limits: TaskLimits): Promise<Answer>
}

/**
 * Runs tasks in processes, for work on what callers send that would block the event loop (docs/promises.md I28) or
 * might never end: a task that exceeds its time or memory is ended with its process. A process runs one task at a time
 * and is kept for the next, unless it has grown to more than half of its bound.
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
    // Watches a process until {@link unwatch}: it is ended when it takes too much, or when all together do.
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

/** Ends processes that exceed their own bound, then the largest of all until the rest fit; idle ones go first. */
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
