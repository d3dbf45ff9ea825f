import { splitAsked } from './clause'

/** Words that refer to an earlier result: `it`, `them`, `the result`. */
const BACK =
  /\b(?:it|them|that|this|these|those|(?:the|this|that|these|those)\s+(?:results?|answers?|pages?|text|findings?|output|content|values?|document|article))\b/i

/** One step of a request; `back` is the index of the step whose result it uses, or null. */
export type RequestStep = { asked: string; back: number | null }

/**
 * Splits a request such as `search for tides, then save it` into steps that must run one after another, because a
 * later one uses the result of an earlier one. Null when no step refers back.
 */
export function stepsOf(prompt: string): RequestStep[] | null {
  let last = 0
  const steps = splitAsked(prompt).map((text, at): RequestStep => {
    const asked = text.replace(/(?<![.!?\s])[.!?\s]+$/, '')
    if (at > 0 && BACK.test(asked)) return { asked: asked.replace(BACK, ' ').replace(/\s+/g, ' ').trim(), back: last }
    last = at
    return { asked, back: null }
  })
  return steps.some(({ back }) => back !== null) ? steps : null
}
