/**
 * Prints how good the classifier is on prompts of writers whom it never saw: each writer's through a model of all the
 * others, with the stages before the model, and with a calibration that was fitted without that writer too.
 */
import { createClassifier } from '../../../src/routing'
import { confidenceOf } from '../../../src/routing/classifier'
import { DEFAULT_FLOOR } from '../../../src/routing/schema'
import {
  calibrationOf,
  type LeftOut,
  leaveEachOut,
  leaveOut,
  unnamedPrompts,
  writersOf,
  writersPrompts,
} from '../../../src/training/classifier/leave-one-out'
import { calibrationError, share } from './evaluate'

type Judged = { got: string; label: string; hard: boolean }
type Answer = Omit<LeftOut, 'got'> & { got: string; confidence: number }

const [, clearSignals] = createClassifier().stages
const prompts = writersPrompts()
const writers = writersOf(prompts)
say('the model alone, by how many other writers it learned from (parts of the writers are left out at a time)')
for (const { max, parts } of [
  { max: 3, parts: 3 },
  { max: 6, parts: 3 },
  { max: 9, parts: 3 },
  { max: 12, parts: 3 },
  { max: 14, parts: 5 },
  { max: 16, parts: 9 },
]) {
  const all = Array.from({ length: parts }, (_, part) => writers.filter((_, at) => at % parts === part)).flatMap(
    (some) => leaveOut(prompts, unnamedPrompts(), some, max),
  )
  say(`${max}: ${halves(all)}`)
}

const left = leaveEachOut(prompts, unnamedPrompts())
const alone = writersOf(left).flatMap((writer) => {
  const calibration = calibrationOf(left.filter((one) => one.writer !== writer))
  const own = left.filter((one) => one.writer === writer)
  return own.map((one): Answer => ({ ...one, confidence: confidenceOf(one.chance, calibration[one.got]) }))
})
const staged = alone.map((one): Answer => {
  const signal = clearSignals.look({ mode: 'auto', prompt: one.text, hasImages: false })
  return signal && signal.confidence >= DEFAULT_FLOOR
    ? { ...one, got: signal.mode, confidence: signal.confidence }
    : one
})

report('the model alone', alone)
report('with the clear signals before it', staged)

function report(title: string, all: readonly Answer[]): void {
  const byWriter = [...Map.groupBy(all, ({ writer }) => writer)]
  const sure = all.filter(({ confidence }) => confidence >= DEFAULT_FLOOR)
  say(`\n${title}: ${all.length} prompts of ${byWriter.length} writers, each left out`)
  say(`right               ${halves(all)}`)
  say(`above the floor     ${rightOf(sure)} right, ${percent(sure.length / all.length)} of all`)
  say(`calibration error   ${calibrationError(all).toFixed(3)}`)
  for (const [writer, own] of byWriter) {
    say(`${writer.padEnd(20)}${rightOf(own)}, calibration error ${calibrationError(own).toFixed(3)}`)
  }
  for (const [mode, own] of Map.groupBy(all, ({ label }) => label)) say(`${mode.padEnd(20)}${rightOf(own)}`)
}

function halves(all: readonly Judged[]): string {
  const [easy, hard] = [false, true].map((wanted) => all.filter((one) => one.hard === wanted))
  return `${rightOf(all)}; easy ${rightOf(easy!)}, hard ${rightOf(hard!)}`
}

function rightOf(answers: readonly Judged[]): string {
  return percent(share(answers, ({ got, label }) => got === label))
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
