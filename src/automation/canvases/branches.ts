import type { Links } from './links'

/** One answer of a condition. */
export type Answer = { condition: string; answer: 'true' | 'false' }

/**
 * The answers after which a node runs, any one of which is enough; `null` means it always runs. Normalized: nodes
 * that run in the same cases have equal lists.
 */
export type Ways = readonly Answer[] | null

/** The answers that lead to each node of an acyclic graph. `order` must be topological. */
export function branchesTo(order: readonly string[], { into }: Links): Map<string, Ways> {
  const branches = new Map<string, Ways>()
  for (const id of order) {
    const arrows = into(id)
    const found = arrows.map(({ source, handle }) =>
      handle ? [{ condition: source, answer: handle }] : (branches.get(source) ?? null),
    )
    branches.set(
      id,
      arrows.length === 0 || found.includes(null)
        ? null
        : simplest(
            found.flatMap((some) => some ?? []),
            branches,
          ),
    )
  }
  return branches
}

/** Simplifies the answers: both answers of one condition mean the same as that condition having run. */
function simplest(answers: readonly Answer[], branches: ReadonlyMap<string, Ways>): Ways {
  const rest = new Map(answers.map((one) => [keyOf(one), one]))
  for (let changed = true; changed; ) {
    changed = false
    const isCovered = coverage(rest, branches)
    for (const [key, { condition, answer }] of rest) {
      const other = keyOf({ condition, answer: answer === 'true' ? 'false' : 'true' })
      const requests = branches.get(condition) ?? null
      const isBoth = rest.has(other)
      if (isBoth && requests === null) return null
      if (!isBoth && !isCovered(condition)) continue
      rest.delete(key)
      if (isBoth) {
        rest.delete(other)
        for (const one of requests!) rest.set(keyOf(one), one)
      }
      changed = true
      break
    }
  }
  return [...rest.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/**
 * Tells whether all ways to a condition are already covered by these answers, so that its own answers add nothing.
 * Memoized, because branches that split and merge repeatedly would take exponential time.
 */
function coverage(
  among: ReadonlyMap<string, Answer>,
  branches: ReadonlyMap<string, Ways>,
): (condition: string) => boolean {
  const known = new Map<string, boolean>()
  return function isCovered(condition: string): boolean {
    const found = known.get(condition)
    if (found !== undefined) return found
    const requests = branches.get(condition) ?? null
    const covered = requests?.every((one) => among.has(keyOf(one)) || isCovered(one.condition)) ?? false
    known.set(condition, covered)
    return covered
  }
}

export const keyOf = ({ condition, answer }: Answer): string => `${answer} ${condition}`
