import type { Guidance } from './guidance'

/** What is known of a request when its mode has to be chosen. */
export type Ask = {
  /** What the caller asked for; `auto` or null leaves the choice to us. */
  mode: string | null
  /** The account's own default, used when no mode was sent (contract 2.4). */
  defaultMode?: string | null
  prompt: string
  hasImages: boolean
  /** The caller's rules, floors and examples, where they have any. */
  guidance?: Guidance
  /** Whether an engine is connected that would answer this mode; left out, every mode has one. */
  answers?(mode: string): boolean
  /** Aborts when the caller has left; only the engine classifier waits. */
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
  /** The preference that decided, or under which it was decided; null for a rule of the key itself. */
  preferenceId: string | null
}
