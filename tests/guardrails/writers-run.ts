/**
 * Prints how well the guardrails do on texts of writers whom they never saw: personal data by kind, where names and
 * addresses are found by a model of the other writers, and attacks, found by the rules and by a model of the other
 * writers.
 */
import { ENTITIES, type Entity, type PersonalData, personalDataFinder } from '../../src/text'
import type { Model } from '../../src/text/model'
import { KINDS } from '../../src/text/names/tagger'
import { LABELS } from '../../src/text/verdicts/models'
import { weigh } from '../../src/text/verdicts/weigh'
import { type Marked, writersTexts } from '../../src/training/names/learn-names'
import { factsOf, fittedWeights, isAlarm } from '../../src/training/verdicts/fit-weights'
import { type Judged, judgedBy, learnWith, writersOf, writtenTexts } from '../../src/training/verdicts/learn-attacks'
import { linesOf } from '../../src/training/verdicts/lines'
import { taggedLeftOut } from '../text/tagged-left-out'
import { f1Of, sumOf, type Tally } from './evaluate'

const USUAL_THRESHOLD = 0.8
/** Kinds of the writers that the product calls otherwise. */
const CALLED: Readonly<Record<string, Entity>> = { card: 'credit_card', national_id: 'ssn', ip: 'ip_address' }

const texts = writersTexts()
const writers = [...new Set(texts.map(({ writer }) => writer))]
const inspect = personalDataFinder(ENTITIES)
say(`\npersonal data in ${texts.length} texts of ${writers.length} writers, each left out: F1, and from which to which`)
const tagged = writers.map((writer) => taggedLeftOut(texts, writer))
for (const entity of ENTITIES) {
  const each = writers.map((writer, at) =>
    entity === 'name' || entity === 'address'
      ? tagged[at]![entity]
      : tallyOf(
          entity,
          texts.filter((one) => one.writer === writer),
        ),
  )
  const all = each
    .filter(({ hits, misses }) => hits + misses)
    .map(f1Of)
    .sort()
  say(`${entity.padEnd(18)} ${f1Of(sumOf(each)).toFixed(3)}   ${all[0]!.toFixed(2)} to ${all.at(-1)!.toFixed(2)}`)
}

say('\nnames and addresses, by how many other writers the model learned from')
for (const max of [3, 6]) {
  const each = writers.map((writer) => taggedLeftOut(texts, writer, max))
  const [name, address] = KINDS.map((kind) => f1Of(sumOf(each.map((one) => one[kind]))).toFixed(3))
  say(`${max}: ${name}, ${address}`)
}

const written = writtenTexts()
const authors = writersOf(written)
const lines = linesOf('attacks')
const raw: Model = { rows: new Int8Array(), bias: new Float64Array(LABELS.attacks.length), scale: 1, sharpness: 1 }

/** What models of `most` of the other writers say of the texts of some. */
function judgedOf(some: readonly string[], max: number): Judged[] {
  const others = authors.filter((one) => !some.includes(one)).slice(0, max)
  const learned = learnWith(
    lines,
    written.filter(({ writer }) => others.includes(writer)),
  )
  return written.filter(({ writer }) => some.includes(writer)).map((one) => judgedBy(learned, one))
}

/** With weights that were fitted without the writer too. */
function alarmsAmong(judged: readonly Judged[]) {
  const facts = factsOf(judged, raw, raw).map((fact, at) => ({ ...judged[at]!, ...fact }))
  return writersOf(judged).flatMap((writer) => {
    const by = fittedWeights(facts.filter((one) => one.writer !== writer))
    return facts
      .filter((one) => one.writer === writer)
      .map((one) => ({ ...one, byModel: weigh(one, by) >= USUAL_THRESHOLD, alarm: isAlarm(one, by) }))
  })
}

say('\nattacks and honest texts, by how many other writers the models learned from: the share that the models find')
for (const max of [3, 6, 9]) {
  const thirds = [0, 1, 2].map((third) => authors.filter((_, at) => at % 3 === third))
  const seen = alarmsAmong(thirds.flatMap((some) => judgedOf(some, max)))
  const shares = [...Map.groupBy(seen, kindOf)].map(([name, all]) => `${name} ${percent(shareOf(all, 'byModel'))}`)
  say(`${max}: ${shares.join(', ')}`)
}

const seen = alarmsAmong(authors.flatMap((writer) => judgedOf([writer], authors.length)))
say('\nattacks and honest texts, each writer left out: the share found by models, with the rules, and by writer')
for (const [name, all] of Map.groupBy(seen, kindOf)) {
  const byWriter = [...Map.groupBy(all, ({ writer }) => writer).values()].map((own) => percent(shareOf(own, 'alarm')))
  say(
    `${name.padEnd(18)} ${percent(shareOf(all, 'byModel'))}, ${percent(shareOf(all, 'alarm'))}   ${byWriter.join(' ')}`,
  )
}

function tallyOf(entity: Entity, own: readonly Marked[]): Tally {
  return sumOf(
    own.map(({ text, spans }) => {
      const wanted = new Set(spans.filter(({ kind }) => (CALLED[kind] ?? kind) === entity).map(({ value }) => value))
      const got = new Set(
        inspect(text)
          .filter(isOf(entity))
          .map(({ start, end }) => text.slice(start, end)),
      )
      const hits = wanted.intersection(got).size
      return { hits, misses: wanted.size - hits, extras: got.size - hits }
    }),
  )
}

function isOf(entity: Entity): (one: PersonalData) => boolean {
  return ({ kind }) => kind === entity
}

function kindOf({ label, kind }: Judged): string {
  return `${label} ${kind}`
}

function shareOf(all: readonly { byModel: boolean; alarm: boolean }[], by: 'byModel' | 'alarm'): number {
  return all.filter((one) => one[by]).length / all.length
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
