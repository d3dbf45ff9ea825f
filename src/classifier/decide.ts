import type { Choice, ModeRequest } from './choice'
import type { EngineClassifier } from './engine-classifier'
import { floorOf } from './guidance'
import { type Guess, guess, loadModel, type ModeModel } from './model'
import { explicit, guidanceOf, heuristic, isSure, rule, type Stage, type StageResult, standIn } from './stages'

export type Classifier = ReturnType<typeof createClassifier>

type Deps = {
  /** Stage 4; without it, prompts that the local model is unsure of get `fast`. */
  engine?: EngineClassifier
  load?: () => ModeModel
}
type AtOnce = ModeRequest & { signal?: never }
type ResultOf = (stage: Stage) => StageResult | null

/** Chooses modes by the stages of contract 22.2. The model file is read for the first prompt that needs it. */
export function createClassifier({ engine, load = loadModel }: Deps = {}) {
  let model: ModeModel | undefined
  const learnt: Stage = {
    source: 'local',
    look: (request) => ({
      ...local(request.prompt),
      reasoning: 'reads like prompts of this mode',
      engine: null,
      matched: null,
      preferenceId: guidanceOf(request).preferenceId,
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
  function decide(request: AtOnce): Choice
  function decide(request: ModeRequest): Choice | Promise<Choice>
  function decide(request: ModeRequest): Choice | Promise<Choice> {
    return choose(request, (stage) => stage.look(request))
  }

  function choose(request: AtOnce, resultOf: ResultOf): Choice
  function choose(request: ModeRequest, resultOf: ResultOf): Choice | Promise<Choice>
  function choose(request: ModeRequest, resultOf: ResultOf): Choice | Promise<Choice> {
    const asked = explicit(request)
    if (asked) return asked
    if (request.goesOn) return goingOn(request.goesOn.mode, chooseAtOnce(request, resultOf), request)
    let likely: StageResult | null = null
    for (const stage of stages) {
      likely = resultOf(stage)
      if (likely && isSure(likely, request)) return promoted(likely, stage.source, request)
    }
    if (!request.signal || !engine?.available()) return unsure(likely!, request)
    return byEngine(engine, request, request.signal)
  }

  /** The choice without the engine classifier. */
  function chooseAtOnce({ goesOn: _, signal: __, ...request }: ModeRequest, resultOf: ResultOf): Choice {
    return choose(request, resultOf)
  }

  function local(prompt: string): Guess {
    model ??= load()
    return guess(model, prompt)
  }
}

async function byEngine(engine: EngineClassifier, request: ModeRequest, signal: AbortSignal): Promise<Choice> {
  const { examples, preferenceId } = guidanceOf(request)
  const opinion = await engine.opinion(request.prompt, examples, signal, request.origin)
  request.heard?.(opinion)
  if (!opinion) return fallback('the engine that sorts prompts gave no usable answer', request)
  if (!isSure(opinion, request)) return unsure(opinion, request)
  return promoted(
    { ...opinion, reasoning: 'an engine read the prompt', engine: null, preferenceId },
    'classifier',
    request,
  )
}

/** The mode that the run began in, with all that was chosen beside it where that is the same. */
function goingOn(mode: string | null, now: Choice, request: ModeRequest): Choice {
  if (mode === null || mode === now.mode || request.answers?.(mode) === false) return now
  const reasoning = 'the mode that the conversation began with'
  return { ...now, mode, source: 'classifier', confidence: null, reasoning, engine: null }
}

const GUESSES: ReadonlySet<Choice['source']> = new Set(['local', 'classifier'])

/** The choice of a stage that is sure. A guessed mode without an engine falls back to one that can answer. */
function promoted(result: Omit<StageResult, 'matched'>, source: Choice['source'], request: ModeRequest): Choice {
  const { mode, confidence, reasoning, engine, preferenceId } = result
  if (GUESSES.has(source) && request.answers && !request.answers(mode)) {
    return fallback(`most likely ${mode} (${confidence.toFixed(2)}), but no engine for it is connected`, request)
  }
  return { mode, source, confidence, reasoning, engine, preferenceId }
}

function unsure({ mode, confidence }: Pick<StageResult, 'mode' | 'confidence'>, request: ModeRequest): Choice {
  const floor = floorOf(mode, guidanceOf(request).floors)
  const rounded = confidence.toFixed(2)
  const shown = Number(rounded) < floor ? rounded : confidence
  return fallback(`most likely ${mode}, but ${shown} is below the floor of ${floor}`, request)
}

const fallback = (reasoning: string, request: ModeRequest): Choice => ({
  mode: standIn(request),
  source: 'default',
  confidence: null,
  reasoning,
  engine: null,
  preferenceId: guidanceOf(request).preferenceId,
})
