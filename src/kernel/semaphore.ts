export type Semaphore = {
  /** Rejects with the signal's reason if it aborts before the turn. */
  run<T>(who: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /**
   * Waits for a slot. With `last`, waits until nobody else waits. Call the returned function once to free the slot.
   * Rejects with the signal's reason.
   */
  enter(who: string, signal?: AbortSignal, last?: boolean): Promise<() => void>
  /** Changes the number of slots. Running work continues. */
  resize(max: number): void
}

type Waiting = { who: string; last: boolean; go: () => void }

/**
 * Runs at most `slots` pieces of work at a time, and at most `each` per owner. The rest wait. The next turn goes to the
 * owner with the fewest running, and among those to the one served longest ago, so that no owner starves the others.
 */
export function createSemaphore(slots: number, each = Number.POSITIVE_INFINITY): Semaphore {
  let max = slots
  const waiting: Waiting[] = []
  const working: string[] = []
  /** The number of the last turn of each owner with work running or waiting. */
  const turns = new Map<string, number>()
  let turn = 0
  const countOf = (who: string): number => working.filter((one) => one === who).length

  return {
    enter,
    resize(next) {
      max = next
      while (letNextIn());
    },
    async run(who, work, signal) {
      const leave = await enter(who, signal)
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }

  async function enter(who: string, signal?: AbortSignal, last = false): Promise<() => void> {
    signal?.throwIfAborted()
    if (working.length < max && countOf(who) < each) begin(who)
    else await turnOf(who, signal, last)
    return () => leave(who)
  }

  function turnOf(who: string, signal: AbortSignal | undefined, last: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const one = {
        who,
        last,
        go() {
          signal?.removeEventListener('abort', giveUp)
          resolve()
        },
      }
      const giveUp = () => {
        waiting.splice(waiting.indexOf(one), 1)
        forget(who)
        reject(signal!.reason)
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      waiting.push(one)
    })
  }

  function leave(who: string): void {
    working.splice(working.indexOf(who), 1)
    letNextIn()
    forget(who)
  }

  function forget(who: string): void {
    if (!working.includes(who) && !waiting.some((one) => one.who === who)) turns.delete(who)
  }

  function begin(who: string): void {
    working.push(who)
    turns.set(who, ++turn)
  }

  function letNextIn(): boolean {
    if (working.length >= max) return false
    let next: Waiting | undefined
    for (const one of waiting) {
      if (countOf(one.who) < each && (!next || goesBefore(one, next))) next = one
    }
    if (!next) return false
    waiting.splice(waiting.indexOf(next), 1)
    begin(next.who)
    next.go()
    return true
  }

  function goesBefore(one: Waiting, other: Waiting): boolean {
    if (one.last !== other.last) return other.last
    const more = countOf(one.who) - countOf(other.who)
    return more === 0 ? (turns.get(one.who) ?? 0) < (turns.get(other.who) ?? 0) : more < 0
  }
}
