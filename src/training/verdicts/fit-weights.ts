import type { Model } from '../../text/model'
import { softmax } from '../../text/model'
import { type Evidence, LONG, logitOf, MIN_BELIEVED, type Weights, weigh } from '../../text/verdicts/weigh'
import type { Judged } from './learn-attacks'

/** The threshold of rules without their own (docs/api.md 12). */
const USUAL_THRESHOLD = 0.8
/** Maximum share of false alarms, by kind, among honest texts of writers whom the models did not see. */
const MAX_ALARMS = { request: 0.015, tool: 0.02, document: 0.005 }
/** The share of the permitted false alarms among documents that short documents may use. */
const SHORTS = 0.7
const STEPS = 3_000
const RATE = 0.1
const STEP = 0.05
const MAX_STEPS = 160

export type Fact = Evidence & { isAttack: boolean; kind: string; rule: boolean }

/** Whether models and rules together detect an attack (`attackIn`). */
export function isAlarm(fact: Fact, by: Weights): boolean {
  const chance = weigh(fact, by)
  return chance >= USUAL_THRESHOLD || (fact.rule && chance >= MIN_BELIEVED)
}

/** The results of a calibrated stretch model and the other models for texts that none of them knows. */
export const factsOf = (judged: readonly Judged[], { bias, sharpness }: Model, fresh: Model): Fact[] =>
  judged.map(({ scores, whole, ends, sentences, rule, label, kind }) => {
    const [ordinary] = softmax(scores.map((score, at) => (score + bias[at]! - fresh.bias[at]!) * sharpness))
    return { stretch: logitOf(1 - ordinary!), whole, ends, sentences, rule, isAttack: label === 'attack', kind }
  })

/**
 * Logistic regression of being an attack, so that the predicted probability equals the share of attacks. Then lowers
 * the offset until requests and tool outputs cause few enough false alarms, and the weight of long texts until
 * documents do.
 */
export function fittedWeights(facts: readonly Fact[]): Weights {
  const by: Weights = { stretch: 0.5, whole: 0.5, ends: 0.5, sentences: 0, long: 0, offset: 0 }
  for (let step = 0; step < STEPS; step++) {
    const slope = { stretch: 0, whole: 0, ends: 0, sentences: 0, offset: 0 }
    for (const fact of facts) {
      const error = (weigh(fact, by) - (fact.isAttack ? 1 : 0)) / facts.length
      slope.stretch += error * fact.stretch
      slope.whole += error * fact.whole
      slope.ends += error * fact.ends
      slope.sentences += error * Math.log(fact.sentences + 1)
      slope.offset += error
    }
    for (const name of NAMES) by[name] -= RATE * slope[name]
  }
  // Rounded, because the last bits differ between machines.
  for (const name of NAMES) by[name] = Number(by[name].toFixed(2))
  // The weight for long texts does not help short documents, so these may use only part of the documents' false alarms.
  const isTooHigh = () =>
    tooMany(facts, by, 'request') || tooMany(facts, by, 'tool') || tooMany(facts, by, 'document', SHORTS, isShort)
  lower(by, 'offset', isTooHigh)
  lower(by, 'long', () => tooMany(facts, by, 'document'))
  return by
}

const NAMES = ['stretch', 'whole', 'ends', 'sentences', 'offset'] as const

function lower(by: Weights, name: keyof Weights, isTooHigh: () => boolean): void {
  for (let steps = 0; steps < MAX_STEPS && isTooHigh(); steps++) by[name] = Number((by[name] - STEP).toFixed(2))
}

const isShort = ({ sentences }: Fact): boolean => sentences < LONG

/** Whether false alarms among the texts of a kind that `counts` selects exceed the part `share` of its limit. */
function tooMany(
  facts: readonly Fact[],
  by: Weights,
  wanted: keyof typeof MAX_ALARMS,
  share = 1,
  counts = (_: Fact) => true,
): boolean {
  const own = facts.filter(({ kind, isAttack }) => kind === wanted && !isAttack)
  const alarms = own.filter((fact) => counts(fact) && isAlarm(fact, by))
  return alarms.length > share * MAX_ALARMS[wanted] * own.length
}
