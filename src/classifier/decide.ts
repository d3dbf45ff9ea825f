import type { Model } from '../text'
import type { AskEngine } from './ask-engine'
import type { Ask, Choice } from './choice'
import { floorOf } from './guidance'
import { type Guess, guess, loadModel } from './model'
import { explicit, type Found, guidanceOf, heuristic, isSure, rule, type Stage, standIn } from './stages'

export type Classifier = ReturnType<typeof createClassifier>

type Deps = {
  /** Stage 4; without it, prompts that the local model is unsure of get `fast`. */
  engine?: AskEngine
  load?: () => Model
}
type AtOnce = Ask & { signal?: never }
type See = (stage: Stage) => Found | null

/** Chooses modes by the stages of contract 22.2. The model file is read for the first prompt that needs it. */
export function createClassifier({ engine, load = loadModel }: Deps = {}) {
  let model: Model | undefined
  const learnt: Stage = {
    source: 'local',
    look: (ask) => ({
      ...local(ask.prompt),
      reasoning: 'reads like prompts of this mode',
      engine: null,
      matched: null,
      preferenceId: guidanceOf(ask).preferenceId,
    }),
  }
  /** In the order of contract 22.2. */
  const stages = [rule, heuristic, learnt] as const

  return {
    decide,
    /** The stages, for explaining a choice: `choose` decides from results that the caller has already got from them. */
    stages,
    choose,
    /** The guess of the local model alone. */
    local,
  }

  /**
   * The choice of the first stage that is sure. Synchronous and well under a millisecond, except that a call with
   * a `signal` gets a promise when an engine has to be asked.
   */
  function decide(ask: AtOnce): Choice
  function decide(ask: Ask): Choice | Promise<Choice>
  function decide(ask: Ask): Choice | Promise<Choice> {
    return choose(ask, (stage) => stage.look(ask))
  }

  function choose(ask: AtOnce, see: See): Choice
  function choose(ask: Ask, see: See): Choice | Promise<Choice>
  function choose(ask: Ask, see: See): Choice | Promise<Choice> {
    const asked = explicit(ask)
    if (asked) return asked
    if (ask.goesOn) return goingOn(ask.goesOn.mode, chooseAtOnce(ask, see), ask)
    let likely: Found | null = null
    for (const stage of stages) {
      likely = see(stage)
      if (likely && isSure(likely, ask)) return promoted(likely, stage.source, ask)
    }
    if (!ask.signal || !engine?.available()) return unsure(likely!, ask)
    return byEngine(engine, ask, ask.signal)
  }

  /** The choice without the engine classifier. */
  function chooseAtOnce({ goesOn: _, signal: __, ...ask }: Ask, see: See): Choice {
    return choose(ask, see)
  }

  function local(prompt: string): Guess {
    model ??= load()
    return guess(model, prompt)
  }
}

async function byEngine(engine: AskEngine, ask: Ask, signal: AbortSignal): Promise<Choice> {
  const { examples, preferenceId } = guidanceOf(ask)
  const opinion = await engine.opinion(ask.prompt, examples, signal, ask.origin)
  ask.heard?.(opinion)
  if (!opinion) return fallback('the engine that sorts prompts gave no usable answer', ask)
  if (!isSure(opinion, ask)) return unsure(opinion, ask)
  return promoted({ ...opinion, reasoning: 'an engine read the prompt', engine: null, preferenceId }, 'classifier', ask)
}

/** The mode that the run began in, with all that was chosen beside it where that is the same. */
function goingOn(mode: string | null, now: Choice, ask: Ask): Choice {
  if (mode === null || mode === now.mode || ask.answers?.(mode) === false) return now
  const reasoning = 'the mode that the conversation began with'
  return { ...now, mode, source: 'classifier', confidence: null, reasoning, engine: null }
}

const GUESSES: ReadonlySet<Choice['source']> = new Set(['local', 'classifier'])

/** The choice of a stage that is sure. A guessed mode without an engine falls back to one that can answer. */
function promoted(found: Omit<Found, 'matched'>, source: Choice['source'], ask: Ask): Choice {
  const { mode, confidence, reasoning, engine, preferenceId } = found
  if (GUESSES.has(source) && ask.answers && !ask.answers(mode)) {
    return fallback(`most likely ${mode} (${confidence.toFixed(2)}), but no engine for it is connected`, ask)
  }
  return { mode, source, confidence, reasoning, engine, preferenceId }
}

function unsure({ mode, confidence }: Pick<Found, 'mode' | 'confidence'>, ask: Ask): Choice {
  const floor = floorOf(mode, guidanceOf(ask).floors)
  const rounded = confidence.toFixed(2)
  const shown = Number(rounded) < floor ? rounded : confidence
  return fallback(`most likely ${mode}, but ${shown} is below the floor of ${floor}`, ask)
}

const fallback = (reasoning: string, ask: Ask): Choice => ({
  mode: standIn(ask),
  source: 'default',
  confidence: null,
  reasoning,
  engine: null,
  preferenceId: guidanceOf(ask).preferenceId,
})
