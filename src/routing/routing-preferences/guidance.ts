import { sha256Hex } from '../../kernel/crypto'
import { nextTurn } from '../../kernel/turns'
import { compilePattern, PatternRefused, type RulePattern } from '../../text'
import type { Floors, PreferenceId, RoutingExample, RoutingRule } from './schema'

/** A stored rule with its pattern compiled. */
export type ReadyRule = {
  mode: string
  engine: string | null
  confidence: number
  reasoning: string
  /** Null for a rule of the key itself. */
  preferenceId: PreferenceId | null
  pattern: string
  /** Most matching steps per character of a prompt; infinite for a pattern that must not run on the event loop. */
  steps: number
  matches(prompt: string): boolean
}

/** Rules, floors and examples that come from one place: a key, or a preference. */
export type Source = {
  preferenceId: PreferenceId | null
  rules: readonly ReadyRule[]
  floors: Floors
  examples: readonly RoutingExample[]
  /** Sentences about rules that could not be used. */
  warnings: readonly string[]
  fingerprint: string
  /** Estimated bytes in memory. */
  weight: number
}

/**
 * The rules, floors and examples in force for a caller in `auto`, in the order of contract 13; the classifier's
 * guidance. `fingerprint` changes with any of them, and with the preference's id, because answers name it; it is empty
 * when nothing is configured.
 */
export type Effective = Omit<Source, 'preferenceId' | 'weight'> & {
  /** The preference in force: the bound one, else the default of the owner's scope. */
  preferenceId: PreferenceId | null
  /** Most matching steps of all rules together per character of a prompt. */
  steps: number
}

export const NOTHING: Source = {
  preferenceId: null,
  rules: [],
  floors: {},
  examples: [],
  warnings: [],
  fingerprint: '',
  weight: 0,
}

export type Stored = {
  preferenceId: PreferenceId | null
  /** What warnings call it. */
  name: string
  rules: readonly RoutingRule[]
  floors: Floors
  examples: readonly RoutingExample[]
}

/** Compiles stored rules. A rule that this version no longer accepts is skipped with a warning (K16). */
export async function readSource(stored: Stored): Promise<Source> {
  const { preferenceId, name, rules, floors, examples } = stored
  let weight = BYTES_A_CHAR * JSON.stringify([rules, examples]).length
  const ready: ReadyRule[] = []
  const warnings: string[] = []
  for (const [index, rule] of rules.entries()) {
    const pattern = readStored(rule.pattern)
    weight += BASE_BYTES + (pattern?.weight ?? 0)
    if (pattern) ready.push(toReady(rule, pattern, preferenceId, `rule ${index + 1} of ${name}`))
    else warnings.push(`Rule ${index + 1} of ${name} was skipped: its pattern no longer works here. Save it again.`)
    await nextTurn()
  }
  return { preferenceId, rules: ready, floors, examples, warnings, fingerprint: fingerprintOf(stored), weight }
}

/** Estimated bytes of a rule besides its pattern, and of a stored character. */
const BASE_BYTES = 1_024
const BYTES_A_CHAR = 8

/** Hash of the preference's id and all that routes; empty when nothing is configured. */
export function fingerprintOf({ preferenceId, rules, floors, examples }: Stored): string {
  const isNothing = preferenceId === null && !rules.length && !examples.length && !Object.keys(floors).length
  return isNothing ? '' : sha256Hex(JSON.stringify([preferenceId, rules, Object.entries(floors).sort(), examples]))
}

function readStored(source: string): RulePattern | null {
  try {
    return compilePattern(source)
  } catch (error) {
    if (error instanceof PatternRefused) return null
    throw error
  }
}

const toReady = (
  { pattern, target_mode, target_engine, confidence, description }: RoutingRule,
  { steps, test }: RulePattern,
  preferenceId: PreferenceId | null,
  name: string,
): ReadyRule => ({
  mode: target_mode,
  engine: target_engine,
  confidence,
  preferenceId,
  pattern,
  steps,
  reasoning: description ?? name,
  matches: test,
})

/**
 * The key's own rules first, then those of the preference in force; a floor of the key replaces the preference's.
 * Examples come from the preference (contract 22.2, stage 4).
 */
export function combine(own: Source, active: Omit<Source, 'weight'>): Effective {
  const rules = [...own.rules, ...active.rules]
  return {
    preferenceId: active.preferenceId,
    rules,
    floors: { ...active.floors, ...own.floors },
    examples: active.examples,
    warnings: [...own.warnings, ...active.warnings],
    fingerprint: own.fingerprint || active.fingerprint ? `${own.fingerprint}:${active.fingerprint}` : '',
    steps: rules.reduce((sum, { steps }) => sum + steps, 0),
  }
}
