const WORDS = 5_000
const SYLLABLES = 'ba ce di fo gu la me ni po ru sa te vi xo zu bra cle dri flo gru pla sme tri'.split(' ')

export type Lottery = ReturnType<typeof createLottery>

/** A vocabulary in which, as in a language, a few words are everywhere and most are rare; the same for one seed. */
export function createLottery(seed: number) {
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const word = (rank: number): string => {
    const [a, b, c] = [rank % 23, Math.floor(rank / 23) % 23, Math.floor(rank / 529) % 23]
    return `${SYLLABLES[a]}${SYLLABLES[b]}${SYLLABLES[c]}`
  }
  return {
    /** The word of a rank; 0 is the commonest. */
    word,
    /** A word that one skill has. */
    rare: (at: number): string => `unique${at}`,
    /** A rank by Zipf's law. */
    draw: (): number => Math.floor(WORDS ** next()) - 1,
  }
}
