import { contentWords } from '../../text'

export type Hit = { place: number; score: number }

/** The BM25+ parameters k1, b and delta. */
const SATURATION = 1.2
const BY_LENGTH = 0.7
const LEAST = 0.5

/** Indexes texts for BM25+ search. `place` is a text's index in the list. */
export function createRanking(texts: readonly string[]) {
  /** Postings of each word: place and count, alternating. */
  const standings = new Map<string, number[]>()
  const lengths = texts.map((text, place) => {
    const words = contentWords(text)
    for (const word of words) note(word, place)
    return words.length
  })
  const mean = lengths.reduce((sum, length) => sum + length, 0) / (texts.length || 1) || 1
  const drag = lengths.map((length) => SATURATION * (1 - BY_LENGTH + (BY_LENGTH * length) / mean))

  /** The best texts first, at most `most`. `words` must be distinct and normalized by `contentWords`. */
  return function find(words: readonly string[], most: number): Hit[] {
    const scores = new Map<number, number>()
    for (const word of words) {
      const standing = standings.get(word)
      if (!standing) continue
      const holders = standing.length / 2
      const rarity = Math.log(1 + (texts.length - holders + 0.5) / (holders + 0.5))
      for (let at = 0; at < standing.length; at += 2) {
        const [place, count] = [standing[at]!, standing[at + 1]!]
        const score = rarity * (LEAST + (count * (SATURATION + 1)) / (count + drag[place]!))
        scores.set(place, (scores.get(place) ?? 0) + score)
      }
    }
    return best(scores, most)
  }

  function note(word: string, place: number): void {
    const standing = standings.get(word)
    if (!standing) standings.set(word, [place, 1])
    else if (standing[standing.length - 2] === place) standing[standing.length - 1]!++
    else standing.push(place, 1)
  }
}

export type Ranking = ReturnType<typeof createRanking>

/** Keeps the best hits sorted while scanning, since few of many are wanted. Ties go to the earlier text. */
function best(scores: ReadonlyMap<number, number>, most: number): Hit[] {
  const kept: Hit[] = []
  for (const [place, score] of scores) {
    const last = kept.at(-1)
    if (last && kept.length === most && !isBefore({ place, score }, last)) continue
    const at = kept.findIndex((one) => isBefore({ place, score }, one))
    kept.splice(at < 0 ? kept.length : at, 0, { place, score })
    if (kept.length > most) kept.pop()
  }
  return kept
}

const isBefore = (one: Hit, other: Hit): boolean =>
  one.score > other.score || (one.score === other.score && one.place < other.place)
