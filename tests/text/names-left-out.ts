import { namesIn } from '../../src/text/names/tagger'
import { learnNames, type Marked, namelessPrompts } from '../../src/text/names/training/learn-names'
import { plainly } from '../../src/text/plain'
import type { Tally } from '../guardrails/evaluate'

const nameless = namelessPrompts()

/** The names in a writer's texts as a model finds them that learned from all the other writers, or the first `most`. */
export function namesLeftOut(texts: readonly Marked[], writer: string, most = Number.POSITIVE_INFINITY): Tally {
  const teachers = [...new Set(texts.map((one) => one.writer))].filter((one) => one !== writer).slice(0, most)
  const others = texts.filter((one) => teachers.includes(one.writer))
  const model = learnNames(others, nameless)
  const tally = { hits: 0, misses: 0, extras: 0 }
  for (const { text, spans } of texts.filter((one) => one.writer === writer)) {
    const plain = plainly(text)
    const found = namesIn(plain.text, model).map(({ start, end }) => {
      const at = plain.span(start, end)
      return text.slice(at.start, at.end)
    })
    const wanted = new Set(spans.filter(({ kind }) => kind === 'name').map(({ value }) => value))
    const got = new Set(found)
    tally.hits += wanted.intersection(got).size
    tally.misses += wanted.difference(got).size
    tally.extras += got.difference(wanted).size
  }
  return tally
}
