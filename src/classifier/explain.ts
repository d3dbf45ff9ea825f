import type { Clock } from '../kernel/clock'
import type { AskEngine } from './ask-engine'
import type { Ask, Choice } from './choice'
import type { Classifier } from './decide'
import { floorOf, type Guidance } from './guidance'
import { clearSignal } from './signals'
import { ruleFor } from './stages'

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
    const stages = [
      timed('rule', floors, () => {
        const rule = ruleFor(prompt, guidance)
        return rule ? { mode: rule.mode, confidence: rule.confidence, matched: rule.pattern } : NOTHING
      }),
      timed('heuristic', floors, () => {
        const found = clearSignal(prompt, hasImages)
        return found ? { mode: found.mode, confidence: found.confidence, matched: found.reasoning } : NOTHING
      }),
      timed('local', floors, () => ({ ...classifier.local(prompt), matched: null })),
    ]
    let choice: Choice = classifier.decide(ask)
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

  function timed(stage: StageReport['stage'], floors: Guidance['floors'], look: () => Said): StageReport {
    const from = clock.monotonic()
    return report(stage, look(), floors, since(from))
  }

  function since(from: number): number {
    return Math.round((clock.monotonic() - from) * 1_000) / 1_000
  }
}

const report = (stage: StageReport['stage'], said: Said, floors: Guidance['floors'], ms: number): StageReport => ({
  stage,
  ...said,
  floor: said.mode === null ? null : floorOf(said.mode, floors),
  ms,
})
