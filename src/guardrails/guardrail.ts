import { type Static, strictObject, type TSchema, t } from '../kernel/schema'
import type { Match } from '../text/schema'

/*
 * The terms of this module (docs/api.md 12):
 * guardrail    a check of the catalogue: it inspects a text and returns a finding or null
 * rule         a guardrail with a phase, a verdict and a config; a policy is a list of rules
 * outcome      the result of applying rules to a text: the remaining text, firings, the block, doubts
 * firing       a rule that fired, as shown to callers and in the audit log
 * doubt        a rule let a text pass without being sure
 * second look  asks an engine for its opinion on the doubts; it can only add firings
 * runner       applies rule sets, on the event loop or in a process; fails closed
 * guard        the policy of one run, called by completions, agents and tools
 */

/** Every guardrail that a rule may name, in the order of docs/api.md 12. */
export const GUARDRAIL_IDS = [
  'prompt_injection',
  'jailbreak',
  'pii',
  'secrets',
  'content_safety',
  'profanity',
  'topic_restriction',
  'blocked_terms',
  'regex_match',
  'language',
  'max_length',
  'url_allowlist',
  'tool_allowlist',
  'system_prompt_leak',
  'groundedness',
] as const

export type GuardrailId = (typeof GUARDRAIL_IDS)[number]

/** What a rule runs on: the prompt, the answer, a tool call before it runs, a tool result before an engine reads it. */
export type Phase = 'input' | 'output' | 'tool_call' | 'tool_result'
/** What a rule does when it fires (docs/api.md 12). */
export type Verdict = 'block' | 'redact' | 'flag'

export type { Match } from '../text/schema'

/** `detail` describes the finding and never quotes the text. A finding without matches applies to the whole text. */
export type Finding = { detail: string; matches: readonly Match[] }

/** What a guardrail knows about a text besides its characters. */
export type AboutText = {
  phase: Phase
  tool?: { name: string }
  systemPrompt?: string
  sources?: readonly string[]
  /** A guardrail calls this when it lets a text pass without being sure of this part. */
  unsure?(part: Pick<Match, 'start' | 'end'>): void
  /** True in a worker process, where a check may be slow. On the event loop a slow check throws {@link TooSlow}. */
  patient?: boolean
}

/** Inspects one text, in time linear in its length. Null: nothing found. */
export type Inspect = {
  (text: string, about: AboutText): Finding | null | Promise<Finding | null>
  /** Bytes of memory that the compiled config uses. Set if that is far more than the config itself. */
  weight?: number
}

export type Guardrail = {
  id: GuardrailId
  /** For readers of `GET /guardrails`: what the guardrail finds, and what it cannot find. */
  description: string
  phases: readonly Phase[]
  verdicts: readonly Verdict[]
  /** A closed object without the members common to all rules, but with `threshold` if the guardrail reads it. */
  config: TSchema
  /**
   * Compiles the config of a rule, once per policy. Only `redact` needs every match, so other verdicts may stop at the
   * first. Without a verdict all matches are found.
   * @throws InvalidConfig for problems that the schema cannot express, such as a pattern that does not compile.
   */
  prepare(config: Record<string, unknown>, verdict?: Verdict): Inspect
  /** The statement that an engine judges if the guardrail was unsure. It continues "The text". */
  question?(config: Record<string, unknown>): string
}

/** The default threshold: the certainty from which a rule fires, from 0 to 1. */
export const DEFAULT_THRESHOLD = 0.8

/** The `threshold` in the config of guardrails that score texts. */
export const Threshold = t.Optional(t.Number({ minimum: 0, maximum: 1, default: DEFAULT_THRESHOLD }))

/** The config of guardrails whose only setting is a threshold. */
export const ThresholdOnly = strictObject({ threshold: Threshold })

/** Thrown by a check that would block the event loop. The rules then run in a worker process. */
export class TooSlow extends Error {
  override name = 'TooSlow'
}

/** Thrown for a config that fits its schema but cannot be used. The message continues after the member's name. */
export class InvalidConfig extends Error {
  override name = 'InvalidConfig'
  constructor(
    /** For example `terms[0]`. Empty for the config as a whole. */
    readonly member: string,
    what: string,
  ) {
    super(what)
  }
}

/** Types `prepare` and `question` by the config schema. Configs are validated against it before these calls. */
export function defineGuardrail<Config extends TSchema>(
  guardrail: Omit<Guardrail, 'config' | 'prepare' | 'question'> & {
    config: Config
    prepare(config: Static<Config>, verdict?: Verdict): Inspect
    question?(config: Static<Config>): string
  },
): Guardrail {
  const { question, prepare } = guardrail
  return {
    ...guardrail,
    prepare: (config, verdict) => prepare(config as Static<Config>, verdict),
    ...(question ? { question: (config) => question(config as Static<Config>) } : {}),
  } as Guardrail
}

/** An inspection that fires for what `find` matches. `describe` says what the text holds. */
export const findingOfMatches =
  (find: (text: string) => readonly Match[], describe: (matches: readonly Match[]) => string): Inspect =>
  (text) => {
    const matches = find(text)
    return matches.length ? { detail: `holds ${describe(matches)}`, matches } : null
  }

/** The number of matches of each kind: `e-mail address (2), phone number (1)`. */
export const countsOf =
  (names: Readonly<Record<string, string>>) =>
  (matches: readonly Match[]): string =>
    [...Map.groupBy(matches, ({ kind }) => kind)].map(([kind, all]) => `${names[kind]} (${all.length})`).join(', ')

/** The finding of a rule whose threshold is so low that ordinary texts reach it. It fires, but makes no accusation. */
export const ordinaryFinding = (score: number, threshold: number): Finding => ({
  detail: `looks ordinary, but its score (${score.toFixed(2)}) reaches the threshold (${threshold})`,
  matches: [],
})
