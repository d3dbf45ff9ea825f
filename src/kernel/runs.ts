/** What a unit was found to be; 0 where nothing was asked yet. */
const IN = 1
const OUT = 2

/**
 * Looks for runs of at least so many units of a class, as the expression that says it again and again would find
 * them, and gives where each begins and ends, one number after the other. Several times as fast as the expression,
 * which is only asked once a unit, and without an object for each match.
 */
export function runsOf(unit: RegExp, least: number): (text: string) => number[] {
  const kinds = new Uint8Array(1 << 16)
  const learn = (code: number): number => {
    kinds[code] = unit.test(String.fromCharCode(code)) ? IN : OUT
    return kinds[code]!
  }
  return (text) => {
    const runs: number[] = []
    let start = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if ((kinds[code] || learn(code)) === IN) continue
      if (at - start >= least) runs.push(start, at)
      start = at + 1
    }
    if (text.length - start >= least) runs.push(start, text.length)
    return runs
  }
}
