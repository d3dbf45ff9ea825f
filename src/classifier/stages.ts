import type { Choice, ModeRequest } from './choice'
import { floorOf, type Guidance, NO_GUIDANCE, type Rule } from './guidance'
import { clearSignal } from './signals'

/** The mode a stage found, sure enough or not; `matched` is the pattern or signal that matched, for previews. */
export type StageResult = Pick<Choice, 'mode' | 'reasoning' | 'engine' | 'preferenceId'> & {
  confidence: number
  matched: string | null
}

/** A stage that costs nothing; `look` gives what it found, or null (contract 22.2). */
export type Stage = { source: 'rule' | 'heuristic' | 'local'; look(request: ModeRequest): StageResult | null }

export const guidanceOf = ({ guidance }: ModeRequest): Guidance => guidance ?? NO_GUIDANCE

/** Whether the confidence reaches the floor of the mode. */
export const isSure = ({ mode, confidence }: Pick<StageResult, 'mode' | 'confidence'>, request: ModeRequest): boolean =>
  confidence >= floorOf(mode, guidanceOf(request).floors)

/** Stage 0: the mode that was asked for by name. */
export function explicit({ mode, defaultMode }: ModeRequest): Choice | null {
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
  look(request) {
    const { rules } = guidanceOf(request)
    const result =
      rules.find((one: Rule) => isSure(one, request) && one.matches(request.prompt)) ??
      rules.find((one: Rule) => !isSure(one, request) && one.matches(request.prompt))
    if (!result) return null
    const { mode, confidence, reasoning, engine, preferenceId, pattern } = result
    return { mode, confidence, reasoning, engine, preferenceId, matched: pattern }
  },
}

export const heuristic: Stage = {
  source: 'heuristic',
  look(request) {
    const signal = clearSignal(request.prompt, request.hasImages)
    return (
      signal && { ...signal, engine: null, preferenceId: guidanceOf(request).preferenceId, matched: signal.reasoning }
    )
  },
}

/** Modes that can answer any prompt with text, in order of preference (contract 22.2, stage 5). */
const STAND_INS = ['fast', 'think', 'code', 'research', 'domain_analysis'] as const

/** The mode when no stage is sure: `fast`, or the next of these modes if `fast` has no engine. */
export const standIn = ({ answers }: Pick<ModeRequest, 'answers'>): string =>
  (answers && STAND_INS.find((mode) => answers(mode))) ?? STAND_INS[0]
