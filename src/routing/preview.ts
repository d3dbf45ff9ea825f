import type { KeyService } from '../accounts'
import type { EngineService } from '../engines'
import type { Call, Caller, OperatorCaller } from '../kernel/caller'
import { invalidInput } from '../kernel/errors'
import { isBlank } from '../kernel/text'
import type { OwnerFilter, ResourceDeps } from '../resource'
import type { PatternCheck } from '../text'
import type { createExplain } from './classifier'
import {
  type Asker,
  combine,
  type Effective,
  type EffectiveRouting,
  NOTHING,
  readSource,
  type Source,
} from './effective'
import { readRules, trialOf } from './rules'
import type { NewRule, Preview, PreviewInput } from './schema'
import type { Preferences } from './service'

/** Warning of an answer or a preview: the engine that a rule names is not connected, so the mode's own is used. */
export const engineLeft = (engine: string, mode: string): string =>
  `The routing rule names the engine "${engine}", which is not connected on this server; the engine of mode "${mode}" is used instead.`

/** Whose preview it is: their routing and their guardrails. */
type Subject = Asker & { guardrailPolicyId?: string | null }

type Deps = {
  resources: ResourceDeps
  preferences: Preferences
  keys: Pick<KeyService, 'bindings' | 'callerOf'>
  effective: EffectiveRouting
  explain: ReturnType<typeof createExplain>
  engines: Pick<EngineService, 'canonical' | 'forMode' | 'isConnected'>
  /** The prompt as the guardrails in force let it in. `refusal` is what a call with it throws. */
  screen(ownerFilter: Subject, prompt: string, signal: AbortSignal): Promise<{ text: string; refusal: Error | null }>
  /** Applies the caller's limits, credit and guardrails to the prompt. Throws 429, 402, 400 `guardrail_blocked`. */
  admit(call: Call, prompt: string): Promise<string>
}
export type RoutingPreview = ReturnType<typeof createRoutingPreview>

/** Tries a prompt on preferences and rules; nothing is billed or stored (contract 13). */
export function createRoutingPreview({
  resources,
  keys,
  effective,
  explain,
  engines,
  screen,
  admit,
  ...modules
}: Deps) {
  const { store, orgs } = resources
  return { preview }

  /**
   * `POST /routing-preferences/preview`: with the preference or rules in the order, else with the routing in force for
   * the key or the caller; for operators that of the owner they name, else none. Throws 400 `routing_preference_invalid`
   * for the rules, 404 for a preference or a key that the caller does not see, and with `engine` also what `admit` throws.
   */
  async function preview(
    call: Call<Caller>,
    { key_id, ...input }: PreviewInput,
    { owner }: OwnerFilter,
  ): Promise<Preview> {
    return previewFor(call, await subjectOf(call, key_id, owner), input)
  }

  async function subjectOf(call: Call<Caller>, keyId?: string, owner?: string): Promise<Subject | null> {
    if (!isTenants(call)) {
      if (keyId !== undefined) return keys.callerOf(call as Call<OperatorCaller>, keyId)
      if (owner === undefined) return null
      const named = await orgs.findOwner(store.read, owner)
      return { type: 'session', userId: orgs.actingUserOf(named), orgId: named.orgId }
    }
    if (keyId === undefined) return call.caller
    const { id, ...ofKey } = await keys.bindings.reach(store.read, call, keyId)
    const { guardrail_policy_id: guardrailPolicyId } = (await keys.bindings.of(store.read, id))!
    return { type: 'key', keyId: id, guardrailPolicyId, ...ofKey }
  }

  /** For operators no engine is asked. */
  async function previewFor(call: Call<Caller>, as: Subject | null, input: PreviewInput): Promise<Preview> {
    const { attachments = [], engine = false } = input
    if (isBlank(input.prompt)) throw invalidInput('prompt', '"prompt" is blank.')
    const { text: prompt, refusal } = as
      ? await screen(as, input.prompt, call.signal)
      : { text: input.prompt, refusal: null }
    const guidance = await effective.ready(await guidanceOf(call, as, input), prompt, trialOf(call))
    const answers = (mode: string) => engines.isConnected(engines.forMode(mode))
    const request = { prompt, hasImages: attachments.length > 0, guidance, signal: call.signal, answers }
    const admitted = refusal ? () => Promise.reject(refusal) : (by: Call) => admit(by, prompt)
    const asker = engine && isTenants(call) ? () => admitted(call) : null
    const { choice, stages } = await explain(request, asker)
    const used = engineUsed(engines, choice)
    const screened = refusal ? [REFUSED] : prompt === input.prompt ? [] : [REDACTED]
    const warnings = [...guidance.warnings, ...used.warnings, ...screened]
    return {
      resolved_mode: choice.mode,
      confidence: choice.confidence,
      source: choice.source === 'explicit' ? 'default' : choice.source,
      engine: used.engine,
      reasoning: choice.reasoning,
      stages,
      ...(warnings.length ? { warnings } : {}),
    }
  }

  async function guidanceOf(
    call: Call<Caller>,
    as: Asker | null,
    { routing_preference_id: id, rules }: PreviewInput,
  ): Promise<Effective> {
    const row = id ? await modules.preferences.find(store.read, call.caller, id) : null
    const sent = await sourceOf(rules ?? [], effective.patternChecks(trialOf(call)))
    if (row) return combine(sent, await effective.readPreference(row))
    return combine(sent, as ? await effective.of(as) : NOTHING)
  }
}

const REFUSED =
  'A guardrail blocks this prompt: a call with it is refused with guardrail_blocked before a mode is chosen. The stages show what would be chosen without that guardrail.'
const REDACTED =
  'A guardrail removes parts of this prompt before a mode is chosen. As in a call, the stages saw the rest.'

const isTenants = (call: Call<Caller>): call is Call => call.caller.type !== 'operator'

const sourceOf = async (rules: readonly NewRule[], check: PatternCheck): Promise<Source> =>
  rules.length
    ? readSource({
        preferenceId: null,
        name: 'the rules sent',
        rules: await readRules(rules, check),
        floors: {},
        examples: [],
      })
    : NOTHING

/** The engine that would answer a choice, and what is to be said of it in `warnings` of a preview. */
function engineUsed(
  engines: Pick<EngineService, 'canonical' | 'forMode' | 'isConnected'>,
  { mode, engine }: { mode: string; engine: string | null },
): { engine: string; warnings: string[] } {
  const own = engines.forMode(mode)
  const wanted = engines.canonical(engine ?? own)
  if (engines.isConnected(wanted)) return { engine: wanted, warnings: [] }
  const warnings = wanted === own ? [] : [engineLeft(wanted, mode)]
  if (!engines.isConnected(own))
    warnings.push(`No engine for mode "${mode}" is connected on this server: a request gets 503 engine_unavailable.`)
  return { engine: own, warnings }
}
