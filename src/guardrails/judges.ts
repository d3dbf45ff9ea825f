import { createHelper, HelperFailure } from '../kernel/helper'
import type { Inspected } from './guardrail'
import { type Judged, type Judgement, judge, judgeEach, unanswered } from './judge'
import type { JudgeAnswer, JudgeOrder } from './judge.worker'
import type { RuleSet } from './policy'
import { judgeValue, type ValueJudgement } from './values'

/** In characters: what a request may have read on the event loop, some eight milliseconds of every rule there is. */
const MOST_INLINE = 16_384
const MOST_MS = 10_000

/** Which rules, about what, and for how long anybody waits. */
export type Asked = { set: RuleSet; about: Inspected; signal: AbortSignal }
export type Judge = ReturnType<typeof createJudge>

/**
 * Asks rules: short texts here, long ones on a thread beside the event loop, which nobody else
 * has to wait for (I28). Where the thread fails or takes too long, what the rules guard stays closed.
 */
export function createJudge() {
  const helper = createHelper<JudgeOrder, JudgeAnswer>({
    open: () => new Worker(new URL('./judge.worker.ts', import.meta.url).href),
    most: 2,
    idleMs: 60_000,
  })

  return {
    /** What the rules make of each text. */
    async texts(asked: Asked, texts: readonly string[]): Promise<readonly Judgement[]> {
      const { set, about } = asked
      const { rules } = set
      if (texts.reduce((sum, { length }) => sum + length, 0) <= MOST_INLINE) {
        return Promise.all(texts.map((text) => judge(rules, text, about)))
      }
      const whenNot = () => texts.map((text) => unanswered(rules, text))
      return beside<readonly Judgement[]>(asked, { texts }, whenNot)
    },

    /** The same of a value of JSON. */
    async value(asked: Asked, value: unknown): Promise<ValueJudgement> {
      const { set, about } = asked
      const { rules } = set
      const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
      if (text.length <= MOST_INLINE) return judgeValue(rules, value, about)
      const whenNot = () => {
        const { firings, blocked, text: left } = unanswered(rules, text)
        return { value: left === text ? value : left, firings, blocked }
      }
      return beside<ValueJudgement>(asked, { value }, whenNot)
    },

    /** What each rule says of a text, for whoever tries them out. */
    async each(asked: Asked, text: string): Promise<Judged> {
      const { set, about } = asked
      const { rules } = set
      if (text.length <= MOST_INLINE) return judgeEach(rules, text, about)
      return beside<Judged>(asked, { each: text }, () => {
        const judgement = unanswered(rules, text)
        return { judgement, results: rules.map(() => ({ detail: 'could not be checked', matches: [] })) }
      })
    },
  }

  async function beside<Answer extends JudgeAnswer>(
    { set, about, signal }: Asked,
    order: { texts: readonly string[] } | { each: string } | { value: unknown },
    whenNot: () => Answer,
  ): Promise<Answer> {
    const rules = set.rules.map(({ inspect: _, ...rule }) => rule)
    try {
      const whole = { ...order, key: set.key, rules, about }
      return (await helper.do(whole, { timeoutMs: MOST_MS, signal })) as Answer
    } catch (error) {
      if (error instanceof HelperFailure) return whenNot()
      throw error
    }
  }
}
