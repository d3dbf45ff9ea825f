import { compiledOf } from '../kernel/compiled'
import type { HelperAnswer } from '../kernel/helper'
import type { Inspected } from './guardrail'
import { type Judgement, judge } from './judge'
import { compileRule, type Rule, weightOf } from './policy'
import type { GuardrailRule } from './schema'
import { type EachJudgement, judgeEachOf, judgeValue, type ValueJudgement } from './values'

/** What a thread beside the event loop is asked: rules over what is too long to be read on it. */
export type JudgeOrder = {
  /** Compiled rules are kept by it, for this owner. */
  key: string
  owner: string
  rules: readonly GuardrailRule[]
  about: Inspected
} & ({ texts: readonly string[] } | { each: unknown } | { value: unknown })

export type JudgeAnswer = readonly Judgement[] | EachJudgement | ValueJudgement

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<JudgeOrder>) => {
  self.postMessage(await answered(data))
}

async function answered(order: JudgeOrder): Promise<HelperAnswer<JudgeAnswer>> {
  try {
    return { ok: true, answer: await answerTo(order, rulesOf(order)) }
  } catch (error) {
    return { ok: false, problem: String(error) }
  }
}

async function answerTo(order: JudgeOrder, rules: readonly Rule[]): Promise<JudgeAnswer> {
  const about = { ...order.about, patient: true }
  if ('value' in order) return judgeValue(rules, order.value, about)
  if ('each' in order) return judgeEachOf(rules, order.each, about)
  const judgements: Judgement[] = []
  for (const text of order.texts) judgements.push(await judge(rules, text, about))
  return judgements
}

const kept = compiledOf<readonly Rule[]>('rules')

function rulesOf({ key, owner, rules }: JudgeOrder): readonly Rule[] {
  const known = kept.get(key)
  if (known) return known
  const compiled = rules.map(compileRule)
  kept.put(key, compiled, { owner, weight: weightOf(compiled) })
  return compiled
}
