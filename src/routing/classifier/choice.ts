import type { Origin } from '../../engines'
import type { Guidance } from './guidance'

/** What is known of a request when its mode has to be chosen. */
export type ModeRequest = {
  /** What the caller asked for; `auto` or null leaves the choice to the classifier. */
  mode: string | null
  /** The account's own default, used when no mode was sent (contract 2.4). */
  defaultMode?: string | null
  prompt: string
  hasImages: boolean
  /** The caller's rules, floors and examples; absent when there are none. */
  guidance?: Guidance
  /** Whether a mode has a connected engine; absent, every mode counts as having one. */
  answers?(mode: string): boolean
  /** Gets the answer of the engine classifier, also when it does not decide; for previews. */
  heard?(opinion: { mode: string; confidence: number } | null): void
  /** Whose request it is, for the engine classifier. */
  origin?: Origin
  /**
   * Set for a run that goes on with the results of its tools: the mode that it began in, null when that is not known.
   * The engine classifier is not asked again (contract 4).
   */
  goesOn?: { mode: string | null }
  /** Aborts when the caller leaves. Without it the engine classifier is not asked. */
  signal?: AbortSignal
}

/** The mode, and how it was found (contract 2.2, `routing`). */
export type Choice = {
  mode: string
  source: 'explicit' | 'rule' | 'heuristic' | 'local' | 'classifier' | 'default'
  confidence: number | null
  reasoning: string | null
  /** The engine a rule named; null leaves it to the mode. */
  engine: string | null
  /** The preference in force; null without one, and when a rule of the key itself decided. */
  preferenceId: string | null
}
