import { t } from '../../kernel/schema'
import {
  type InjectionFinding,
  type Likely,
  likeliest,
  modelOf,
  remember,
  scanForInjection,
  sentenceFeaturesOf,
} from '../../text'
import { defineGuardrail, type Finding, ordinaryFinding } from '../guardrail'

const USUAL_THRESHOLD = 0.8
/** The score of what a rule finds: an attempt, or something hidden that a person should look at. */
const BY_RULE = 0.97
const BY_HIDDEN = 0.6
/** Below this score a text counts as ordinary and raises no doubt. */
const LEAST_DOUBT = 0.3

/** Rules of the scan that find jailbreaks (dropping limits) rather than injections (changing orders). */
const OF_JAILBREAKS: ReadonlySet<string> = new Set(['unrestricted', 'disable-safety', 'mode'])

const config = t.Object(
  { threshold: t.Optional(t.Number({ minimum: 0, maximum: 1, default: USUAL_THRESHOLD })) },
  { additionalProperties: false },
)

export const promptInjection = defineGuardrail({
  id: 'prompt_injection',
  description:
    'Text that gives the engine orders of its own, asks for its hidden instructions or hides what it says; rules in fifteen languages and a local model, which also take what is new for what it resembles',
  phases: ['input', 'tool_result'],
  verdicts: ['block', 'flag'],
  config,
  prepare({ threshold = USUAL_THRESHOLD }) {
    modelOf('attacks')
    return (text, { unsure }) => {
      const { rule, injection, jailbreak, either, likeliest: part } = attackIn(text)
      const byRule = rule ? (rule.severity === 'block' ? BY_RULE : BY_HIDDEN) : 0
      const found = findingOf(byRule, chanceOf(injection, jailbreak, either), threshold, rule?.about)
      if (!found && (rule || isDoubtful(either, threshold))) unsure?.(part)
      return found
    }
  },
  question: () =>
    'is written to an assistant so that it drops, changes or reveals the instructions it was given, or obeys whoever hid orders in it',
})

export const jailbreak = defineGuardrail({
  id: 'jailbreak',
  description:
    'Prompts that try to talk the engine out of its limits: roles without rules, modes without filters, games in which it may not refuse; rules and a local model',
  phases: ['input'],
  verdicts: ['block', 'flag'],
  config,
  prepare({ threshold = USUAL_THRESHOLD }) {
    modelOf('attacks')
    return (text, { unsure }) => {
      const { jailbreakRule: rule, injection, jailbreak, either, likeliest: part } = attackIn(text)
      const found = findingOf(rule ? BY_RULE : 0, chanceOf(jailbreak, injection, either), threshold, rule?.about)
      if (!found && isDoubtful(either, threshold)) unsure?.(part)
      return found
    }
  },
  question: () => 'tries to talk an assistant out of its rules or limits, by a role, a game, a story or a made-up mode',
})

/**
 * The local model's probability, from 0 to 1, that some stretch of a text is an injection or a jailbreak. It learned
 * from prompts and web pages, so it is less reliable on texts that are meant to instruct.
 */
export const attackChance = (text: string): number => likeliest(modelOf('attacks'), sentenceFeaturesOf(text))[0]!.chance

type Attack = {
  rule: InjectionFinding | undefined
  jailbreakRule: InjectionFinding | undefined
  /** The model's probability of each kind and of either, each for its likeliest stretch. */
  injection: number
  jailbreak: number
  either: number
  /** The stretch with the highest probability of either. */
  likeliest: Likely
}

/** Cached for the last text, because both guardrails inspect the same one in a row. */
const attackIn = remember((text: string): Attack => {
  const suspects: Likely[] = []
  const [either, injection, jailbreak] = likeliest(modelOf('attacks'), sentenceFeaturesOf(text), suspects)
  // The rules are slower than the model: for plain words they only read the stretches it suspects.
  const found = scanForInjection(text, joined(suspects))
  return {
    rule: found.find(({ rule }) => !OF_JAILBREAKS.has(rule)) ?? found[0],
    jailbreakRule: found.find(({ rule, severity }) => severity === 'block' && OF_JAILBREAKS.has(rule)),
    injection: injection!.chance,
    jailbreak: jailbreak!.chance,
    either: either!.chance,
    likeliest: either!,
  }
})

/** Merges stretches that touch or overlap. */
function joined(stretches: readonly Likely[]): Likely[] {
  const out: Likely[] = []
  for (const next of stretches) {
    const last = out.at(-1)
    if (last && next.start <= last.end) out[out.length - 1] = { ...last, end: Math.max(last.end, next.end) }
    else out.push(next)
  }
  return out
}

/** Whether the model is unsure. A text that surely is one kind of attempt raises no doubt about the other. */
const isDoubtful = (either: number, threshold: number): boolean => either >= LEAST_DOUBT && either < threshold

/** The score of one kind: the likelier kind gets the probability of either. */
const chanceOf = (own: number, other: number, either: number): number => (own >= other ? either : own)

function findingOf(byRule: number, byModel: number, threshold: number, about: string | undefined): Finding | null {
  const score = Math.max(byRule, byModel)
  if (score < threshold || score === 0) return null
  if (score < LEAST_DOUBT) return ordinaryFinding(score, threshold)
  const what = byRule >= threshold && about ? about : 'reads like an attempt to command the engine'
  return { detail: `${what} (${score.toFixed(2)})`, matches: [] }
}
