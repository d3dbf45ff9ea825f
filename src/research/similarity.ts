const SHINGLE_WORDS = 5
/** Two texts that share this much of the shorter one count as copies. */
const SAME = 0.7
const MIN_SHINGLES = 8
const WORD = /[\p{L}\p{N}]+/gu

/** Hashes of all runs of five words, and of the whole text. Copies share most of them. */
function shinglesOf(text: string): ReadonlySet<number> {
  const words = text.toLowerCase().match(WORD) ?? []
  const found = new Set<number>()
  for (let at = 0; at + SHINGLE_WORDS <= words.length; at++) {
    found.add(Bun.hash.xxHash32(words.slice(at, at + SHINGLE_WORDS).join(' ')))
  }
  if (words.length) found.add(Bun.hash.xxHash32(words.join(' ')))
  return found
}

/** Whether one of two texts has most of the other's words in the same order. Short texts must be identical. */
function isCopy(one: ReadonlySet<number>, other: ReadonlySet<number>): boolean {
  const [less, more] = one.size <= other.size ? [one, other] : [other, one]
  let shared = 0
  for (const shingle of less) if (more.has(shingle)) shared++
  if (less.size < MIN_SHINGLES) return shared === more.size && shared > 0
  return shared / less.size >= SAME
}

/** For each text, the index of the first one that it copies, or null. */
export function indexesOfCopies(texts: readonly string[]): (number | null)[] {
  const known = texts.map(shinglesOf)
  const copyOf: (number | null)[] = []
  for (const [at, shingles] of known.entries()) {
    const first = known.findIndex((other, before) => before < at && copyOf[before] === null && isCopy(other, shingles))
    copyOf.push(first < 0 ? null : first)
  }
  return copyOf
}

/** The share of common words of two sentences, from 0 to 1. */
export function overlap(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0
  for (const word of one) if (other.has(word)) shared++
  const all = one.size + other.size - shared
  return all === 0 ? 0 : shared / all
}
