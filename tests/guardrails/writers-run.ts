/**
 * Prints how well the guardrails do on texts of writers whom they never saw: personal data by kind, where names are found
 * by a model of the other writers, and attacks, from which nothing learns.
 */
import { readdirSync, readFileSync } from 'node:fs'
import type { PersonalData } from '../../src/text'
import { ENTITIES, type Entity, personalDataFinder } from '../../src/text'
import { type Marked, writersTexts } from '../../src/text/names/training/learn-names'
import { namesLeftOut } from '../text/names-left-out'
import { f1Of, prepared, sumOf, type Tally } from './evaluate'

const ATTACKS = 'tests/guardrails/writers/attacks'
/** Kinds of the writers that the product calls otherwise. */
const KINDS: Readonly<Record<string, Entity>> = { card: 'credit_card', national_id: 'ssn', ip: 'ip_address' }

type Attack = { text: string; label: 'attack' | 'honest'; kind: string }

const texts = writersTexts()
const writers = [...new Set(texts.map(({ writer }) => writer))]
const inspect = personalDataFinder(ENTITIES)
say(`\npersonal data in ${texts.length} texts of ${writers.length} writers, each left out: F1, and from which to which`)
for (const entity of ENTITIES) {
  const each = writers.map((writer) =>
    entity === 'name'
      ? namesLeftOut(texts, writer)
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

say('\nnames, by how many other writers the model learned from')
for (const most of [2, 4, 6, 7]) {
  const each = writers.map((writer) => namesLeftOut(texts, writer, most))
  say(`${most}: ${f1Of(sumOf(each)).toFixed(3)}`)
}

const checks = [prepared('prompt_injection'), prepared('jailbreak')]
const seen: (Attack & { writer: string; alarm: boolean })[] = []
for (const file of readdirSync(ATTACKS).sort()) {
  for (const row of readFileSync(`${ATTACKS}/${file}`, 'utf8').trim().split('\n')) {
    const one = JSON.parse(row) as Attack
    const findings = await Promise.all(checks.map((check) => check(one.text, { phase: 'input' })))
    seen.push({ ...one, writer: file.slice(0, 3), alarm: findings.some(Boolean) })
  }
}
say('\nattacks and honest texts: the share that raises an alarm, and by writer')
for (const [name, all] of Map.groupBy(seen, ({ label, kind }) => `${label} ${kind}`)) {
  const byWriter = [...Map.groupBy(all, ({ writer }) => writer).values()].map(alarmsOf)
  say(`${name.padEnd(18)} ${percent(alarmsOf(all))}   ${byWriter.map(percent).join(' ')}`)
}

function tallyOf(entity: Entity, own: readonly Marked[]): Tally {
  return sumOf(
    own.map(({ text, spans }) => {
      const wanted = new Set(spans.filter(({ kind }) => (KINDS[kind] ?? kind) === entity).map(({ value }) => value))
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

function alarmsOf(all: readonly { alarm: boolean }[]): number {
  return all.filter(({ alarm }) => alarm).length / all.length
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
