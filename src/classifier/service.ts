import type { Choice, Question } from './schema'
import { clearSignal } from './signals'

type Stage = (question: Question) => Choice | null

export type Classifier = ReturnType<typeof createClassifier>

/** The stages of contract 22.2, each a pure function of the question; the first that knows decides. */
const STAGES: readonly Stage[] = [
  ({ mode }) => (mode === 'auto' ? null : { mode, source: 'explicit', confidence: null, reasoning: null }),
  ({ prompt, hasImages }) => clearSignal(prompt, hasImages),
]

/** Nothing was sure enough to be promoted over the quick mode. */
const FLOOR: Choice = { mode: 'fast', source: 'default', confidence: null, reasoning: null }

export function createClassifier() {
  return {
    /** Which mode a prompt wants, and how that was found. */
    decide(question: Question): Choice {
      for (const stage of STAGES) {
        const choice = stage(question)
        if (choice) return choice
      }
      return FLOOR
    },
  }
}
