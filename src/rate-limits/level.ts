export type Used = { node: string; used: number }

/**
 * How much one node may let in of a limit that nobody counts for all, knowing what each has used: what those above the
 * level have used is theirs, and the others share the rest alike. No node goes above the level, so that together they
 * stay within the limit also where they decide at the same instant. What does not divide goes by the order of their ids.
 */
export function levelOf(limit: number, node: string, nodes: readonly Used[]): number {
  let [rest, below] = [limit, nodes]
  for (;;) {
    const share = rest / below.length
    const above = below.filter(({ used }) => used > share)
    if (!above.length) break
    rest -= above.reduce((sum, { used }) => sum + used, 0)
    below = below.filter(({ used }) => used <= share)
  }
  const ids = below.map((one) => one.node).sort()
  if (ids.includes(node)) return shareOf(rest, below.length, ids.indexOf(node))
  // It has more than its level: what it has used, at most, so that it waits until enough of that is gone.
  return Math.min(limit / nodes.length, nodes.find((one) => one.node === node)?.used ?? 0)
}

/** Whole, and together no more than the limit. */
export const shareOf = (limit: number, count: number, rank: number): number =>
  Math.floor(limit / count) + (rank < limit % count ? 1 : 0)
