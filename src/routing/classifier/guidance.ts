import { DEFAULT_FLOOR } from '../routing-preferences/schema'

/** A routing rule for stage 1 (contract 22.2), provided by the routing-preferences room. */
export type Rule = {
  mode: string
  /** The engine the rule names, or null for the mode's own. */
  engine: string | null
  /** Already clamped to [0.5, 0.99]. */
  confidence: number
  /** For `routing.reasoning`. */
  reasoning: string | null
  /** The preference it belongs to; null for a rule of the key itself. */
  preferenceId: string | null
  /** The pattern as its owner wrote it, shown in previews. */
  pattern: string
  matches(prompt: string): boolean
}

/** A caller's routing rules, floors and examples (contract 13). */
export type Guidance = {
  /** The preference in force; null without one. */
  preferenceId: string | null
  /** In the order in which they are tried. */
  rules: readonly Rule[]
  /** Floors by mode that replace the global one. */
  floors: Readonly<Record<string, number>>
  /** Few-shot examples for the engine classifier. */
  examples: readonly { prompt: string; expected_mode: string }[]
}

/** The guidance of a caller who gave none. */
export const NO_GUIDANCE: Guidance = { preferenceId: null, rules: [], floors: {}, examples: [] }

const LOWEST = 0.5
const HIGHEST = 0.99

/** The floor of a mode: the override clamped to [0.5, 0.99], else the global one. */
export function floorOf(mode: string, floors: Guidance['floors']): number {
  const own = Object.hasOwn(floors, mode) ? floors[mode]! : Number.NaN
  return Number.isNaN(own) ? DEFAULT_FLOOR : Math.min(HIGHEST, Math.max(LOWEST, own))
}
