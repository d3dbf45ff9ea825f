/** Calls of one run, however many turns it takes; a storm of them ends here (contract 22.5). */
export const MAX_CALLS = 64
/** Calls of one run at work at the same time; the rest wait their turn. */
export const MAX_AT_ONCE = 8
/** Characters of results that one run may show its caller, all calls together. */
const MAX_SHOWN_CHARS = 1024 * 1024

export type Tally = ReturnType<typeof createTally>

/** What one run has used of its limits. */
export function createTally() {
  let calls = 0
  let working = 0
  let room = MAX_SHOWN_CHARS
  const waiting: (() => void)[] = []

  /** A free place goes to who waits longest. */
  const leave = (): void => {
    const next = waiting.shift()
    if (next) next()
    else working--
  }

  return {
    /** Counts a call; false when the run has had all of its calls. */
    take: (): boolean => ++calls <= MAX_CALLS,
    refusal: `This answer has used its ${MAX_CALLS} tool calls. Answer now from what is known.`,

    /** Runs when a place is free. Rejects only as `work` does, or when the run ends while it waits. */
    async withTurn<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
      if (working < MAX_AT_ONCE) working++
      else await new Promise<void>((go) => waiting.push(go))
      try {
        signal.throwIfAborted()
        return await work()
      } finally {
        leave()
      }
    },

    room: (): number => room,
    /** Takes a result's size off what may still be shown. */
    show(result: unknown): void {
      room = Math.max(0, room - (JSON.stringify(result)?.length ?? 0))
    },
  }
}
