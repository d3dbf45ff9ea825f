import { clearSignal } from './signals'

/** What is known of a request when its mode has to be chosen. */
export type Ask = {
  /** What the caller asked for; `auto` or null leaves the choice to us. */
  mode: string | null
  /** The account's own default, used when no mode was sent (contract 2.4). */
  defaultMode?: string | null
  prompt: string
  hasImages: boolean
}

/** The mode, and how it was found (contract 2.2, `routing`). */
export type Choice = {
  mode: string
  source: 'explicit' | 'heuristic' | 'default'
  confidence: number | null
  reasoning: string | null
}

/** One way of choosing. It decides, or says nothing and the next one is asked (contract 22.2). */
type Stage = (ask: Ask) => Choice | null

/** Below this a result is not promoted and `fast` is used (contract 22.2, stage 5). */
const FLOOR = 0.85
const FALLBACK_MODE = 'fast'

const explicit: Stage = ({ mode, defaultMode }) => {
  const asked = mode ?? defaultMode
  return asked && asked !== 'auto' ? { mode: asked, source: 'explicit', confidence: null, reasoning: null } : null
}

const heuristic: Stage = ({ prompt, hasImages }) => {
  const signal = clearSignal(prompt, hasImages)
  if (!signal || signal.confidence < FLOOR) return null
  return { mode: signal.mode, source: 'heuristic', confidence: signal.confidence, reasoning: signal.reasoning }
}

const STAGES: readonly Stage[] = [explicit, heuristic]

const floor: Choice = { mode: FALLBACK_MODE, source: 'default', confidence: null, reasoning: null }

export type Classifier = ReturnType<typeof createClassifier>

export function createClassifier() {
  return {
    /** The first stage that decides, else the floor: pure, and well under a millisecond. */
    decide(ask: Ask): Choice {
      for (const stage of STAGES) {
        const choice = stage(ask)
        if (choice) return choice
      }
      return floor
    },
  }
}
