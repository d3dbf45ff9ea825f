import { type InjectionFinding, scanForInjection } from '../../kernel/injection'
import { remember } from '../../kernel/remember'
import { t } from '../../kernel/schema'
import { defineGuardrail, type Finding } from '../guardrail'
import { modelOf } from '../models'
import { sentencesOf } from '../text/features'
import { type Likely, likeliest } from '../text/judgement'

const USUAL_THRESHOLD = 0.8
/** The rules name what they find; the model only says how likely something of the kind is. */
const BY_RULE = 0.97
const BY_HIDDEN = 0.6
/** Below this the model takes a text for an ordinary one. */
const LEAST_DOUBT = 0.3

/** Rules of the scan that speak of limits to be dropped rather than of orders to be changed. */
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
      const found = said(byRule, chanceOf(injection, jailbreak, either), threshold, rule?.about)
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
      const found = said(rule ? BY_RULE : 0, chanceOf(jailbreak, injection, either), threshold, rule?.about)
      if (!found && isDoubtful(either, threshold)) unsure?.(part)
      return found
    }
  },
  question: () => 'tries to talk an assistant out of its rules or limits, by a role, a game, a story or a made-up mode',
})

/**
 * How likely the local model finds some stretch of a text to be an attempt of either kind, from 0 to 1. It was made
 * from what people send and pages say; of a text that is meant to instruct it is less sure.
 */
export const attackChance = (text: string): number => likeliest(modelOf('attacks'), sentencesOf(text))[0]!.chance

type Attack = {
  rule: InjectionFinding | undefined
  jailbreakRule: InjectionFinding | undefined
  /** How likely the model finds each, and that it is either. */
  injection: number
  jailbreak: number
  either: number
  /** The stretch that is most like either. */
  likeliest: Likely
}

/** Both checks ask for the same text, one after the other. */
const attackIn = remember((text: string): Attack => {
  const suspects: Likely[] = []
  const [either, injection, jailbreak] = likeliest(modelOf('attacks'), sentencesOf(text), suspects)
  // Where the model sees nothing at all the rules have nothing to find, and they are the slower ones.
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

/** Stretches that touch as one. */
function joined(stretches: readonly Likely[]): Likely[] {
  const out: Likely[] = []
  for (const next of stretches) {
    const last = out.at(-1)
    if (last && next.start <= last.end) out[out.length - 1] = { ...last, end: Math.max(last.end, next.end) }
    else out.push(next)
  }
  return out
}

/** What is surely one of the two is not the other. */
const isDoubtful = (either: number, threshold: number): boolean => either >= LEAST_DOUBT && either < threshold

/** What is one of the two is taken for the likelier one, and as surely as that it is either. */
const chanceOf = (own: number, other: number, either: number): number => (own >= other ? either : own)

function said(byRule: number, byModel: number, threshold: number, about: string | undefined): Finding | null {
  const score = Math.max(byRule, byModel)
  if (score < threshold || score === 0) return null
  const what = byRule >= threshold && about ? about : 'reads like an attempt to command the engine'
  return { detail: `${what} (${score.toFixed(2)})`, matches: [] }
}
