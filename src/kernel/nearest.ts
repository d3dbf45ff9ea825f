/** The known word that was probably meant. Null when more than a third of the letters (at least one) differ. */
export function nearest(word: string, known: readonly string[]): string | null {
  let best: string | null = null
  let min = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const far = candidate.startsWith(word) || word.startsWith(candidate) ? 0.5 : distance(word, candidate)
    if (far < min) [min, best] = [far, candidate]
  }
  return best !== null && min <= Math.max(1, Math.floor(word.length / 3)) ? best : null
}

/** ` Did you mean "keys"?`, or an empty text. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  return near === null ? '' : ` Did you mean ${near}?`
}

/** Edit distance of two words; swapped neighbours count once. */
function distance(a: string, b: string): number {
  let [older, old] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(row[j - 1]! + 1, old[j]! + 1, old[j - 1]! + (same ? 0 : 1))
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, older[j - 2]! + 1)
      row.push(cost)
    }
    ;[older, old] = [old, row]
  }
  return old[b.length]!
}
