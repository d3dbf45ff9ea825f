/** Prints how good the classifier is on the held-out prompts: accuracy, confusion, calibration, speed. */
import { TEXT_MODES } from '../../../src/routing/classifier'
import { readCorpus } from '../../../src/training/corpus'
import {
  calibrationError,
  heldOut,
  type Outcome,
  outcomesOf,
  reliability,
  right,
  share,
  slowestPercentile,
} from './evaluate'

const corpus = readCorpus('src/training/classifier/corpus', TEXT_MODES)
const prompts = heldOut()
const outcomes = outcomesOf(prompts)
const hard = outcomes.filter(({ hard }) => hard)
const promoted = outcomes.filter(({ promoted }) => promoted)
const percent = (part: number) => `${(part * 100).toFixed(1)} %`

say(`training: ${corpus.length} prompts in ${new Set(corpus.map(({ line }) => line)).size} written lines`)
table(corpus.map(({ language, label }) => [language, label]))
say(`\nheld out: ${outcomes.length} prompts, ${hard.length} hard`)
say(`accuracy            ${percent(share(outcomes, right))}, hard ${percent(share(hard, right))}`)
say(`after the floor     ${percent(share(outcomes, ({ decided, label }) => decided === label))}`)
say(`promoted            ${percent(promoted.length / outcomes.length)}, right ${percent(share(promoted, right))}`)
say(`calibration error   ${calibrationError(outcomes).toFixed(3)}`)
say(`time, p99           ${slowestPercentile(prompts).toFixed(3)} ms`)
say('\nconfidence  answers  mean   right')
for (const { from, count, confidence, right: hits } of reliability(outcomes)) {
  say(`from ${from.toFixed(1)}    ${String(count).padStart(5)}    ${confidence.toFixed(3)}  ${hits.toFixed(3)}`)
}
say('\nrows: wanted; columns: taken for')
table(outcomes.map(({ label, got }) => [label, got]))
say('\nby language')
for (const [language, found] of Map.groupBy(outcomes, (one: Outcome) => one.language)) {
  say(`${language}  ${String(found.length).padStart(4)}  ${percent(share(found, right))}`)
}

/** Counts of pairs; the second of a pair is always a mode. */
function table(pairs: readonly (readonly [string, string])[]): void {
  const short = (mode: string) => mode.slice(0, 8).padStart(9)
  say(`${' '.repeat(16)}${TEXT_MODES.map(short).join('')}`)
  for (const [row, found] of Map.groupBy(pairs, ([first]) => first)) {
    const counts = TEXT_MODES.map((mode) => String(found.filter(([, second]) => second === mode).length).padStart(9))
    say(`${row.padEnd(16)}${counts.join('')}`)
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
