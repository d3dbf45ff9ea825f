import type { Clock } from '../kernel/clock'
import type { AskEngine } from './ask-engine'
import type { Ask, Choice } from './choice'
import type { Classifier } from './decide'
import { floorOf, type Guidance } from './guidance'
import type { Found, Stage } from './stages'

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

type Deps = { classifier: Classifier; engine: AskEngine; clock: Clock }
type Said = Pick<StageReport, 'mode' | 'confidence' | 'matched'>
/** Admits the prompt to an engine, and returns it as the guardrails leave it. */
type Admit = () => Promise<string>
type Asked = Required<Pick<Ask, 'prompt' | 'hasImages' | 'guidance' | 'signal' | 'answers'>>

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
      let said = NOTHING
      const heard: Ask['heard'] = (opinion) => {
        if (opinion) said = { mode: opinion.mode, confidence: opinion.confidence, matched: null }
      }
      choice = await classifier.decide({ ...ask, prompt: admitted, signal, heard })
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
