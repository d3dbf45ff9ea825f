import { isMainThread } from 'node:worker_threads'

/** What a pattern keeps besides itself to be quick, and can do without. */
export type Learnt = {
  /** In bytes, as it is now. */
  weight(): number
  forget(): void
}

/** What it takes to know of one. */
const ENTRY_BYTES = 256

/**
 * Patterns learn of the texts they are tried on. All together keep no more than so much: those that were not asked
 * for longest forget first. None is kept by this alone.
 */
export function createLearning(mostBytes: number) {
  const known = new Map<object, { of: WeakRef<Learnt>; weight: number }>()
  let total = 0

  return {
    /** Say so after each look. `key` is anything that ends with the pattern or before. */
    used(key: object, learnt: Learnt): void {
      const before = known.get(key)
      const weight = ENTRY_BYTES + learnt.weight()
      total += weight - (before?.weight ?? 0)
      known.delete(key)
      known.set(key, before ? Object.assign(before, { weight }) : { of: new WeakRef(learnt), weight })
      if (total > mostBytes) makeRoom()
    },
    weight: (): number => total,
  }

  function makeRoom(): void {
    for (const [key, { of, weight }] of known) {
      if (total <= mostBytes) return
      of.deref()?.forget()
      known.delete(key)
      total -= weight
    }
  }
}

/** The one for all patterns; threads beside the event loop have one each. */
export const learning = createLearning((isMainThread ? 24 : 16) * 1024 * 1024)
