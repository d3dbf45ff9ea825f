/** Most tool calls of one run over all its iterations (contract 22.5). */
export const MAX_CALLS = 64
/** Most tool calls of one run at the same time; further calls wait. */
export const MAX_AT_ONCE = 8
/** Characters of results that one run may show its caller, summed over all calls. */
const MAX_SHOWN_CHARS = 1024 * 1024

export type Tally = ReturnType<typeof createTally>

/** Counts what one run has used of its limits. */
export function createTally() {
  let calls = 0
  let working = 0
  let room = MAX_SHOWN_CHARS
  const waiting: (() => void)[] = []

  /** Hands the free place to the call that has waited longest. */
  const leave = (): void => {
    const next = waiting.shift()
    if (next) next()
    else working--
  }

  return {
    /** Counts a call; false when the run has used all its calls. */
    take: (): boolean => ++calls <= MAX_CALLS,
    refusal: `This answer has used its ${MAX_CALLS} tool calls. Answer now from what is known.`,

    /** Runs `work` when a place is free. Rejects as `work` does, or when the signal aborted while it waited. */
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
    /** Subtracts a result's size from what may still be shown. */
    show(result: unknown): void {
      room = Math.max(0, room - (JSON.stringify(result)?.length ?? 0))
    },
  }
}
