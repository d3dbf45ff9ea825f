import { LRUCache } from 'lru-cache'
import type { OwnerScope } from '../kernel/caller'
import { sha256Hex } from '../kernel/crypto'
import { createHelper, HelperFailure } from '../kernel/helper'
import { type Inspected, TooSlow } from './guardrail'
import { type Judgement, judge, UNCHECKED, unanswered, unjudged } from './judge'
import type { JudgeAnswer, JudgeOrder } from './judge.worker'
import type { Opinion } from './opinion'
import type { RuleSet } from './policy'
import { createReview, type Looks, type Reviewed } from './review'
import { type EachJudgement, judgeEachOf, judgeValue, type ValueJudgement } from './values'

/** In characters: what a request may have read on the event loop, some four milliseconds of every rule there is. */
const MOST_INLINE = 8_192
/**
 * What a look beside the event loop may take: ten times what 32 ordinary patterns take for a text of that length, so
 * that rules that are not ordinary hold their thread for seconds and no longer.
 */
const mostMsFor = (length: number): number => Math.min(10_000, 3_000 + length / 64)
const MOST_CLEAN = 20_000

/**
 * Which rules, about what, for whom, and for how long anybody waits. Threads go round by `who`. An engine is asked
 * where the rules are unsure only with `looks`.
 */
export type Asked = { set: RuleSet; about: Inspected; who: OwnerScope; signal: AbortSignal; looks?: Looks }
export type Judge = ReturnType<typeof createJudge>

/**
 * Asks rules: short texts here, long ones on a thread beside the event loop, which nobody else
 * has to wait for (I28). Where the thread fails or takes too long, what the rules guard stays closed.
 */
export function createJudge(opinion: Opinion | null = null) {
  const review = createReview(opinion)
  const helper = createHelper<JudgeOrder, JudgeAnswer>({
    open: () => new Worker(new URL('./judge.worker.ts', import.meta.url).href),
    // Whoever sends long texts to slow rules waits for themselves; the other thread is for everybody else.
    most: 2,
    each: 1,
    idleMs: 60_000,
  })

  const clean = new LRUCache<string, true>({ max: MOST_CLEAN })

  return {
    texts,

    /** The same of texts that come again and again, such as the turns of a conversation: clean ones are known. */
    async again(asked: Asked, all: readonly string[]): Promise<readonly Judgement[]> {
      const together = sha256Hex(`${asked.set.key}\n${JSON.stringify(all)}`)
      if (clean.has(together)) return all.map(unjudged)
      const keys = all.map((text) => sha256Hex(`${asked.set.key}\n${text}`))
      const isKnown = keys.map((key) => clean.has(key))
      const left = [
        ...(await texts(
          asked,
          all.filter((_, place) => !isKnown[place]),
        )),
      ]
      const judged = all.map((text, place) => {
        const found = isKnown[place] ? unjudged(text) : left.shift()!
        if (!found.firings.length) clean.set(keys[place]!, true)
        return found
      })
      if (judged.every(({ firings }) => !firings.length)) clean.set(together, true)
      return judged
    },

    /** What an engine says where the rules were unsure, as far as it may be asked. */
    second: (asked: Asked, judged: Judgement): Promise<Judgement> => Promise.resolve(again(asked, judged)),

    /** The same of a value of JSON. */
    async value(asked: Asked, value: unknown): Promise<ValueJudgement> {
      const { rules } = asked.set
      const text = textOf(value)
      const whenNot = () => {
        const { spans: _, ...judged } = unanswered(rules, text)
        return { ...judged, value: judged.text === text ? value : judged.text }
      }
      const here = () => judgeValue(rules, value, asked.about)
      const judged = await hereOrBeside<ValueJudgement>(asked, { length: text.length, here, order: { value }, whenNot })
      return again(asked, judged)
    },

    /** What each rule says of a text or a value of JSON, for whoever tries them out. */
    each(asked: Asked, value: unknown): Promise<EachJudgement> {
      const { rules } = asked.set
      const text = textOf(value)
      const whenNot = () => {
        const left = unanswered(rules, text).text
        return { value: left === text ? value : left, results: rules.map(() => UNCHECKED) }
      }
      const here = () => judgeEachOf(rules, value, asked.about)
      return hereOrBeside<EachJudgement>(asked, { length: text.length, here, order: { each: value }, whenNot })
    },
  }

  /** What the rules make of each text. */
  async function texts(asked: Asked, all: readonly string[]): Promise<readonly Judgement[]> {
    const { rules } = asked.set
    const judged = await hereOrBeside<readonly Judgement[]>(asked, {
      length: all.reduce((sum, { length }) => sum + length, 0),
      here: () => Promise.all(all.map((text) => judge(rules, text, asked.about))),
      order: { texts: all },
      whenNot: () => all.map((text) => unanswered(rules, text)),
    })
    // What one text is blocked for, nobody needs to ask of the others.
    return judged.some(({ blocked }) => blocked) ? judged : Promise.all(judged.map((one) => again(asked, one)))
  }

  /** With what an engine says where the rules were unsure. */
  function again<J extends Reviewed>({ set: { rules }, looks, signal }: Asked, judged: J): J | Promise<J> {
    return looks && judged.doubts.length && !judged.blocked ? review(rules, judged, looks, signal) : judged
  }

  async function hereOrBeside<Answer extends JudgeAnswer>(asked: Asked, look: Look<Answer>): Promise<Answer> {
    if (look.length > MOST_INLINE) return beside(asked, look)
    try {
      return await look.here()
    } catch (error) {
      if (error instanceof TooSlow) return beside(asked, look)
      throw error
    }
  }

  async function beside<Answer extends JudgeAnswer>(
    { set: { key, rules }, about, who, signal }: Asked,
    { length, order, whenNot }: Look<Answer>,
  ): Promise<Answer> {
    const whole = { ...order, key, owner: who, rules: rules.map(({ inspect: _, ...rule }) => rule), about }
    try {
      return (await helper.do(whole, { timeoutMs: mostMsFor(length), signal, who })) as Answer
    } catch (error) {
      if (error instanceof HelperFailure) return whenNot()
      throw error
    }
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** One look: how much there is to read, the look itself, the same as an order, and what stands in for it. */
type Look<Answer> = {
  length: number
  here(): Promise<Answer>
  order: { texts: readonly string[] } | { each: unknown } | { value: unknown }
  whenNot(): Answer
}
