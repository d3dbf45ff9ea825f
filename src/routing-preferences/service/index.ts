import type { EventBus } from '../../events'
import { orgDeleted } from '../../orgs'
import { createPropose } from '../propose'
import { preferenceRepository as rows } from '../repository'
import { createBind } from './bind'
import { createCorrections } from './corrections'
import type { PreferenceDeps } from './deps'
import { createManage } from './manage'
import { createSuggest } from './suggest'

export type { PreferenceDeps } from './deps'
export { createRoutingPreview, type RoutingPreview } from './preview'
export type PreferenceService = ReturnType<typeof createPreferences>

type Deps = PreferenceDeps & Parameters<typeof createPropose>[0] & { events: EventBus }

/** Routing preferences: made and managed by their owners, bound to keys, and learnt from corrections. */
export function createPreferences(deps: Deps) {
  deps.events.inTransaction(orgDeleted, async (tx, { data: { orgId } }) => rows.removeAll(tx, `org:${orgId}`))
  return {
    ...createManage(deps),
    bind: createBind(deps),
    corrections: createCorrections(deps),
    suggest: createSuggest({ ...deps, propose: createPropose(deps) }),
  }
}
