import { type BindableKey, type KeyBindings, orgDeleted } from '../accounts'
import type { ApiKey } from '../accounts/keys/schema'
import type { AuditLog } from '../audit'
import type { EngineService, Message } from '../engines'
import type { EventBus } from '../events'
import type { Call, Caller } from '../kernel/caller'
import type { Values } from '../kernel/config'
import { invalidInput } from '../kernel/errors'
import { KeyId } from '../kernel/ids'
import type { Store } from '../kernel/store'
import { accountOf, createResource, type OwnerFilter, type Resource, type ResourceDeps } from '../resource'
import type { preferenceSettings } from './config'
import { correctionRepository, createCorrections } from './corrections'
import { type EffectiveRouting, trialOf } from './effective'
import { routingPreference } from './resource'
import { readContent, readFloors, readRules } from './rules'
import type { PreferenceBinding, RulesBinding, SuggestInput } from './schema'
import { createSuggest } from './suggest'
import type { PreferenceRow } from './table'

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

/** Routing preferences: creating and managing them, binding them to keys, and suggesting rules from corrections. */
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
  const suggestFor = createSuggest({ store, clock, engines })
  return {
    preferences,
    bind: createBind({ store, bindings, effective, preferences }),
    corrections: createCorrections({ resources, audit }),

    /**
     * `POST /routing-preferences/suggest-rule`, from the owner's corrections. Operators get suggestions from shared
     * words only, because tenants' prompts go to engines only under the tenants' own guardrail policies. Throws as
     * {@link createSuggest}.
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

type BindDeps = { store: Store; bindings: KeyBindings; effective: EffectiveRouting; preferences: Preferences }

/** Binds preferences and rules to keys (docs/api.md 13). The caller must own or manage the key, else 404. */
function createBind({ store, bindings, effective, preferences }: BindDeps) {
  return {
    /** `PUT /keys/{id}/routing-preference`. Null unbinds. Throws 404, and 400 if the preference is not for the key. */
    preference: (call: Call, id: string, { routing_preference_id: wanted }: PreferenceBinding): Promise<ApiKey> =>
      store.write(async (tx) => {
        tx.afterCommit(() => forget(id))
        return bindings.set(tx, call, id, async (key) => {
          if (wanted === null) return { routing_preference_id: null }
          const row = await preferences.findLocked(tx, call.caller, wanted)
          assertFits(row, key)
          return { routing_preference_id: row.id }
        })
      }),

    /** `PUT /keys/{id}/routing-rules`. An empty list unbinds. Throws 404, 400 `routing_preference_invalid`. */
    async rules(call: Call, id: string, { rules, confidence_floor_overrides: floors }: RulesBinding): Promise<ApiKey> {
      await bindings.reach(store.read, call, id)
      const read = {
        rules: await readRules(rules, effective.patternChecks(trialOf(call))),
        floors: readFloors(floors ?? {}),
      }
      return store.write(async (tx) => {
        tx.afterCommit(() => forget(id))
        return bindings.set(tx, call, id, () => ({
          routing_rules: read.rules.length ? read.rules : null,
          routing_floors: Object.keys(read.floors).length ? read.floors : null,
        }))
      })
    },
  }

  function forget(id: string): void {
    if (KeyId.is(id)) effective.forgetKey(id)
  }
}

/** A team preference can only be bound to keys of its org, a personal one only to keys that the same person created. */
function assertFits({ org_id, user_id }: PreferenceRow, key: BindableKey): void {
  if (org_id !== null && key.orgId !== org_id) {
    throw invalidInput(
      'routing_preference_id',
      '"routing_preference_id" is a team preference, and those can only be bound to keys of their organization. Create a personal one with POST /routing-preferences.',
    )
  }
  if (org_id === null && key.userId !== user_id) {
    throw invalidInput(
      'routing_preference_id',
      '"routing_preference_id" is a personal preference, but a colleague created this key. Create one of scope "team".',
    )
  }
}
