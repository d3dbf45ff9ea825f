import type { Model } from '../kernel/text-model/model'
import type { AskEngine } from './ask-engine'
import type { Ask, Choice } from './choice'
import { floorOf, NO_GUIDANCE } from './guidance'
import { type Guess, guess, loadModel } from './model'
import { CERTAIN, standIn } from './stages'

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
      return promoted(likely, { source: 'local', reasoning: 'reads like prompts of this mode' }, ask)
    }
    if (!ask.signal || !engine?.available()) return unsure(likely, ask)
    return asked(engine, ask, ask.signal)
  }

  function local(prompt: string): Guess {
    model ??= load()
    return guess(model, prompt)
  }
}

async function asked(engine: AskEngine, ask: Ask, signal: AbortSignal): Promise<Choice> {
  const { floors, examples } = ask.guidance ?? NO_GUIDANCE
  const opinion = await engine.opinion(ask.prompt, examples, signal)
  if (!opinion) return fallback('the engine that sorts prompts gave no usable answer', ask)
  if (opinion.confidence < floorOf(opinion.mode, floors)) return unsure(opinion, ask)
  return promoted(opinion, { source: 'classifier', reasoning: 'an engine read the prompt' }, ask)
}

/** A guess that is sure enough. What was only guessed is no reason to refuse a prompt that another mode can answer. */
function promoted(guess: Guess, found: Pick<Choice, 'source' | 'reasoning'>, ask: Ask): Choice {
  const { mode, confidence } = guess
  if (ask.answers && !ask.answers(mode)) {
    return fallback(`most likely ${mode} (${confidence.toFixed(2)}), but no engine for it is connected`, ask)
  }
  return { mode, confidence, ...found, engine: null, preferenceId: preferenceOf(ask) }
}

function unsure({ mode, confidence }: Guess, ask: Ask): Choice {
  const floor = floorOf(mode, (ask.guidance ?? NO_GUIDANCE).floors)
  return fallback(`most likely ${mode}, but ${confidence.toFixed(2)} is below the floor of ${floor}`, ask)
}

const fallback = (reasoning: string, ask: Ask): Choice => ({
  mode: standIn(ask),
  source: 'default',
  confidence: null,
  reasoning,
  engine: null,
  preferenceId: preferenceOf(ask),
})

const preferenceOf = ({ guidance }: Ask): string | null => (guidance ?? NO_GUIDANCE).preferenceId
