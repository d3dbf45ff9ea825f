import type { Clock } from '../kernel/clock'
import { createBeside } from './beside'
import type { Effective, ReadyRule } from './guidance'
import { HEAD_CHARS } from './pattern'

/** Steps of patterns that one prompt may cost on the event loop: 20 ms at the very worst, mostly far below one. */
const MOST_STEPS = 300_000
/** Rules that ran out of time are left alone for so long: each try costs a thread. */
const REST_MS = 10_000

export type RuleMatcher = ReturnType<typeof createRuleMatcher>

/**
 * Sees to it that rules can be asked without holding anybody up: small patterns as they are, the others tried
 * beforehand beside the event loop. Those that have no answer in 50 ms are skipped, and the caller is told.
 */
export function createRuleMatcher({ clock }: { clock: Clock }) {
  const beside = createBeside({ clock })
  const resting = new WeakMap<Effective, number>()

  /** Guidance whose rules answer at once. Itself, in the same turn, when all its rules are small for this prompt. */
  return function ready(effective: Effective, prompt: string, signal: AbortSignal): Effective | Promise<Effective> {
    const length = Math.min(prompt.length, HEAD_CHARS)
    return effective.steps * length <= MOST_STEPS ? effective : tried(effective, prompt.slice(0, length), signal)
  }

  async function tried(effective: Effective, text: string, signal: AbortSignal): Promise<Effective> {
    const large = largeOf(effective.rules, text.length)
    const rests = (resting.get(effective) ?? 0) > clock.monotonic()
    const patterns = large.map(({ pattern }) => pattern)
    const found = rests ? null : await beside.match(patterns, text, signal)
    if (!found) {
      if (!rests) resting.set(effective, clock.monotonic() + REST_MS)
      return without(effective, new Set(large))
    }
    const answers = new Map(large.map((rule, place) => [rule, found[place]!]))
    const rules = effective.rules.map((rule) => {
      const answer = answers.get(rule)
      return answer === undefined ? rule : { ...rule, matches: () => answer }
    })
    return { ...effective, rules }
  }
}

/** Those that no longer fit into what the event loop may do, counted from the first. */
function largeOf(rules: readonly ReadyRule[], length: number): ReadyRule[] {
  let left = MOST_STEPS
  return rules.filter(({ steps }) => {
    const cost = steps * length
    if (cost > left) return true
    left -= cost
    return false
  })
}

function without(effective: Effective, skipped: ReadonlySet<ReadyRule>): Effective {
  const warning = `${skipped.size} routing rules were skipped: their patterns took more than 50 ms on a prompt like this. Make them simpler.`
  return {
    ...effective,
    rules: effective.rules.filter((rule) => !skipped.has(rule)),
    warnings: [...effective.warnings, warning],
  }
}
