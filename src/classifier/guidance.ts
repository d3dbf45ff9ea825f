/** One routing rule as the classifier asks it (contract 22.2, stage 1). Its owner says what matching means. */
export type Rule = {
  mode: string
  /** The engine the rule names, or null for the mode's own. */
  engine: string | null
  /** Clamped by its owner. */
  confidence: number
  /** For `routing.reasoning`. */
  reasoning: string | null
  /** The preference it belongs to; null for a rule of the key itself. */
  preferenceId: string | null
  /** As its owner wrote it, to be shown to its owner. */
  pattern: string
  matches(prompt: string): boolean
}

/** What a caller has said about how prompts shall be read (contract 13). */
export type Guidance = {
  /** The preference that floors and examples are of, where there is one. */
  preferenceId: string | null
  /** In the order of asking. */
  rules: readonly Rule[]
  /** Floors by mode that replace the global one. */
  floors: Readonly<Record<string, number>>
  /** Few-shot items of the engine classifier. */
  examples: readonly { prompt: string; expected_mode: string }[]
}

/** The guidance of a caller who gave none. */
export const NO_GUIDANCE: Guidance = { preferenceId: null, rules: [], floors: {}, examples: [] }

/** Below this a result is not promoted and `fast` is used (contract 22.2, stage 5). */
const FLOOR = 0.85
const LOWEST = 0.5
const HIGHEST = 0.99

/** The floor of a mode: the override clamped to [0.5, 0.99], else the global one. */
export function floorOf(mode: string, floors: Guidance['floors']): number {
  const own = Object.hasOwn(floors, mode) ? floors[mode]! : Number.NaN
  return Number.isNaN(own) ? FLOOR : Math.min(HIGHEST, Math.max(LOWEST, own))
}
