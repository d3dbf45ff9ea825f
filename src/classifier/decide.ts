import type { AskEngine } from './ask-engine'
import { floorOf, type Guidance, NO_GUIDANCE } from './guidance'
import { type Guess, guess, loadModel, type Model } from './model'
import { clearSignal } from './signals'

/** What is known of a request when its mode has to be chosen. */
export type Ask = {
  /** What the caller asked for; `auto` or null leaves the choice to us. */
  mode: string | null
  /** The account's own default, used when no mode was sent (contract 2.4). */
  defaultMode?: string | null
  prompt: string
  hasImages: boolean
  /** The caller's rules, floors and examples, where they have any. */
  guidance?: Guidance
  /** Aborts when the caller has left; only the engine classifier waits. */
  signal?: AbortSignal
}

/** The mode, and how it was found (contract 2.2, `routing`). */
export type Choice = {
  mode: string
  source: 'explicit' | 'rule' | 'heuristic' | 'local' | 'classifier' | 'default'
  confidence: number | null
  reasoning: string | null
  /** The engine a rule named; null leaves it to the mode. */
  engine: string | null
  /** The preference that decided, or under which it was decided; null for a rule of the key itself. */
  preferenceId: string | null
}

/** One way of choosing. It decides, or says nothing and the next one is asked (contract 22.2). */
type Stage = (ask: Ask, guidance: Guidance) => Choice | null

const FALLBACK_MODE = 'fast'

const explicit: Stage = ({ mode, defaultMode }) => {
  const asked = mode ?? defaultMode
  if (!asked || asked === 'auto') return null
  return { mode: asked, source: 'explicit', confidence: null, reasoning: null, engine: null, preferenceId: null }
}

const rule: Stage = ({ prompt }, { rules, floors }) => {
  const found = rules.find((one) => one.confidence >= floorOf(one.mode, floors) && one.matches(prompt))
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
const CERTAIN: readonly Stage[] = [explicit, rule, heuristic]

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
