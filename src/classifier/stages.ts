import type { Ask, Choice } from './choice'
import { floorOf, type Guidance, NO_GUIDANCE, type Rule } from './guidance'
import { clearSignal } from './signals'

/** The mode a stage found, sure enough or not; `matched` is the pattern or signal that matched, for previews. */
export type Found = Pick<Choice, 'mode' | 'reasoning' | 'engine' | 'preferenceId'> & {
  confidence: number
  matched: string | null
}

/** A stage that costs nothing; `look` gives what it found, or null (contract 22.2). */
export type Stage = { source: 'rule' | 'heuristic' | 'local'; look(ask: Ask): Found | null }

export const guidanceOf = ({ guidance }: Ask): Guidance => guidance ?? NO_GUIDANCE

/** Whether the confidence reaches the floor of the mode. */
export const isSure = ({ mode, confidence }: Pick<Found, 'mode' | 'confidence'>, ask: Ask): boolean =>
  confidence >= floorOf(mode, guidanceOf(ask).floors)

/** Stage 0: the mode that was asked for by name. */
export function explicit({ mode, defaultMode }: Ask): Choice | null {
  const asked = mode ?? defaultMode
  if (!asked || asked === 'auto') return null
  return { mode: asked, source: 'explicit', confidence: null, reasoning: null, engine: null, preferenceId: null }
}

/**
 * Stage 1: the first rule that matches with a confidence that reaches the floor of its mode. Without one, the first
 * that matches: it decides nothing, and previews show it.
 */
export const rule: Stage = {
  source: 'rule',
  look(ask) {
    const { rules } = guidanceOf(ask)
    const found =
      rules.find((one: Rule) => isSure(one, ask) && one.matches(ask.prompt)) ??
      rules.find((one: Rule) => !isSure(one, ask) && one.matches(ask.prompt))
    if (!found) return null
    const { mode, confidence, reasoning, engine, preferenceId, pattern } = found
    return { mode, confidence, reasoning, engine, preferenceId, matched: pattern }
  },
}

export const heuristic: Stage = {
  source: 'heuristic',
  look(ask) {
    const signal = clearSignal(ask.prompt, ask.hasImages)
    return signal && { ...signal, engine: null, preferenceId: guidanceOf(ask).preferenceId, matched: signal.reasoning }
  },
}

/** Modes that can answer any prompt with text, in order of preference (contract 22.2, stage 5). */
const STAND_INS = ['fast', 'think', 'code', 'research', 'domain_analysis'] as const

/** The mode when no stage is sure: `fast`, or the next of these modes if `fast` has no engine. */
export const standIn = ({ answers }: Pick<Ask, 'answers'>): string =>
  (answers && STAND_INS.find((mode) => answers(mode))) ?? STAND_INS[0]
