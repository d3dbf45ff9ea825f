import type { Clock } from '../kernel/clock'
import { BUDGET_MS, type PatternWorker, type Trial } from '../text'
import type { Effective, ReadyRule } from './guidance'

/** Most matching steps per prompt on the event loop: 20 ms in the worst case, usually far below 1 ms. */
const MOST_STEPS = 300_000
/** Pause for rules that ran out of time, because every such try may cost a process. Much shorter prompts are tried. */
const REST_MS = 10_000
/** Until when a rule rests (monotonic), and the length of the prompt it ran out of time on. */
type Rest = { until: number; chars: number }

/**
 * Lets rules be matched without blocking the event loop: small patterns run there, all others are matched beforehand
 * in a process. Rules read the whole prompt; those without an answer in 50 ms are skipped, with a warning to the caller
 * (contract 13).
 */
export function createRuleMatcher({ worker, clock }: { worker: Pick<PatternWorker, 'match'>; clock: Clock }) {
  const resting = new WeakMap<ReadyRule, Rest>()

  /** Guidance whose rules answer quickly. The same object, synchronously, when all its rules are small enough. */
  return function ready(effective: Effective, prompt: string, trial: Trial): Effective | Promise<Effective> {
    return effective.steps * Math.max(1, prompt.length) <= MOST_STEPS ? effective : tried(effective, prompt, trial)
  }

  async function tried(effective: Effective, text: string, trial: Trial): Promise<Effective> {
    const known = new Map<ReadyRule, boolean>()
    const skipped = new Set<ReadyRule>()
    let budgetMs = BUDGET_MS
    const large = largeOf(effective.rules, text.length)
    for (const rule of large) if (rests(rule, text)) skipped.add(rule)
    for (const group of groupsOf(large.filter((rule) => !skipped.has(rule)))) {
      const patterns = group.map(({ pattern }) => pattern)
      const stops = !group.some(({ steps }) => Number.isFinite(steps))
      const found = budgetMs <= 0 ? null : await worker.match(patterns, text, { ...trial, budgetMs, stops })
      if (found) budgetMs -= found.ms
      const rest = { until: clock.monotonic() + REST_MS, chars: text.length }
      if (found && !found.answers) for (const rule of group) resting.set(rule, rest)
      for (const [index, rule] of group.entries()) {
        const answer = found?.answers?.[index] ?? null
        if (answer === null) skipped.add(rule)
        else known.set(rule, answer)
      }
    }
    return withAnswers(effective, known, skipped)
  }

  function rests(rule: ReadyRule, text: string): boolean {
    const rest = resting.get(rule)
    return rest !== undefined && rest.until > clock.monotonic() && text.length > rest.chars / 2
  }
}

/** The rules that exceed `MOST_STEPS` when steps are added up from the first rule on. */
function largeOf(rules: readonly ReadyRule[], length: number): ReadyRule[] {
  let left = MOST_STEPS
  return rules.filter(({ steps }) => {
    const cost = steps * length
    if (cost > left) return true
    left -= cost
    return false
  })
}

/** Linear patterns are tried together; each backtracking one alone, so that others keep their answers if it is slow. */
function groupsOf(rules: readonly ReadyRule[]): ReadyRule[][] {
  const linear = rules.filter(({ steps }) => Number.isFinite(steps))
  const others = rules.filter(({ steps }) => !Number.isFinite(steps))
  return [...(linear.length ? [linear] : []), ...others.map((rule) => [rule])]
}

function withAnswers(
  effective: Effective,
  known: ReadonlyMap<ReadyRule, boolean>,
  skipped: ReadonlySet<ReadyRule>,
): Effective {
  const rules = effective.rules
    .filter((rule) => !skipped.has(rule))
    .map((rule) => {
      const answer = known.get(rule)
      return answer === undefined ? rule : { ...rule, matches: () => answer }
    })
  if (!skipped.size) return { ...effective, rules }
  const which = skipped.size === 1 ? '1 routing rule was' : `${skipped.size} routing rules were`
  const warning = `${which} skipped: more than ${BUDGET_MS} ms on a prompt like this. Make the patterns simpler.`
  return { ...effective, rules, warnings: [...effective.warnings, warning] }
}
