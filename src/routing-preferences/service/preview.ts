import type { EngineService } from '../../engines'
import type { Call } from '../../kernel/caller'
import { combine, type Effective, NOTHING, readSource, type Source } from '../guidance'
import { readRules, type Vet } from '../rules'
import type { NewRule } from '../schema'
import type { Preview, PreviewOrder } from '../schema-preview'
import { type PreferenceDeps, seen } from './deps'

/** How the classifier, which stands in a later room, says what it makes of a prompt. */
type Explain = (
  asked: { prompt: string; hasImages: boolean; guidance: Effective; signal: AbortSignal },
  wantsEngine: boolean,
) => Promise<{
  choice: Pick<Preview, 'confidence' | 'reasoning'> & {
    mode: string
    source: Preview['source'] | 'explicit'
    engine: string | null
  }
  stages: Preview['stages']
}>

type Deps = Omit<PreferenceDeps, 'audit' | 'clock' | 'bindings'> & {
  explain: Explain
  engines: Pick<EngineService, 'canonical' | 'forMode'>
}
export type RoutingPreview = ReturnType<typeof createRoutingPreview>

/** Tries a prompt on preferences and rules; nothing is billed or stored (contract 13). */
export function createRoutingPreview({ store, orgs, effective, explain, engines }: Deps) {
  /**
   * `POST /routing-preferences/preview`: under a preference or rules that are named, else under what is in force for
   * the caller. Throws 400 `routing_preference_invalid` for the rules, 404 for a preference that is not theirs.
   */
  return async function preview(call: Call, order: PreviewOrder): Promise<Preview> {
    const { prompt, attachments = [], engine = false } = order
    const guidance = await effective.ready(await guidanceOf(call, order), prompt, call.signal)
    const asked = { prompt, hasImages: attachments.length > 0, guidance, signal: call.signal }
    const { choice, stages } = await explain(asked, engine)
    return {
      resolved_mode: choice.mode,
      confidence: choice.confidence,
      source: choice.source === 'explicit' ? 'default' : choice.source,
      engine: engines.canonical(choice.engine ?? engines.forMode(choice.mode)),
      reasoning: choice.reasoning,
      stages,
      ...(guidance.warnings.length ? { warnings: [...guidance.warnings] } : {}),
    }
  }

  async function guidanceOf(
    { caller, signal }: Call,
    { routing_preference_id: id, rules }: PreviewOrder,
  ): Promise<Effective> {
    if (!id && !rules) return effective.of(caller)
    const row = id ? await seen({ orgs }, store.read, caller, id) : null
    const vet = (pattern: string) => effective.attackOn(pattern, signal)
    return combine(await sourceOf(rules ?? [], vet), row ? await effective.readPreference(row) : NOTHING)
  }
}

const sourceOf = async (rules: readonly NewRule[], vet: Vet): Promise<Source> =>
  rules.length
    ? readSource({
        preferenceId: null,
        name: 'the rules sent',
        rules: await readRules(rules, vet),
        floors: {},
        examples: [],
      })
    : NOTHING
