import { reading } from '../reading'
import type { Match } from '../schema'
import { compileTerms } from '../terms'
import { isForeignAround, isPlainUse } from './around'
import { compileEnglish } from './english-find'
import { PLAIN_ELSEWHERE, PLAIN_USES, RUDE } from './others'

/*
 * By hand, because maintained lists find less and accuse more: of the 131 rude spellings and 56 plain sentences in
 * tests/guardrails/profanity.test.ts obscenity finds 108 and touches 48, glin-profanity 84 and 18, @2toad/profanity 64
 * and 22, all of them none of the other languages; with all its languages glin touches every tenth everyday text.
 */

/** Finds rude words of many languages, with offsets in the text as it was given. Compiled once for all. */
export function profanityFinder(): (text: string) => Match[] {
  const english = compileEnglish()
  const others = compileTerms(Object.values(RUDE).flat(), true)
  return (text) => {
    const view = reading(text)
    const rude = others.find(view.text).filter((one) => isRudeHere(view.text, one))
    const found = [...english(view), ...rude].sort((a, b) => a.start - b.start)
    const apart = found.filter(({ start }, index) => index === 0 || start >= found[index - 1]!.end)
    return apart.map(({ start, end }) => ({ ...view.span(start, end), kind: 'profanity' }))
  }
}

/** A rude word of one language may be a plain one of another: `foder` is fodder in Danish. */
function isRudeHere(text: string, { start, end, term }: { start: number; end: number; term: string }): boolean {
  if (isPlainUse(PLAIN_USES, term, text, { start, end })) return false
  const languages = PLAIN_ELSEWHERE[term]
  return !languages || !isForeignAround(text, { start, end }, languages)
}
