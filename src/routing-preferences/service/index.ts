import { createBind } from './bind'
import type { PreferenceDeps } from './deps'
import { createManage } from './manage'

export type { PreferenceDeps } from './deps'
export type PreferenceService = ReturnType<typeof createPreferences>

/** Routing preferences: made and managed by their owners, and bound to keys. */
export function createPreferences(deps: PreferenceDeps) {
  return { ...createManage(deps), bind: createBind(deps) }
}
