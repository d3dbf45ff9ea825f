import { splitAsked } from './clause'

/** What stands for something found before: `it`, `them`, `the result`. */
const BACK =
  /\b(?:it|them|that|this|these|those|(?:the|this|that|these|those)\s+(?:results?|answers?|pages?|text|findings?|output|content|values?|document|article))\b/i

/** One step of a request; `back` is the place of the step whose finding it is done with, null for none. */
export type RequestStep = { asked: string; back: number | null }

/**
 * `search for tides, then save it`: steps of which a later one is done with what an earlier one found, so they
 * are taken one after another. Null when none of them refers back.
 */
export function stepsOf(prompt: string): RequestStep[] | null {
  let last = 0
  const steps = splitAsked(prompt).map((text, at): RequestStep => {
    const asked = text.replace(/[.!?\s]+$/, '')
    if (at > 0 && BACK.test(asked)) return { asked: asked.replace(BACK, ' ').replace(/\s+/g, ' ').trim(), back: last }
    last = at
    return { asked, back: null }
  })
  return steps.some(({ back }) => back !== null) ? steps : null
}
