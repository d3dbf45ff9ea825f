import type { BindableKey, KeyBindings } from '../../accounts'
import type { ApiKey } from '../../accounts/keys/schema'
import type { Call } from '../../kernel/caller'
import { invalidInput } from '../../kernel/errors'
import { KeyId } from '../../kernel/ids'
import type { Store } from '../../kernel/store'
import type { EffectiveRouting } from './effective'
import { readFloors, readRules } from './rules'
import type { PreferenceBinding, RulesBinding } from './schema'
import type { Preferences } from './service'
import type { PreferenceRow } from './table'
import { trialOf } from './trial'

type Deps = { store: Store; bindings: KeyBindings; effective: EffectiveRouting; preferences: Preferences }

/** Binds preferences and rules to keys (contract 13). The caller must own or manage the key, else 404. */
export function createBind({ store, bindings, effective, preferences }: Deps) {
  return {
    /** `PUT /keys/{id}/routing-preference`; null unbinds. Throws 404, 400 when the preference does not fit the key. */
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

    /** `PUT /keys/{id}/routing-rules`; an empty list unbinds. Throws 404, 400 `routing_preference_invalid`. */
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

/** A team preference binds to keys of its org only, a personal one to keys that the same person made. */
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
