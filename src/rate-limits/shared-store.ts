import type { Clock } from '../kernel/clock'
import { CORRECT, READ, TAKE } from './shared-scripts'
import { WINDOW_MS, type Window } from './window'
import type { Entry, LocalStore, Taken, View, WindowName, WindowStore } from './window-store'

/** Runs a script on what all nodes share, as one step. Rejects soon where that is away, or as `read` throws. */
export type Scripts = {
  run<T>(
    script: string,
    keys: readonly string[],
    values: readonly (string | number)[],
    read: (answer: unknown) => T,
  ): Promise<T>
}

type Deps = {
  clock: Clock
  scripts: Scripts
  mine: LocalStore
  /** Id of this process. */
  node: string
  /** How many nodes serve now. */
  nodes(): number
}

/** How long it is not asked again after a failure. */
const PAUSE_MS = 1_000
/** More than any limit. */
const NO_LIMIT = 1e15

/**
 * The windows of all nodes together (design 9). What a node let in it also counts itself: while the shared store is
 * away each node lets in its share, the limit by the number of nodes, so that losing it never opens a limit (I-10).
 */
export function createSharedStore({ clock, scripts, mine, node, nodes }: Deps): WindowStore {
  /** What other nodes let in, when it was last heard. */
  const elsewhere = new WeakMap<Window, { used: number; heardAt: number; resetAt: number }>()
  let entries = 0
  let askAgainAt = 0

  return { take, add, view, read }

  async function take(subject: string, name: WindowName, limit: number, weight: number): Promise<Taken> {
    // A request is told its tokens too, so they come along.
    const names: WindowName[] = name === 'requests' ? [name, 'tokens'] : [name]
    const id = `${node}-${++entries}`
    const said = await ask(TAKE, subject, names, [limit, weight, id], 2 + 2 * names.length)
    if (!said) return myShare(subject, name, limit, weight)
    const [taken, waitMs, ...found] = said
    const entry = taken ? mine.add(subject, name, weight) : null
    hear(subject, names, found)
    return {
      entry: entry && { correct: (actual) => correct({ subject, name, id, weight, entry }, actual) },
      limit,
      used: found[0]! - (taken ? weight : 0),
      waitMs: waitMs! < 0 ? Number.POSITIVE_INFINITY : Math.min(waitMs!, WINDOW_MS),
    }
  }

  function myShare(subject: string, name: WindowName, limit: number, weight: number): Taken {
    const share = Math.max(1, Math.floor(limit / nodes()))
    const taken = mine.take(subject, name, share, weight)
    // What fits the whole limit fits again when the nodes share it again.
    return taken.waitMs === Number.POSITIVE_INFINITY && weight <= limit ? { ...taken, waitMs: WINDOW_MS } : taken
  }

  function add(subject: string, name: WindowName, weight: number): void {
    mine.add(subject, name, weight)
    void ask(TAKE, subject, [name], [NO_LIMIT, weight, `${node}-${++entries}`], 4)
  }

  type Correctable = { subject: string; name: WindowName; id: string; weight: number; entry: Entry }

  /** Where the correction does not arrive, more stays counted than was used: that is the safe side. */
  function correct({ subject, name, id, weight, entry }: Correctable, actual: number): void {
    if (actual === weight) return
    entry.correct(actual)
    void ask(CORRECT, subject, [name], [`${id}:${weight}`, `${id}:${actual}`, actual - weight], 1)
  }

  function view(subject: string, name: WindowName): View {
    const here = mine.view(subject, name)
    const other = elsewhere.get(mine.windowOf(subject, name))
    const now = clock.monotonic()
    if (!other || now >= other.heardAt + WINDOW_MS) return here
    return { used: here.used + other.used, resetMs: Math.max(here.resetMs, other.resetAt - now) }
  }

  async function read(subject: string, names: readonly WindowName[]): Promise<View[]> {
    const found = await ask(READ, subject, names, [], 2 * names.length)
    if (found) hear(subject, names, found)
    return names.map((name) => view(subject, name))
  }

  function hear(subject: string, names: readonly WindowName[], found: readonly number[]): void {
    const heardAt = clock.monotonic()
    for (const [at, name] of names.entries()) {
      const [used, resetMs] = [found[2 * at]!, found[2 * at + 1]!]
      const here = mine.view(subject, name).used
      elsewhere.set(mine.windowOf(subject, name), {
        used: Math.max(used - here, 0),
        heardAt,
        resetAt: heardAt + Math.min(resetMs, WINDOW_MS),
      })
    }
  }

  /** Null where the shared store does not answer, or not with as many numbers as `count`. */
  async function ask(
    script: string,
    subject: string,
    names: readonly WindowName[],
    values: readonly (string | number)[],
    count: number,
  ): Promise<number[] | null> {
    if (clock.monotonic() < askAgainAt) return null
    const keys = names.flatMap((name) => [`svc:rate:{${subject}}:${name}`, `svc:rate:{${subject}}:${name}:sum`])
    try {
      return await scripts.run(script, keys, values, (answer) => numbersOf(answer, count))
    } catch {
      askAgainAt = clock.monotonic() + PAUSE_MS
      return null
    }
  }
}

/** Throws for what no script of ours answers: something else than Redis may stand behind the address. */
function numbersOf(answer: unknown, count: number): number[] {
  if (Array.isArray(answer) && answer.length === count && answer.every((each) => Number.isFinite(each) && each >= -1))
    return answer
  throw new Error('it answers scripts otherwise than Redis does')
}
