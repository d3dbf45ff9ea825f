import { type KeyBindings, orgDeleted } from '../../accounts'
import type { AuditLog } from '../../audit'
import type { EngineService, Message } from '../../engines'
import type { EventBus } from '../../events'
import type { Call, Caller } from '../../kernel/caller'
import type { Values } from '../../kernel/config'
import { accountOf, createResource, type OwnerFilter, type Resource, type ResourceDeps } from '../../resource'
import type { preferenceSettings } from './config'
import type { EffectiveRouting } from './effective'
import { createPropose } from './propose'
import { correctionRepository } from './repository-corrections'
import { routingPreference } from './resource'
import { readContent } from './rules'
import type { SuggestInput } from './schema-corrections'
import { createBind } from './service-bind'
import { createCorrections } from './service-corrections'
import { createSuggest } from './service-suggest'
import { trialOf } from './trial'

export { createRoutingPreview, type RoutingPreview } from './service-preview'
export type PreferenceService = ReturnType<typeof createPreferences>
export type Preferences = Resource<typeof routingPreference>

type Deps = {
  engines: EngineService
  resources: ResourceDeps
  bindings: KeyBindings
  audit: AuditLog
  events: EventBus
  effective: EffectiveRouting
  settings: Values<typeof preferenceSettings>
  /** Applies the caller's limits, credit and guardrails to the texts. Throws 429, 402, 400 `guardrail_blocked`. */
  admit(
    call: Call,
    texts: readonly string[],
    about: { place: string; messagesOf(texts: readonly string[]): Message[] },
  ): Promise<readonly string[]>
}

/** Routing preferences: made and managed by their owners, bound to keys, and learnt from corrections. */
export function createPreferences({ resources, bindings, audit, events, effective, settings, admit, engines }: Deps) {
  const { store, clock } = resources
  events.inTransaction(orgDeleted, (tx, { scope }) => correctionRepository.removeAll(tx, scope))
  const preferences = createResource(resources, routingPreference, {
    max: settings.maxPreferences,
    read: async ({ name, description, is_default, ...content }, call) => ({
      name,
      description,
      is_default,
      ...(await readContent({ name, description, ...content }, effective.patternChecks(trialOf(call)))),
    }),
    changed: (tx, { row: { id, owner }, unbound }) =>
      tx.afterCommit(() => {
        effective.forgetPreference(id, owner)
        unbound.forEach(effective.forgetKey)
      }),
  })
  const suggestFor = createSuggest({ store, clock, propose: createPropose({ engines, clock }) })
  return {
    preferences,
    bind: createBind({ store, bindings, effective, preferences }),
    corrections: createCorrections({ resources, audit }),

    /**
     * `POST /routing-preferences/suggest-rule`, from the owner's corrections. For operators from words alone: prompts of
     * tenants go to engines only under the tenants' own guardrail policies. Throws as {@link createSuggest}.
     */
    async suggest(call: Call<Caller>, input: SuggestInput, ownerFilter: OwnerFilter) {
      const isOperator = call.caller.type === 'operator'
      return suggestFor(await accountOf(resources, call, ownerFilter), input, {
        signal: call.signal,
        admit: isOperator
          ? null
          : (prompts, messagesOf) => admit(call as Call, prompts, { place: 'corrections', messagesOf }),
      })
    },
  }
}
