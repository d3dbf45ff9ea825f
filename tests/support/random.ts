export type Random = {
  /** A whole number from `min` to `max`, inclusive. */
  between(min: number, max: number): number
  pick<T>(items: readonly T[]): T
  /** A name, chosen in proportion to its weight. */
  weighted<N extends string>(weights: Readonly<Record<N, number>>): N
}

/** Reproducible randomness: the same seed gives the same run (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    between,
    pick: (items) => items[between(0, items.length - 1)]!,
    weighted<N extends string>(weights: Readonly<Record<N, number>>): N {
      const entries = Object.entries(weights) as [N, number][]
      let left = between(
        1,
        entries.reduce((sum, [, weight]) => sum + weight, 0),
      )
      for (const [name, weight] of entries) {
        left -= weight
        if (left <= 0) return name
      }
      return entries.at(-1)![0]
    },
  }
}
