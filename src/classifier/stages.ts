import type { Ask, Choice } from './choice'
import { floorOf, type Guidance, type Rule } from './guidance'
import { clearSignal } from './signals'

/** One way of choosing. It decides, or says nothing and the next one is asked (contract 22.2). */
type Stage = (ask: Ask, guidance: Guidance) => Choice | null

/** Modes that answer anything in words, the one for when nobody is sure enough first (contract 22.2, stage 5). */
const STAND_INS = ['fast', 'think', 'code', 'research', 'domain_analysis'] as const

/** What is used when nobody is sure enough: `fast`, or the next mode with an engine where it has none. */
export const standIn = ({ answers }: Pick<Ask, 'answers'>): string =>
  (answers && STAND_INS.find((mode) => answers(mode))) ?? STAND_INS[0]

/** The first rule, in their order, that is sure enough for its mode and matches. */
export const ruleFor = (prompt: string, { rules, floors }: Guidance): Rule | undefined =>
  rules.find((one) => one.confidence >= floorOf(one.mode, floors) && one.matches(prompt))

const explicit: Stage = ({ mode, defaultMode }) => {
  const asked = mode ?? defaultMode
  if (!asked || asked === 'auto') return null
  return { mode: asked, source: 'explicit', confidence: null, reasoning: null, engine: null, preferenceId: null }
}

const rule: Stage = ({ prompt }, guidance) => {
  const found = ruleFor(prompt, guidance)
  if (!found) return null
  const { mode, confidence, reasoning, engine, preferenceId } = found
  return { mode, source: 'rule', confidence, reasoning, engine, preferenceId }
}

const heuristic: Stage = ({ prompt, hasImages }, { floors, preferenceId }) => {
  const signal = clearSignal(prompt, hasImages)
  if (!signal || signal.confidence < floorOf(signal.mode, floors)) return null
  return { ...signal, source: 'heuristic', engine: null, preferenceId }
}

/** What is certain without looking into the model, in the order of contract 22.2. */
export const CERTAIN: readonly Stage[] = [explicit, rule, heuristic]
