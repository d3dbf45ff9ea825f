import type { Model } from '../../text/model'
import { softmax } from '../../text/model'
import { type Evidence, LONG, logitOf, MIN_BELIEVED, type Weights, weigh } from '../../text/verdicts/weigh'
import type { Judged } from './learn-attacks'

/** The threshold of rules that set none (docs/api.md 12). */
const USUAL_THRESHOLD = 0.8
/** The share of honest texts of writers whom the models did not see that may be false alarms, by kind. */
const MAX_ALARMS = { request: 0.015, tool: 0.02, document: 0.005 }
/** The part of the false alarms among documents that short ones may be. */
const SHORTS = 0.7
const STEPS = 3_000
const RATE = 0.1
const STEP = 0.05
const MAX_STEPS = 160

export type Fact = Evidence & { isAttack: boolean; kind: string; rule: boolean }

/** Whether models and rules together find an attack (`attackIn`). */
export function isAlarm(fact: Fact, by: Weights): boolean {
  const chance = weigh(fact, by)
  return chance >= USUAL_THRESHOLD || (fact.rule && chance >= MIN_BELIEVED)
}

/** What a calibrated model of stretches and one of whole texts say of texts that neither knows. */
export const factsOf = (judged: readonly Judged[], { bias, sharpness }: Model, fresh: Model): Fact[] =>
  judged.map(({ scores, whole, ends, sentences, rule, label, kind }) => {
    const [ordinary] = softmax(scores.map((score, at) => (score + bias[at]! - fresh.bias[at]!) * sharpness))
    return { stretch: logitOf(1 - ordinary!), whole, ends, sentences, rule, isAttack: label === 'attack', kind }
  })

/**
 * Logistic regression of being an attack, so that the probability it states is the share of attacks; then the offset
 * is lowered until requests and outputs of tools raise few enough false alarms, and what long texts lose until
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
  // What long texts lose cannot help short documents: these may use up so much of what documents may.
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

/** Whether more than the part `share` of what a kind may are false alarms among the texts of it that `counts`. */
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
