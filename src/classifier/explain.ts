import type { Clock } from '../kernel/clock'
import type { AskEngine } from './ask-engine'
import type { Ask, Choice } from './choice'
import type { Classifier } from './decide'
import { floorOf, type Guidance } from './guidance'
import type { Found, Stage } from './stages'

/** What one stage makes of a prompt, and what of it did (contract 13). `ms` is what looking took. */
export type StageReport = {
  stage: Exclude<Choice['source'], 'explicit'>
  mode: string | null
  confidence: number | null
  /** What the confidence has to reach for this mode. */
  floor: number | null
  /** The pattern of a rule, the reason of a signal. */
  matched: string | null
  ms: number
}
export type Explained = { choice: Choice; stages: StageReport[] }
export type Explain = ReturnType<typeof createExplain>

type Deps = { classifier: Classifier; engine: AskEngine; clock: Clock }
type Said = Pick<StageReport, 'mode' | 'confidence' | 'matched'>
/** Lets the prompt go to an engine, perhaps with parts taken out. */
type Admit = () => Promise<string>
type Asked = Required<Pick<Ask, 'prompt' | 'hasImages' | 'guidance' | 'signal' | 'answers'>>

const NOTHING: Said = { mode: null, confidence: null, matched: null }

/**
 * Every stage by itself, and what is chosen: the stages that cost nothing always, so that floors can be tuned; the
 * engine classifier only where `admit` is there to let it, and it would be asked.
 */
export function createExplain({ classifier, engine, clock }: Deps) {
  return async function explain(
    { prompt, hasImages, guidance, signal, answers }: Asked,
    admit: Admit | null,
  ): Promise<Explained> {
    const { floors } = guidance
    const ask = { mode: 'auto', prompt, hasImages, guidance, answers }
    const seen = new Map<Stage, Found | null>()
    const stages = classifier.stages.map((stage) => {
      const from = clock.monotonic()
      const found = stage.look(ask)
      seen.set(stage, found)
      return report(stage.source, found ?? NOTHING, floors, since(from))
    })
    let choice: Choice = classifier.choose(ask, (stage) => seen.get(stage) ?? null)
    if (choice.source === 'default' && admit && engine.available()) {
      const admitted = await admit()
      const from = clock.monotonic()
      choice = await classifier.decide({ ...ask, prompt: admitted, signal })
      const { mode, confidence } = choice.source === 'classifier' ? choice : NOTHING
      stages.push(report('classifier', { mode, confidence, matched: null }, floors, since(from)))
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

function report(stage: StageReport['stage'], said: Said, floors: Guidance['floors'], ms: number): StageReport {
  const { mode, confidence, matched } = said
  return { stage, mode, confidence, floor: mode === null ? null : floorOf(mode, floors), matched, ms }
}
