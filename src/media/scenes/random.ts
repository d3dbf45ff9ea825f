/** Pseudo-random numbers that are the same for the same seed. */
export type Random = {
  /** From 0 to below 1. */
  next(): number
  between(from: number, to: number): number
  pick<T>(from: readonly T[]): T
}

/** The same seed gives the same numbers, so a prompt always gives the same picture. */
export function randomOf(seed: string): Random {
  let state = 2_166_136_261
  for (let at = 0; at < seed.length; at += 1) state = Math.imul(state ^ seed.charCodeAt(at), 16_777_619)
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    between: (from, to) => from + (to - from) * next(),
    pick: (from) => from[Math.floor(next() * from.length)]!,
  }
}
