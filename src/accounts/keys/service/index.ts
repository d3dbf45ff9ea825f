import { accessChanged } from '../../orgs/events'
import { keyRepository as rows } from '../repository'
import { createBindings } from './bind'
import { revokeKey, updateKey } from './change'
import { createKey } from './create'
import type { KeyDeps } from './deps'
import { operateKeys } from './operate'
import { endOrphans } from './orphans'
import { getKey, listKeys } from './read'
import { rotateKey } from './rotate'
import { retierKeys } from './tier'

export type { KeyDeps } from './deps'
export type KeyService = ReturnType<typeof createKeys>

/** API keys: created, listed, changed and revoked by their owners, and by operators under `operator`. */
export function createKeys(deps: KeyDeps) {
  deps.events.afterCommit(accessChanged, () => deps.lookup.forgetAll())
  endOrphans(deps)
  return {
    create: createKey(deps),
    get: getKey(deps),
    list: listKeys(deps),
    update: updateKey(deps),
    rotate: rotateKey(deps),
    revoke: revokeKey(deps),
    tiers: retierKeys(deps),
    bindings: createBindings(deps),
    brandSoulOf: rows.brandSoul,
    operator: operateKeys(deps),
  }
}
