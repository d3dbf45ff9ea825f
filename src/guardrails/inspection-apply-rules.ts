import { type AboutText, type Finding, TooSlow } from './guardrail'
import {
  addRedaction,
  blockedBy,
  cleanOutcome,
  type Doubt,
  firingOf,
  type Outcome,
  UNCHECKED,
} from './inspection-outcome'
import { type Span, withSpans } from './inspection-redaction'
import type { CompiledRule } from './policy-compile-rule'
import type { Firing } from './schema'

/** How long one rule may take that works off the event loop, such as one in a process of its own. */
const MAX_MS_A_RULE = 5_000
/** How long all rules together may hold the event loop. */
const MAX_MS_ON_LOOP = 10

/**
 * Runs rules over a text in their order. Each reads what those before it left of it, and the first that blocks ends
 * the phase (contract 12). A rule that throws or takes too long fails closed: it fires on the whole text.
 * @throws TooSlow when the rules would hold up the event loop, unless `about.patient`
 */
export async function applyRules(rules: readonly CompiledRule[], text: string, about: AboutText): Promise<Outcome> {
  let spans: readonly Span[] = []
  let current = text
  const firings: Firing[] = []
  const doubts: Doubt[] = []
  const inspect = inspectorFor(about)
  for (const [index, rule] of rules.entries()) {
    const unsure = (part: Omit<Doubt, 'index'>) => doubts.push({ index, ...part })
    const finding = await inspect(rule, current, rule.question === undefined ? undefined : unsure)
    if (!finding) continue
    firings.push(firingOf(rule, finding.detail))
    if (rule.verdict === 'block') return { text: current, spans, firings, blocked: blockedBy(rule, finding), doubts }
    if (rule.verdict === 'redact') {
      spans = addRedaction(text, spans, finding, rule.guardrail_id)
      current = withSpans(text, spans)
    }
  }
  return { text: current, spans, firings, blocked: null, doubts }
}

/** `findings` has one entry a rule, in the order of the rules. */
export type EveryRule = { outcome: Outcome; findings: readonly (Finding | null)[] }

/** What every rule finds, also behind one that blocks: for `POST /guardrail-policies/{id}/evaluate`. */
export async function applyEveryRule(
  rules: readonly CompiledRule[],
  text: string,
  about: AboutText,
): Promise<EveryRule> {
  let outcome = cleanOutcome(text)
  const findings: (Finding | null)[] = []
  const inspect = inspectorFor(about)
  for (const rule of rules) {
    const finding = await inspect(rule, outcome.text)
    findings.push(finding)
    if (finding && rule.verdict === 'redact') {
      const spans = addRedaction(text, outcome.spans, finding, rule.guardrail_id)
      outcome = { ...outcome, spans, text: withSpans(text, spans) }
    }
  }
  return { outcome, findings }
}

/** Runs one rule after the other, within the time that all of them have. Throws {@link TooSlow} when it is used up. */
function inspectorFor(about: AboutText) {
  const until = about.patient ? Infinity : performance.now() + MAX_MS_ON_LOOP
  return async ({ inspect }: CompiledRule, text: string, unsure?: AboutText['unsure']): Promise<Finding | null> => {
    if (performance.now() > until) throw new TooSlow()
    try {
      const found = inspect(text, unsure ? { ...about, unsure } : about)
      return found instanceof Promise ? await inTime(found) : found
    } catch (error) {
      if (error instanceof TooSlow) throw error
      // The message may quote the text, so it is not logged. The firing says that the check failed.
      return UNCHECKED
    }
  }
}

async function inTime(found: Promise<Finding | null>): Promise<Finding | null> {
  const { promise: late, resolve } = Promise.withResolvers<Finding>()
  const timer = setTimeout(() => resolve(UNCHECKED), MAX_MS_A_RULE)
  try {
    return await Promise.race([found, late])
  } finally {
    clearTimeout(timer)
  }
}
