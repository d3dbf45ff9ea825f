import type { Clock } from '../kernel/clock'
import { SCRIPTS, type ScriptName } from './shared-scripts'
import { WINDOW_MS } from './window'
import type { WindowName } from './window-store'

/** Runs a script on what all nodes share, as one step. Rejects soon where that is away, or as `read` throws. */
export type Scripts = {
  run<T>(
    script: string,
    keys: readonly string[],
    values: readonly (string | number)[],
    read: (answer: unknown) => T,
  ): Promise<T>
  /** What answers, and when it was started, by the monotonic clock; it knows nothing of before. */
  started(): Promise<{ id: string; at: number }>
}

/** How long it is not asked again after a failure. */
const PAUSE_MS = 1_000
/** Which Redis a node hears, and for how long that has been up. */
export type HeardRedis = { id: string; upMs: number }

/** Redis as this node hears it, asked no more often than makes sense, and since when it remembers. */
export function createRedisLink({ clock, scripts }: { clock: Clock; scripts: Scripts }) {
  let askAgainAt = 0
  let known = ''
  let startedAt = Number.NEGATIVE_INFINITY
  let isHeard = false
  return {
    look,
    ask,
    isHeard: () => isHeard,
    startedAt: () => startedAt,
    /** To tell another node, if this one hears it. */
    heard: (): HeardRedis | null => (isHeard ? { id: known, upMs: clock.monotonic() - startedAt } : null),
    /** Another node told. */
    learn: ({ id, upMs }: HeardRedis) => learn(id, clock.monotonic() - upMs),
    /** Whether it was started so lately that calls may count which it has forgotten. */
    isNew: () => clock.monotonic() < startedAt + WINDOW_MS,
  }

  /** Before anything is asked: connects, and learns whether it is another Redis than before. */
  async function look(): Promise<void> {
    await tried(async () => {
      const { id, at } = await scripts.started()
      learn(id, at)
    })
  }

  function learn(id: string, at: number): void {
    if (id === known) return
    known = id
    startedAt = Math.max(startedAt, at)
  }

  /** Null where it does not answer, or not with as many numbers as it should. */
  function ask(
    script: ScriptName,
    subject: string,
    names: readonly WindowName[],
    values: readonly (string | number)[],
  ) {
    const keys = names.flatMap((name) => [`svc:rate:{${subject}}:${name}`, `svc:rate:{${subject}}:${name}:sum`])
    const { text, answers } = SCRIPTS[script]
    // Throws for what no script of ours answers: something else than Redis may stand behind the address.
    return tried(() =>
      scripts.run(text, keys, values, (answer) => {
        if (
          Array.isArray(answer) &&
          answer.length === answers(names.length) &&
          answer.every((each) => Number.isFinite(each) && each >= -1)
        )
          return answer
        throw new Error('it does not run scripts as Redis does')
      }),
    )
  }

  async function tried<T>(work: () => Promise<T>): Promise<T | null> {
    if (clock.monotonic() < askAgainAt) return null
    try {
      const done = await work()
      isHeard = true
      return done
    } catch {
      isHeard = false
      askAgainAt = clock.monotonic() + PAUSE_MS
      return null
    }
  }
}
