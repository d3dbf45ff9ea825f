import { createSemaphore } from './semaphore'

/** What a helper's script posts back for each order. */
export type HelperAnswer<Answer> = { ok: true; answer: Answer } | { ok: false; problem: string }

/** Why a helper gave no answer: it was too slow or took too much memory and was ended, or its script failed. */
export class HelperFailure extends Error {
  override name = 'HelperFailure'
  constructor(
    readonly kind: 'timeout' | 'memory' | 'failed',
    message: string,
  ) {
    super(message)
  }
}

type Options = {
  /** Starts the script; called when there is work and nobody free. */
  open(): Worker
  /** Threads at most; further orders wait. */
  most: number
  /** Threads that one owner may have at the same time; as many as there are, where it is not said. */
  each?: number
  /** A free thread is kept this long. */
  idleMs: number
  /**
   * Bytes by which the process may grow while an order is at work. Threads share its memory and have no limit
   * of their own, so a stranger's file that unfolds to gigabytes would take all of it.
   */
  growthBytes?: number
}

type About = {
  timeoutMs: number
  signal: AbortSignal
  /** Whose order it is: who has none at work is served before who has. Absent: in turn. */
  who?: string
}

export type Helper<Order, Answer> = {
  /** Throws {@link HelperFailure}, or the signal's reason. */
  do(order: Order, about: About): Promise<Answer>
}

/**
 * Threads beside the event loop, for work that would hold up everyone else (I28) or that may never end: what
 * takes longer than it may is ended with its thread. A thread does one order at a time.
 */
export function createHelper<Order, Answer>({
  open,
  most,
  each = most,
  idleMs,
  growthBytes,
}: Options): Helper<Order, Answer> {
  const free: Worker[] = []
  const semaphore = createSemaphore(most, each)

  return {
    do: (order, { timeoutMs, signal, who = '' }) =>
      semaphore.run(who, async () => {
        signal.throwIfAborted()
        return await ask(free.pop() ?? open(), order, timeoutMs, signal)
      }),
  }

  async function ask(worker: Worker, order: Order, timeoutMs: number, signal: AbortSignal): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<HelperAnswer<Answer>>()
    const timer = setTimeout(() => reject(new HelperFailure('timeout', `no answer in ${timeoutMs} ms`)), timeoutMs)
    const watch = growthBytes === undefined ? null : watchGrowth(growthBytes, reject)
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    worker.onmessage = ({ data }: MessageEvent<HelperAnswer<Answer>>) => resolve(data)
    worker.onerror = ({ message }) => reject(new HelperFailure('failed', message))
    worker.postMessage(order)
    try {
      const reply = await promise
      keep(worker)
      if (!reply.ok) throw new HelperFailure('failed', reply.problem)
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

  function keep(worker: Worker): void {
    // A free thread does not keep the process from ending; the browser's type of a worker lacks the word.
    ;(worker as Worker & { unref(): void }).unref()
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

/** Looks at the whole process: what grows it meanwhile beside the thread may be blamed on it, and costs one answer. */
function watchGrowth(most: number, fail: (reason: HelperFailure) => void) {
  const before = process.memoryUsage.rss()
  const look = () => {
    if (process.memoryUsage.rss() - before > most) fail(new HelperFailure('memory', `grew by more than ${most} bytes`))
  }
  return setInterval(look, WATCH_MS)
}
