import { KINDS, type Kind, taggedIn } from '../../src/text/names/tagger'
import { addressesIn } from '../../src/text/personal-data-find'
import { plainly } from '../../src/text/plain'
import { learnNames, type Marked, namelessPrompts } from '../../src/training/names/learn-names'
import type { Tally } from '../guardrails/evaluate'

const nameless = namelessPrompts()

/**
 * The names and addresses in a writer's texts, as a model finds them that learned from all the other writers, or from
 * the first `most`; addresses together with those of a set form.
 */
export function taggedLeftOut(
  texts: readonly Marked[],
  writer: string,
  max = Number.POSITIVE_INFINITY,
): Record<Kind, Tally> {
  const teachers = [...new Set(texts.map((one) => one.writer))].filter((one) => one !== writer).slice(0, max)
  const model = learnNames(
    texts.filter((one) => teachers.includes(one.writer)),
    nameless,
  )
  const tallies = { name: { hits: 0, misses: 0, extras: 0 }, address: { hits: 0, misses: 0, extras: 0 } }
  for (const { text, spans } of texts.filter((one) => one.writer === writer)) {
    const plain = plainly(text)
    const tagged = Map.groupBy(taggedIn(plain.text, model), (one) => one.kind)
    const found = { name: tagged.get('name') ?? [], address: addressesIn(plain.text, tagged.get('address') ?? []) }
    for (const kind of KINDS) {
      const got = new Set(
        found[kind].map(({ start, end }) => plain.span(start, end)).map((at) => text.slice(at.start, at.end)),
      )
      const wanted = new Set(spans.filter((span) => span.kind === kind).map(({ value }) => value))
      tallies[kind].hits += wanted.intersection(got).size
      tallies[kind].misses += wanted.difference(got).size
      tallies[kind].extras += got.difference(wanted).size
    }
  }
  return tallies
}
