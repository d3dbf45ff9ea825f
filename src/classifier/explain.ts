import type { Clock } from '../kernel/clock'
import type { Choice, ModeRequest } from './choice'
import type { Classifier } from './decide'
import type { EngineClassifier } from './engine-classifier'
import { floorOf, type Guidance } from './guidance'
import type { Stage, StageResult } from './stages'

/** The result of one stage for a prompt (contract 13). `ms` is the time that the stage took. */
export type StageReport = {
  stage: Exclude<Choice['source'], 'explicit'>
  mode: string | null
  confidence: number | null
  /** The confidence that this mode needs. */
  floor: number | null
  /** The pattern of the rule or the reason of the signal that matched. */
  matched: string | null
  ms: number
}
export type Explained = { choice: Choice; stages: StageReport[] }

type Deps = { classifier: Classifier; engine: EngineClassifier; clock: Clock }
type Said = Pick<StageReport, 'mode' | 'confidence' | 'matched'>
/** Admits the prompt to an engine, and returns it as the guardrails leave it. */
type Admit = () => Promise<string>
type Asked = Required<Pick<ModeRequest, 'prompt' | 'hasImages' | 'guidance' | 'signal' | 'answers'>>

const NOTHING: Said = { mode: null, confidence: null, matched: null }

/**
 * Reports the result of every stage and the choice. The free stages always run, so that floors can be tuned; the
 * engine classifier runs only with `admit`, and only when no other stage is sure.
 */
export function createExplain({ classifier, engine, clock }: Deps) {
  return async function explain(
    { prompt, hasImages, guidance, signal, answers }: Asked,
    admit: Admit | null,
  ): Promise<Explained> {
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
      let said = NOTHING
      const heard: ModeRequest['heard'] = (opinion) => {
        if (opinion) said = { mode: opinion.mode, confidence: opinion.confidence, matched: null }
      }
      choice = await classifier.decide({ ...request, prompt: admitted, signal, heard })
      stages.push(report('classifier', said, floors, since(from)))
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
