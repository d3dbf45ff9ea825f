import type { Ask, Choice } from './choice'
import { floorOf, type Guidance, NO_GUIDANCE, type Rule } from './guidance'
import { clearSignal } from './signals'

/** What a stage takes a request for, sure enough or not; `matched` is what of it did, to be shown to its owner. */
export type Found = Pick<Choice, 'mode' | 'reasoning' | 'engine' | 'preferenceId'> & {
  confidence: number
  matched: string | null
}

/** One way of choosing that costs nothing. It says what it found, or nothing (contract 22.2). */
export type Stage = { source: 'rule' | 'heuristic' | 'local'; look(ask: Ask): Found | null }

export const guidanceOf = ({ guidance }: Ask): Guidance => guidance ?? NO_GUIDANCE

/** Whether it reaches the floor of its mode. */
export const isSure = ({ mode, confidence }: Pick<Found, 'mode' | 'confidence'>, ask: Ask): boolean =>
  confidence >= floorOf(mode, guidanceOf(ask).floors)

/** Stage 0: what was asked for by name. */
export function explicit({ mode, defaultMode }: Ask): Choice | null {
  const asked = mode ?? defaultMode
  if (!asked || asked === 'auto') return null
  return { mode: asked, source: 'explicit', confidence: null, reasoning: null, engine: null, preferenceId: null }
}

/** The first rule, in their order, that is sure enough for its mode and matches. */
export const rule: Stage = {
  source: 'rule',
  look(ask) {
    const found = guidanceOf(ask).rules.find((one: Rule) => isSure(one, ask) && one.matches(ask.prompt))
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

/** Modes that answer anything in words, the one for when nobody is sure enough first (contract 22.2, stage 5). */
const STAND_INS = ['fast', 'think', 'code', 'research', 'domain_analysis'] as const

/** What is used when nobody is sure enough: `fast`, or the next mode with an engine where it has none. */
export const standIn = ({ answers }: Pick<Ask, 'answers'>): string =>
  (answers && STAND_INS.find((mode) => answers(mode))) ?? STAND_INS[0]
