import { join } from 'node:path'
import type { Clock } from '../kernel/clock'
import { type Model, PROMPT_SLOTS, promptFeaturesOf, readModel, type Shape, scoresOf, softmax } from '../text'
import calibration from './calibration.json'
import type { EngineClassifier } from './engine-classifier'
import {
  type Choice,
  explicit,
  fallbackMode,
  floorOf,
  type Guidance,
  guidanceOf,
  heuristic,
  isSure,
  type ModeRequest,
  rule,
  type Stage,
  type StageResult,
} from './stages'

/** Modes that a text alone can request. `vision` needs an image (docs/api.md 22.2). The model file uses this order. */
export const TEXT_MODES = [
  ...(['fast', 'think', 'code', 'image', 'video'] as const),
  ...(['research', 'roast', 'genui', 'data_extraction', 'domain_analysis'] as const),
]

export type TextMode = (typeof TEXT_MODES)[number]

export const isTextMode = (word: unknown): word is TextMode => TEXT_MODES.some((mode) => mode === word)

/** The most likely mode of a text, and the share of such guesses that are right. */
type Guess = { mode: TextMode; confidence: number }

export const MODEL_FILE = join(import.meta.dir, 'model.bin')

export const SHAPE: Shape = { slots: PROMPT_SLOTS, classes: TEXT_MODES.length }

/** Upper limit of the model's confidence. Equals the highest floor (docs/api.md 13). */
const SUREST = 0.99

/**
 * Parameters per predicted mode that convert the model's own confidence to the share of correct answers: a line over
 * the logarithm of the odds. Fitted on prompts of writers the model had not seen. `bun run make models` writes it.
 */
export type Calibration = Readonly<Record<string, { slope: number; offset: number }>>

/** A model and its calibration. Without one, the model's own probabilities are its confidence. */
type ModeModel = Model & { calibration?: Calibration }

/** The trained model. Throws Error when the file is missing or has another size. */
export const loadModel = (): ModeModel => ({ ...readModel(MODEL_FILE, SHAPE), calibration })

/** The logarithm of the odds of a probability. A probability of one is slightly reduced. */
export const logOddsOf = (chance: number): number => Math.log(chance / Math.max(1e-9, 1 - chance))

/** The calibrated probability. Without a calibration it is unchanged. */
export const confidenceOf = (chance: number, line = { slope: 1, offset: 0 }): number =>
  1 / (1 + Math.exp(-(line.slope * logOddsOf(chance) + line.offset)))

export type Classifier = ReturnType<typeof createClassifier>

type DecideDeps = {
  /** Stage 4. Without it, prompts that the local model is unsure of get `fast`. */
  engine?: EngineClassifier
  load?: () => ModeModel
}

type AtOnce = ModeRequest & { signal?: never }

type ResultOf = (stage: Stage) => StageResult | null

const GUESSES: ReadonlySet<Choice['source']> = new Set(['local', 'classifier'])

const fallback = (reasoning: string, request: ModeRequest): Choice => ({
  mode: fallbackMode(request),
  source: 'default',
  confidence: null,
  reasoning,
  engine: null,
  preferenceId: guidanceOf(request).preferenceId,
})

/** The result of one stage for a prompt (docs/api.md 13). `ms` is the duration of the stage. */
type StageReport = {
  stage: Exclude<Choice['source'], 'explicit'>
  mode: string | null
  confidence: number | null
  /** The confidence that this mode requires. */
  floor: number | null
  /** The pattern of the rule or the reason of the signal that matched. */
  matched: string | null
  ms: number
}
type Deps = { classifier: Classifier; engine: EngineClassifier; clock: Clock }
type Message = Pick<StageReport, 'mode' | 'confidence' | 'matched'>
/** Admits the prompt to an engine, and returns it as the guardrails leave it. */
type Admit = () => Promise<string>
type Request = Required<Pick<ModeRequest, 'prompt' | 'hasImages' | 'guidance' | 'signal' | 'answers'>>

const NOTHING: Message = { mode: null, confidence: null, matched: null }

/**
 * Reports the result of every stage and the choice. The free stages always run, so that users can tune floors. The
 * engine classifier runs only with `admit`, and only when no other stage is sure.
 */
