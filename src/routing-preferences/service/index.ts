import type { Message } from '../../engines'
import type { EventBus } from '../../events'
import { type Call, type OwnerScope, ownerOf } from '../../kernel/caller'
import { orgDeleted } from '../../orgs'
import { createPropose } from '../propose'
import { preferenceRepository as rows } from '../repository'
import type { SuggestOrder } from '../schema-corrections'
import { createBind } from './bind'
import { createCorrections } from './corrections'
import { type PreferenceDeps, recordOn } from './deps'
import { createManage } from './manage'
import { createSuggest } from './suggest'

export type { PreferenceDeps } from './deps'
export { createRoutingPreview, type RoutingPreview } from './preview'
export type PreferenceService = ReturnType<typeof createPreferences>

type Deps = PreferenceDeps &
  Parameters<typeof createPropose>[0] & {
    events: EventBus
    /** Applies the caller's limits, credit and guardrails to the texts. Throws 429, 402, 400 `guardrail_blocked`. */
    admit(
      call: Call,
      texts: readonly string[],
      about: { place: string; messagesOf(texts: readonly string[]): Message[] },
    ): Promise<readonly string[]>
  }

/** Routing preferences: made and managed by their owners, bound to keys, and learnt from corrections. */
export function createPreferences(deps: Deps) {
  endWithOrg(deps)
  const { createFor, listOf, ...manage } = createManage(deps)
  const { listOf: correctionsOf, ...corrections } = createCorrections(deps)
  const suggestFor = createSuggest({ ...deps, propose: createPropose(deps) })
  const { get, update, remove } = manage
  return {
    ...manage,
    bind: createBind(deps),
    corrections,
    /** `POST /routing-preferences/suggest-rule`, from the caller's corrections. Throws as {@link createSuggest}. */
    suggest: (call: Call, order: SuggestOrder) =>
      suggestFor(ownerOf(call.caller), order, {
        signal: call.signal,
        admit: (prompts, messagesOf) => deps.admit(call, prompts, { place: 'corrections', messagesOf }),
      }),
    /** For operators: anyone's preferences and corrections (dx 2.10). */
    operator: {
      createFor,
      listOf,
      get,
      update,
      remove,
      correctionsOf,
      /** From words alone, because prompts of tenants go to engines only under the tenants' own guardrail policies. */
      suggestFor: (owner: OwnerScope, order: SuggestOrder, signal: AbortSignal) =>
        suggestFor(owner, order, { admit: null, signal }),
    },
  }
}

/** Deletes an org's preferences and corrections together with the org. */
function endWithOrg(deps: Deps): void {
  deps.events.inTransaction(orgDeleted, async (tx, { data: { orgId, call } }) => {
    for (const row of await rows.removeAll(tx, `org:${orgId}`)) {
      await recordOn(deps, tx, call, row, { action: 'routing_preference.deleted' })
    }
  })
}
