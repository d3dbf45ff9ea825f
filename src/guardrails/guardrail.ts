import type { Static, TSchema } from '../kernel/schema'

/** Every check a rule may name, in the order of contract 12. */
export const GUARDRAIL_IDS = [
  ...(['prompt_injection', 'jailbreak', 'pii', 'secrets', 'content_safety', 'profanity'] as const),
  ...(['topic_restriction', 'blocked_terms', 'regex_match', 'language', 'max_length'] as const),
  ...(['url_allowlist', 'tool_allowlist', 'system_prompt_leak', 'groundedness'] as const),
]

export type GuardrailId = (typeof GUARDRAIL_IDS)[number]

/** What is looked at: the prompt, the answer, a call before it runs, what a tool gave before it is read. */
export type Phase = 'input' | 'output' | 'tool_call' | 'tool_result'
export type Verdict = 'block' | 'redact' | 'flag'

/** UTF-16 offsets of what was found, `kind` as in `[REDACTED:<kind>]`. */
export type Match = { start: number; end: number; kind: string }

/** `detail` says what was found and never quotes it. No matches: the text as a whole is meant. */
export type Finding = { detail: string; matches: readonly Match[] }

/** What is known of a text besides its characters. */
export type Inspected = {
  phase: Phase
  tool?: { name: string }
  systemPrompt?: string
  sources?: readonly string[]
  /** To be told of the stretch of the text, if any, that lets it pass without being sure of it. */
  unsure?(part: Pick<Match, 'start' | 'end'>): void
  /** Nobody waits behind this look: it may take its time. Otherwise one that would throws {@link TooSlow}. */
  patient?: boolean
}

/** Looks at one text in time linear in its length. Null: nothing to say. */
export type Inspect = {
  (text: string, about: Inspected): Finding | null | Promise<Finding | null>
  /** What was compiled for it keeps in memory, in bytes, where that is far more than its config. */
  weight?: number
}

export type Guardrail = {
  id: GuardrailId
  /** For people: what it looks for, and what it cannot see. */
  description: string
  phases: readonly Phase[]
  verdicts: readonly Verdict[]
  /** A closed object without the members every rule has; `threshold` is in it where the check has one. */
  config: TSchema
  /**
   * Compiles what a rule configures, once a policy. What is not to be taken out need not be found everywhere: the
   * verdict says, and without one it is.
   * @throws InvalidConfig for what the schema cannot say, such as a pattern that does not compile.
   */
  prepare(config: Record<string, unknown>, verdict?: Verdict): Inspect
  /** What an engine is asked of a text that this let pass unsurely; goes on after "The text". */
  question?(config: Record<string, unknown>): string
}

/** A look that would hold up the event loop; whoever asked asks again where it holds up nobody. */
export class TooSlow extends Error {
  override name = 'TooSlow'
}

/** A config that fits its schema and still cannot be used. The message goes on after the name of the member. */
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

/** A guardrail whose `prepare` reads a config that has been checked against its own schema. */
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
