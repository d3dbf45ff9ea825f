import { blockedBy, firingOf, type Judgement } from './judge'
import type { Opinion } from './opinion'
import type { Rule } from './policy'
import { ownThreshold } from './rules'

/** How often one run may still ask an engine. */
export type Looks = { left: number }

/** What rules made of a text, as far as a second look reads it. */
export type Reviewed = Pick<Judgement, 'text' | 'firings' | 'blocked' | 'doubts'>

/** Most questions of one run to an engine, whatever its texts and tools: it waits for each of them. */
export const MOST_LOOKS = 4

/**
 * Asks an engine about what rules let pass without being sure: once a text, with that text as all rules left it.
 * An engine only adds to what they found, so that no text can talk itself free.
 */
export function createReview(opinion: Opinion | null) {
  return async function review<J extends Reviewed>(
    rules: readonly Rule[],
    judged: J,
    looks: Looks,
    signal: AbortSignal,
  ): Promise<J> {
    const open = judged.doubts.filter(({ place }) => !judged.firings.some((one) => isOf(one, rules[place]!)))
    if (!opinion || !open.length || looks.left <= 0) return judged
    looks.left--
    const { start, end } = open[0]!
    const doubted = open.map(({ place }) => rules[place]!)
    const sure = await opinion(
      { text: judged.text, start, end, asked: doubted.map(({ question }) => question!) },
      signal,
    )
    if (!sure) return judged
    const firings = [...judged.firings]
    for (const [place, rule] of doubted.entries()) {
      if (sure[place]! < ownThreshold(rule)) continue
      const detail = `an engine takes it for what this looks for (${sure[place]!.toFixed(2)})`
      firings.push(firingOf(rule, detail))
      if (rule.verdict === 'block') return { ...judged, firings, blocked: blockedBy(rule, { detail, matches: [] }) }
    }
    return { ...judged, firings }
  }
}

const isOf = (firing: Judgement['firings'][number], { guardrail_id, verdict }: Rule): boolean =>
  firing.guardrail_id === guardrail_id && firing.verdict === verdict
