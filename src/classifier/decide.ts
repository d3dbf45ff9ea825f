import type { Model } from '../kernel/text-model/model'
import type { AskEngine } from './ask-engine'
import type { Ask, Choice } from './choice'
import { floorOf, type Guidance, NO_GUIDANCE } from './guidance'
import { type Guess, guess, loadModel } from './model'
import { CERTAIN, FALLBACK_MODE } from './stages'

export type Classifier = ReturnType<typeof createClassifier>

type Deps = {
  /** Stage 4; without it what the local model is unsure of goes to `fast`. */
  engine?: AskEngine
  load?: () => Model
}

/** The model file is read with the first prompt that needs it. */
export function createClassifier({ engine, load = loadModel }: Deps = {}) {
  let model: Model | undefined

  return {
    decide,
    /** What the local model alone takes a prompt for. */
    local,
  }

  /**
   * The first stage that decides. At once and in well under a millisecond, but for a promise when an engine
   * has to be asked: only a caller that hands in a `signal` is ready to wait for one.
   */
  function decide(ask: Ask & { signal?: never }): Choice
  function decide(ask: Ask): Choice | Promise<Choice>
  function decide(ask: Ask): Choice | Promise<Choice> {
    const guidance = ask.guidance ?? NO_GUIDANCE
    for (const stage of CERTAIN) {
      const choice = stage(ask, guidance)
      if (choice) return choice
    }
    const likely = local(ask.prompt)
    if (likely.confidence >= floorOf(likely.mode, guidance.floors)) {
      const { preferenceId } = guidance
      return { ...likely, source: 'local', reasoning: 'reads like prompts of this mode', engine: null, preferenceId }
    }
    if (!ask.signal || !engine?.available()) return unsure(likely, guidance)
    return asked(engine, ask.prompt, guidance, ask.signal)
  }

  function local(prompt: string): Guess {
    model ??= load()
    return guess(model, prompt)
  }
}

async function asked(engine: AskEngine, prompt: string, guidance: Guidance, signal: AbortSignal): Promise<Choice> {
  const opinion = await engine.opinion(prompt, guidance.examples, signal)
  const { preferenceId } = guidance
  if (!opinion) return fallback('the engine that sorts prompts gave no usable answer', preferenceId)
  if (opinion.confidence < floorOf(opinion.mode, guidance.floors)) return unsure(opinion, guidance)
  return { ...opinion, source: 'classifier', reasoning: 'an engine read the prompt', engine: null, preferenceId }
}

function unsure({ mode, confidence }: Guess, { floors, preferenceId }: Guidance): Choice {
  const floor = floorOf(mode, floors)
  return fallback(`most likely ${mode}, but ${confidence.toFixed(2)} is below the floor of ${floor}`, preferenceId)
}

const fallback = (reasoning: string, preferenceId: string | null): Choice => ({
  mode: FALLBACK_MODE,
  source: 'default',
  confidence: null,
  reasoning,
  engine: null,
  preferenceId,
})
