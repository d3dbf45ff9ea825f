import type { Clock } from '../kernel/clock'
import type { AskEngine } from './ask-engine'
import type { Choice } from './choice'
import type { Classifier } from './decide'
import type { Guidance } from './guidance'
import { clearSignal } from './signals'
import { ruleFor } from './stages'

/** What one stage makes of a prompt, and what of it did (contract 13). `ms` is what looking took. */
export type StageReport = {
  stage: Exclude<Choice['source'], 'explicit'>
  mode: string | null
  confidence: number | null
  /** The pattern of a rule, the reason of a signal. */
  matched: string | null
  ms: number
}
export type Explained = { choice: Choice; stages: StageReport[] }
export type Explain = ReturnType<typeof createExplain>

type Deps = { classifier: Classifier; engine: AskEngine; clock: Clock }
type Said = Pick<StageReport, 'mode' | 'confidence' | 'matched'>
type Asked = { prompt: string; hasImages: boolean; guidance: Guidance; signal: AbortSignal }

const NOTHING: Said = { mode: null, confidence: null, matched: null }

/**
 * Every stage by itself, and what is chosen: the stages that cost nothing always, so that floors can be tuned; the
 * engine classifier only where it is wanted and would be asked.
 */
export function createExplain({ classifier, engine, clock }: Deps) {
  return async function explain(
    { prompt, hasImages, guidance, signal }: Asked,
    wantsEngine: boolean,
  ): Promise<Explained> {
    const ask = { mode: 'auto', prompt, hasImages, guidance }
    const stages = [
      timed('rule', () => {
        const rule = ruleFor(prompt, guidance)
        return rule ? { mode: rule.mode, confidence: rule.confidence, matched: rule.pattern } : NOTHING
      }),
      timed('heuristic', () => {
        const found = clearSignal(prompt, hasImages)
        return found ? { mode: found.mode, confidence: found.confidence, matched: found.reasoning } : NOTHING
      }),
      timed('local', () => ({ ...classifier.local(prompt), matched: null })),
    ]
    let choice: Choice = classifier.decide(ask)
    if (choice.source === 'default' && wantsEngine && engine.available()) {
      const from = clock.monotonic()
      choice = await classifier.decide({ ...ask, signal })
      const { mode, confidence } = choice.source === 'classifier' ? choice : NOTHING
      stages.push({ stage: 'classifier', mode, confidence, matched: null, ms: since(from) })
    }
    if (choice.source === 'default') {
      stages.push({ stage: 'default', mode: choice.mode, confidence: null, matched: null, ms: 0 })
    }
    return { choice, stages }
  }

  function timed(stage: StageReport['stage'], look: () => Said): StageReport {
    const from = clock.monotonic()
    const { mode, confidence, matched } = look()
    return { stage, mode, confidence, matched, ms: since(from) }
  }

  function since(from: number): number {
    return Math.round((clock.monotonic() - from) * 1_000) / 1_000
  }
}
