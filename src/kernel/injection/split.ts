import { squeezed, type View } from './view'

const VERBS = 'ignore|disregard|forget|bypass|override|reveal|show|print|repeat|leak'
const LINKS = 'all|any|of|the|your|my|these|those|other|every|me|us|its|hidden|full|entire'
const PRIORS = 'previous|prior|above|earlier|preceding|system|original|initial|developer|safety|hidden|secret|your'
const THINGS =
  'instructions|instruction|rules|rule|orders|prompts|prompt|guidelines|directives|commands|guardrails|message'
const PHRASE = new RegExp(`(?:${VERBS})(?:${LINKS})*(?:${PRIORS})+(?:${THINGS})`, 'g')
const backwards = (words: string): string =>
  words
    .split('|')
    .map((word) => [...word].reverse().join(''))
    .join('|')
const PHRASE_BACKWARDS = new RegExp(
  `(?:${backwards(THINGS)})(?:${backwards(PRIORS)})+(?:${backwards(LINKS)})*(?:${backwards(VERBS)})`,
  'g',
)
const WORD = new RegExp(`${VERBS}|${LINKS}|${PRIORS}|${THINGS}`, 'g')

/**
 * The same words broken up (`i g n o r e`, `igno-re prev ious`), run together, or written backwards. Words
 * that stand as words are for the rules, which also look at who says them.
 */
export function splitPhrases(view: View, source: string): { how: string; at: number; end: number }[] {
  const letters = squeezed(view)
  const forth = [...letters.text.matchAll(PHRASE)].map(({ 0: hit, index }) => ({
    how: 'split words',
    at: letters.at[index]!,
    end: letters.at[index + hit.length - 1]! + 1,
    words: hit.match(WORD)!.length,
  }))
  const behind = [...letters.text.matchAll(PHRASE_BACKWARDS)].map(({ 0: hit, index }) => ({
    how: 'reversed text',
    at: letters.at[index]!,
    end: letters.at[index + hit.length - 1]! + 1,
  }))
  return [...forth.filter(({ at, end, words }) => runsIn(source.slice(at, end)) !== words), ...behind]
}

const runsIn = (text: string): number => text.split(/[^\p{L}\p{M}\p{Cf}0-9@$!|]+/u).filter(Boolean).length
