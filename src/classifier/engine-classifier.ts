import { type EngineService, engineOfMode, type Origin } from '../engines'
import type { Clock } from '../kernel/clock'
import type { Guidance } from './guidance'
import { instructionsFor, type Opinion, readOpinion } from './instructions'

/** Time limit for the engine's opinion; after it the mode is `fast` (contract 22.2). */
const TIMEOUT_MS = 3_000
const MOST_TOKENS = 60

/** Modes whose engines may sort prompts, in order of preference. */
const SORTING_MODES = ['auto', 'fast']

export type EngineClassifier = {
  /** Whether an engine other than the built-in one can be asked. */
  available(): boolean
  /**
   * The engine's opinion, or null when it failed, took too long or gave no usable answer. The caller is not charged,
   * because choosing the mode is the service's own task (contract 3 has no price for it).
   * @throws the signal's reason when the caller has left.
   */
  opinion(prompt: string, examples: Guidance['examples'], signal: AbortSignal, origin?: Origin): Promise<Opinion | null>
}

/** Stage 4: asks an engine about prompts that the local model is unsure of (contract 22.2). */
export function createEngineClassifier({ engines, clock }: { engines: EngineService; clock: Clock }): EngineClassifier {
  const sorter = () => SORTING_MODES.map((mode) => engineOfMode(mode)?.id).find((id) => id && !engines.isFree(id))

  return {
    available: () => engines.hasModel() && sorter() !== undefined,

    async opinion(prompt, examples, signal, origin) {
      const id = sorter()
      if (!id) return null
      const late = new AbortController()
      const disarm = clock.after(TIMEOUT_MS, () => late.abort())
      try {
        const messages = instructionsFor(prompt, examples)
        const limits = { temperature: 0, maxOutputTokens: MOST_TOKENS, json: true as const }
        const both = AbortSignal.any([signal, late.signal])
        const { text } = await engines.answer(id, { messages, mode: 'auto', ...limits, origin, signal: both })
        return readOpinion(text)
      } catch {
        // The engines room has logged the failure. It must not fail the caller's request.
        signal.throwIfAborted()
        return null
      } finally {
        disarm()
      }
    },
  }
}
