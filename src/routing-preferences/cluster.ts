import { isStopWord, vendorNamedIn } from '../text'

/** Stop words of other languages; the English ones are in the kernel. */
const FOREIGN_STOPS = new Set(
  `aber als auch auf aus bei bitte das dass dem den der des die ein eine einen einer für hat ich ihr ist kann mein mich
   mir mit nach nicht oder sich sie sind und uns von was wie wir zum zur avec ces cette dans des est les leur mais mes mon
   nous par pas plus pour que qui ses sont sur une vous como con del ella esta este las los más muy para pero por que sin
   son sus una uno che con dei del della gli mia per sono una voor het een van zijn`.split(/\s+/),
)

const MOST_TOKENS = 6
const LEAST_LETTERS = 3
const MOST_LETTERS = 40
const LEAST_CORRECTIONS = 2

/**
 * A pattern for the words that prompts have in common: an alternation of their most frequent content words, each in
 * at least two prompts (contract 13). Null when they share none. Pure.
 */
export function patternOf(prompts: readonly string[]): { pattern: string; tokens: string[] } | null {
  const counts = new Map<string, number>()
  for (const prompt of prompts) {
    for (const token of new Set(tokensOf(prompt))) counts.set(token, (counts.get(token) ?? 0) + 1)
  }
  const tokens = [...counts]
    .filter(([token, count]) => count >= LEAST_CORRECTIONS && !vendorNamedIn(token))
    .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .slice(0, MOST_TOKENS)
    .map(([token]) => token)
  return tokens.length ? { pattern: alternationOf(tokens), tokens } : null
}

const tokensOf = (prompt: string): string[] =>
  (prompt.normalize('NFC').match(/[\p{L}\p{M}]+/gu) ?? [])
    .map(small)
    .filter(
      (word) =>
        word.length >= LEAST_LETTERS && word.length <= MOST_LETTERS && !isStopWord(word) && !FOREIGN_STOPS.has(word),
    )

/** Lower case, unless that changes the length as with `İ`: the pattern would not match the original word. */
const small = (word: string): string => {
  const lower = word.toLowerCase()
  return lower.length === word.length ? lower : word
}

/** `\b` only works beside Latin letters; for others the boundary is spelled out. Tokens need no escaping. */
function alternationOf(tokens: readonly string[]): string {
  const words = `(?:${tokens.join('|')})`
  return tokens.every((token) => /^[a-z]+$/.test(token))
    ? `\\b${words}\\b`
    : `(?:^|[^\\p{L}\\p{M}])${words}(?:[^\\p{L}\\p{M}]|$)`
}
