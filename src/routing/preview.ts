import type { KeyService } from '../accounts'
import type { EngineService } from '../engines'
import type { Call, Caller, OperatorCaller, OwnerScope } from '../kernel/caller'
import { invalidInput } from '../kernel/errors'
import { nextTurn } from '../kernel/loop'
import { type Range, readRange } from '../kernel/range'
import type { Reader } from '../kernel/store'
import { isBlank, shorten } from '../kernel/text'
import { accountOf, type OwnerFilter, type ResourceDeps } from '../resource'
import type { PatternCheck } from '../text'
import type { createExplain } from './classifier'
import { correctionRepository } from './corrections'
import {
  combine,
  type Effective,
  type EffectiveRouting,
  NOTHING,
  type RoutingCaller,
  readSource,
  type Source,
  trialOf,
} from './effective'
import { readRules } from './rules'
import type { NewRule, Preview, PreviewInput, Replayed, ReplayInput } from './schema'
import type { Preferences } from './service'

/** Warning of an answer or a preview: a rule names an engine that is not connected, so the mode's engine is used. */
export const engineLeft = (engine: string, mode: string): string =>
  `The routing rule names the engine "${engine}", which is not connected on this server; the engine of mode "${mode}" is used instead.`

/** The caller whose routing and guardrails the preview uses. */
type Subject = RoutingCaller & { guardrailPolicyId?: string | null }

type Deps = {
  resources: ResourceDeps
  preferences: Preferences
  keys: Pick<KeyService, 'bindings' | 'callerOf'>
  effective: EffectiveRouting
  explain: ReturnType<typeof createExplain>
  engines: Pick<EngineService, 'canonical' | 'forMode' | 'isConnected'>
  /** The prompt after the guardrails of the subject. `refusal` is the error that a call with it throws. */
  screen(ownerFilter: Subject, prompt: string, signal: AbortSignal): Promise<{ text: string; refusal: Error | null }>
  /** Applies the caller's limits, credit and guardrails to the prompt. Throws 429, 402, 400 `guardrail_blocked`. */
  admit(call: Call, prompt: string): Promise<string>
  /** The user messages in an owner's conversations, newest first. */
  promptsOf(db: Reader, owner: OwnerScope, range: Range, limit: number): Promise<{ id: string; text: string }[]>
}

/** The number of stored prompts to try, the time limit, and the length of the shown excerpt. */
const [REPLAYED, REPLAY_MS, EXCERPT] = [200, 2_000, 120]

type StoredPrompt = Replayed['changed'][number]['source'] & { text: string }
type Stored = { range: Range; limit: number; examples: Effective['examples'] }

export type RoutingPreview = ReturnType<typeof createRoutingPreview>

/** Tries a prompt on preferences and rules. Nothing is billed or stored (docs/api.md 13). */
export function createRoutingPreview({
  resources,
  keys,
  effective,
  explain,
  engines,
  screen,
  admit,
  promptsOf,
  ...modules
}: Deps) {
  const { store, orgs, clock } = resources
  return { preview, replay }

  /**
   * `POST /routing-preferences/replay`: the changes that the rules or the preference would make for the owner's stored
   * prompts: corrections, examples and conversations, newest first. Asks no engine. Throws as `preview`.
   */
  async function replay(call: Call<Caller>, input: ReplayInput, ownerFilter: OwnerFilter): Promise<Replayed> {
    const { mode, limit = REPLAYED, from, to } = input
    const range = readRange({ ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) })
    const as = await subjectOf(call, undefined, ownerFilter.owner)
    const now = combine(NOTHING, as ? await effective.of(as) : NOTHING)
    const then = await guidanceOf(call, as, input)
    const owner = await accountOf(resources, call, ownerFilter)
    const prompts = await storedPrompts(owner, { range, limit, examples: then.examples })
    const endsAt = clock.monotonic() + REPLAY_MS
    const decide = async (prompt: string, guidance: Effective) => {
      const ready = await effective.ready(guidance, prompt, trialOf(call))
      const answers = (mode: string) => engines.isConnected(engines.forMode(mode))
      return explain({ prompt, hasImages: false, guidance: ready, signal: call.signal, answers }, null)
    }
    const found: Replayed = { tested: 0, changed: [], by_mode: {}, timed_out: false }
    for (const { text, ...source } of prompts) {
      await nextTurn()
      if (clock.monotonic() > endsAt || call.signal.aborted) return { ...found, timed_out: true }
      const before = (await decide(text, now)).choice.mode
      if (mode !== undefined && before !== mode) continue
      const { choice, stages } = await decide(text, then)
      found.tested++
      const count = (name: string, side: 'before' | 'after') => {
        found.by_mode[name] ??= { before: 0, after: 0 }
        found.by_mode[name][side]++
      }
      count(before, 'before')
      count(choice.mode, 'after')
      if (before === choice.mode) continue
      const pattern = choice.source === 'rule' ? stages.find(({ stage }) => stage === 'rule')?.matched : null
      const rule = then.rules.findIndex((one) => one.pattern === pattern)
      const change = { source, excerpt: shorten(text, EXCERPT), before, after: choice.mode }
      found.changed.push({ ...change, rule: rule < 0 ? null : rule })
    }
    return found
  }

  async function storedPrompts(owner: OwnerScope, { range, limit, examples }: Stored): Promise<StoredPrompt[]> {
    const since = range.from === null ? {} : { since: range.from }
    const corrections = await correctionRepository.list(store.read, owner, { limit, ...since })
    const found = [
      ...corrections.items.flatMap(({ id, prompt, created_at }): StoredPrompt[] =>
        prompt && (range.to === null || created_at < range.to) ? [{ type: 'correction', id, text: prompt }] : [],
      ),
      ...examples.map(({ prompt }): StoredPrompt => ({ type: 'example', id: null, text: prompt })),
    ]
    const more = limit - found.length
    const prompts = more > 0 ? await promptsOf(store.read, owner, range, more) : []
    return [...found, ...prompts.map((one) => ({ type: 'conversation' as const, ...one }))].slice(0, limit)
  }

  /**
   * `POST /routing-preferences/preview`: uses the preference or rules of the request, else the routing that applies to
   * the key or the caller. For operators, the routing of the named owner, else none. Throws 400
   * `routing_preference_invalid` for the rules, 404 for a preference or key that the caller cannot see, and with
   * `engine` also what `admit` throws.
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

  /** Operators cannot ask an engine. */
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
    as: RoutingCaller | null,
    { routing_preference_id: id, rules }: Pick<PreviewInput, 'routing_preference_id' | 'rules'>,
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

/** The engine that would answer a choice, and the preview warnings about it. */
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