export function createExplain({ classifier, engine, clock }: Deps) {
  return async function explain(
    { prompt, hasImages, guidance, signal, answers }: Request,
    admit: Admit | null,
  ): Promise<{ choice: Choice; stages: StageReport[] }> {
    const { floors } = guidance
    const request = { mode: 'auto', prompt, hasImages, guidance, answers }
    const seen = new Map<Stage, StageResult | null>()
    const stages = classifier.stages.map((stage) => {
      const from = clock.monotonic()
      const result = stage.look(request)
      seen.set(stage, result)
      return report(stage.source, result ?? NOTHING, floors, since(from))
    })
    let choice: Choice = classifier.choose(request, (stage) => seen.get(stage) ?? null)
    if (choice.source === 'default' && admit && engine.available()) {
      const admitted = await admit()
      const from = clock.monotonic()
      let message = NOTHING
      const heard: ModeRequest['heard'] = (opinion) => {
        if (opinion) message = { mode: opinion.mode, confidence: opinion.confidence, matched: null }
      }
      choice = await classifier.decide({ ...request, prompt: admitted, signal, heard })
      stages.push(report('classifier', message, floors, since(from)))
    }
    if (choice.source === 'default') {
      stages.push({ stage: 'default', mode: choice.mode, confidence: null, floor: null, matched: null, ms: 0 })
    }
    return { choice, stages }
  }

  function since(from: number): number {
    return Math.round((clock.monotonic() - from) * 1_000) / 1_000
  }
}

function report(stage: StageReport['stage'], message: Message, floors: Guidance['floors'], ms: number): StageReport {
  const { mode, confidence, matched } = message
  return { stage, mode, confidence, floor: mode === null ? null : floorOf(mode, floors), matched, ms }
}

/** Chooses modes by the stages of docs/api.md 22.2. Reads the model file for the first prompt that needs it. */
export function createClassifier({ engine, load = loadModel }: DecideDeps = {}) {
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
  /** In the order of docs/api.md 22.2. */
  const stages = [rule, heuristic, learnt] as const

  return {
    decide,
    /** The stages, for explaining a choice. `choose` then decides from results that the caller already has. */
    stages,
    choose,
    /** The prediction of the local model alone. */
    local,
  }

  /**
   * The choice of the first stage that is sure. Synchronous and well under a millisecond. Returns a promise only for a
   * call with a `signal` when an engine must be asked.
   */
  function decide(request: AtOnce): Choice
  function decide(request: ModeRequest): Choice | Promise<Choice>
  function decide(request: ModeRequest): Choice | Promise<Choice> {
    return choose(request, (stage) => stage.look(request))
  }

  function choose(request: AtOnce, resultOf: ResultOf): Choice
  function choose(request: ModeRequest, resultOf: ResultOf): Choice | Promise<Choice>
  function choose(request: ModeRequest, resultOf: ResultOf): Choice | Promise<Choice> {
    const requested = explicit(request)
    if (requested) return requested
    if (request.goesOn) {
      const { goesOn, signal: _, ...rest } = request
      // Without `signal`, the engine classifier does not run.
      return goingOn(goesOn.mode, choose(rest, resultOf), request)
    }
    let likely: StageResult | null = null
    for (const stage of stages) {
      likely = resultOf(stage)
      if (likely && isSure(likely, request)) return promoted(likely, stage.source, request)
    }
    if (!request.signal || !engine?.available()) return unsure(likely!, request)
    return byEngine(engine, request, request.signal)
  }

  /** The model's prediction for a text. Pure, and well under a millisecond for any text. */
  function local(prompt: string): Guess {
    model ??= load()
    const { mode, chance } = likeliest(model, prompt)
    const sure = confidenceOf(chance, model.calibration?.[mode])
    return { mode, confidence: Math.min(SUREST, Math.floor(sure * 1_000) / 1_000) }
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

/** Keeps the mode in which the run began, if the mode is known and can answer. */
function goingOn(mode: string | null, now: Choice, request: ModeRequest): Choice {
  if (mode === null || mode === now.mode || request.answers?.(mode) === false) return now
  const reasoning = 'the mode that the conversation began with'
  return { ...now, mode, source: 'classifier', confidence: null, reasoning, engine: null }
}

/** The choice of a stage that is sure. A guessed mode without a connected engine falls back to an available mode. */
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

/** The most probable mode, with the model's own uncalibrated probability. */
export function likeliest(model: Model, text: string): { mode: TextMode; chance: number } {
  const chances = softmax(scoresOf(model, promptFeaturesOf(text)).map((score) => score * model.sharpness))
  let best = 0
  for (let mode = 1; mode < chances.length; mode++) if (chances[mode]! > chances[best]!) best = mode
  return { mode: TEXT_MODES[best]!, chance: chances[best]! }
}
