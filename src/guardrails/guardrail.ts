import { type Static, type TSchema, t } from '../kernel/schema'
import type { Match } from '../text/schema'

/*
 * The words of this module (docs/api.md 12):
 *   guardrail  one check of the catalogue; it inspects a text and gives a finding, or null
 *   rule       a guardrail with a phase, a verdict and a config; a policy is a list of rules
 *   outcome    what applying rules to a text came to: what is left of it, firings, the block, doubts
 *   firing     a rule that fired, as callers and the audit log see it
 *   doubt      a rule let a text pass without being sure
 *   second look   asks an engine for its opinion of the doubts; it can only add firings
 *   runner     applies rule sets, on the event loop or in a process; fails closed
 *   guard      the policy of one run: what completions, agents and tools call
 */

/** Every guardrail a rule may name, in the order of docs/api.md 12. */
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

/** What a rule runs on: the prompt, the answer, a tool call before it runs, a tool's result before it is read. */
export type Phase = 'input' | 'output' | 'tool_call' | 'tool_result'
/** What a rule does when it fires (docs/api.md 12). */
export type Verdict = 'block' | 'redact' | 'flag'

export type { Match } from '../text/schema'

/** `detail` says what was found and never quotes it. Without matches the finding means the whole text. */
export type Finding = { detail: string; matches: readonly Match[] }

/** What is known of a text besides its characters. */
export type AboutText = {
  phase: Phase
  tool?: { name: string }
  systemPrompt?: string
  sources?: readonly string[]
  /** Called by a guardrail that lets a text pass without being sure of this part of it. */
  unsure?(part: Pick<Match, 'start' | 'end'>): void
  /** In a process, where it may take its time. On the event loop a guardrail that would throws {@link TooSlow}. */
  patient?: boolean
}

/** Reads one text, in time linear in its length. Null: nothing found. */
export type Inspect = {
  (text: string, about: AboutText): Finding | null | Promise<Finding | null>
  /** Bytes that its compiled config keeps in memory, where that is far more than the config itself. */
  weight?: number
}

export type Guardrail = {
  id: GuardrailId
  /** For readers of `GET /guardrails`: what it looks for, and what it cannot see. */
  description: string
  phases: readonly Phase[]
  verdicts: readonly Verdict[]
  /** A closed object without the members that every rule has, but with `threshold` where the guardrail reads it. */
  config: TSchema
  /**
   * Compiles the config of a rule, once a policy. Only `redact` needs every match, so other verdicts may stop at the
   * first; without a verdict all are found.
   * @throws InvalidConfig for what the schema cannot say, such as a pattern that does not compile.
   */
  prepare(config: Record<string, unknown>, verdict?: Verdict): Inspect
  /** The statement an engine judges where this was unsure; it continues after "The text". */
  question?(config: Record<string, unknown>): string
}

/** How sure a rule must be to fire that sets no threshold, from 0 to 1. */
export const DEFAULT_THRESHOLD = 0.8

/** The `threshold` in the config of guardrails that score texts. */
export const Threshold = t.Optional(t.Number({ minimum: 0, maximum: 1, default: DEFAULT_THRESHOLD }))

/** The config of guardrails that have nothing but a threshold to set. */
export const ThresholdOnly = t.Object({ threshold: Threshold }, { additionalProperties: false })

/** Thrown by what would hold up the event loop; the rules then run in a process. */
export class TooSlow extends Error {
  override name = 'TooSlow'
}

/** Thrown for a config that fits its schema and still cannot be used. The message continues after the member's name. */
export class InvalidConfig extends Error {
  override name = 'InvalidConfig'
  constructor(
    /** Such as `terms[0]`; empty for the config as a whole. */
    readonly member: string,
    what: string,
  ) {
    super(what)
  }
}

/** Types `prepare` and `question` by the config schema, against which configs are checked before. */
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

/** What a rule finds whose threshold is so low that ordinary texts reach it: it fires, and does not accuse. */
export const ordinaryFinding = (score: number, threshold: number): Finding => ({
  detail: `looks ordinary, but its score (${score.toFixed(2)}) reaches the threshold (${threshold})`,
  matches: [],
})
