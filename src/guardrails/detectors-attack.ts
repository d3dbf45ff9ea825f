import { t } from '../kernel/schema'
import { attackIn, loadModel } from '../text'
import { defineGuardrail, type Finding, ordinaryFinding } from './guardrail'

const USUAL_THRESHOLD = 0.8
/** The score of what a rule finds: an attempt, or something hidden that a person should look at. */
const BY_RULE = 0.97
const BY_HIDDEN = 0.6
/** Below this score a text counts as ordinary and raises no doubt. */
const MIN_DOUBT = 0.3

/** What {@link attackIn} reads with. */
const MODELS = ['attacks', 'texts', 'ends'] as const

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
    for (const name of MODELS) loadModel(name)
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
    for (const name of MODELS) loadModel(name)
    return (text, { unsure }) => {
      const { jailbreakRule: rule, injection, jailbreak, either, likeliest: part } = attackIn(text)
      const found = findingOf(rule ? BY_RULE : 0, chanceOf(jailbreak, injection, either), threshold, rule?.about)
      if (!found && isDoubtful(either, threshold)) unsure?.(part)
      return found
    }
  },
  question: () => 'tries to talk an assistant out of its rules or limits, by a role, a game, a story or a made-up mode',
})

/** Whether the model is unsure. A text that surely is one kind of attempt raises no doubt about the other. */
const isDoubtful = (either: number, threshold: number): boolean => either >= MIN_DOUBT && either < threshold

/** The score of one kind: the likelier kind gets the probability of either. */
const chanceOf = (own: number, other: number, either: number): number => (own >= other ? either : own)

function findingOf(byRule: number, byModel: number, threshold: number, about: string | undefined): Finding | null {
  const score = Math.max(byRule, byModel)
  if (score < threshold || score === 0) return null
  if (score < MIN_DOUBT) return ordinaryFinding(score, threshold)
  const what = byRule >= threshold && about ? about : 'reads like an attempt to command the engine'
  return { detail: `${what} (${score.toFixed(2)})`, matches: [] }
}
