import type { OwnerScope, TenantCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { createReadCache, freshFor } from '../kernel/read-cache'
import type { Store } from '../kernel/store'
import { compilePolicy, type Policy } from './policy'
import { policyRepository as rows } from './repository'
import type { PolicyRow } from './table'

type Deps = { store: Store; clock: Clock }
export type Resolve = ReturnType<typeof createResolve>

const REMEMBERED = 20_000

/** A policy, or that there is none: the absence is remembered too, since most callers have none. */
type Known = { policy: Policy | null }

/**
 * Which policy a request is under (contract 12): the one bound to its key, else the default of its team or of
 * its person, else none. Remembered, so that it costs nothing where nothing is configured.
 */
export function createResolve({ store, clock }: Deps) {
  const options = { max: REMEMBERED, maxAgeMs: freshFor(store.dialect), clock }
  const bound = createReadCache<string, Known>(options)
  const defaults = createReadCache<OwnerScope, Known>(options)

  return {
    /** At once when it is remembered. */
    policyOf(caller: TenantCaller): Policy | null | Promise<Policy | null> {
      const id = caller.type === 'key' ? caller.guardrailPolicyId : null
      if (id === null) return defaultOf(caller)
      const known = bound.get(id, async () => toKnown(await rows.byId(store.read, id)))
      // A binding outlives its policy by a moment on other nodes; then there is none.
      return known instanceof Promise
        ? known.then((found) => found?.policy ?? defaultOf(caller))
        : (known.policy ?? defaultOf(caller))
    },

    /** After the commit that changed it. */
    forget({ id, owner }: Pick<PolicyRow, 'id' | 'owner'>): void {
      bound.forget(id)
      defaults.forget(owner)
    },
  }

  function defaultOf({ orgId, userId }: TenantCaller): Policy | null | Promise<Policy | null> {
    const owner: OwnerScope = orgId ? `org:${orgId}` : `user:${userId}`
    const known = defaults.get(owner, async () => toKnown(await rows.defaultOf(store.read, owner)))
    return known instanceof Promise ? known.then((found) => found?.policy ?? null) : known.policy
  }
}

const toKnown = async (row: PolicyRow | undefined): Promise<Known> => ({
  policy: row ? await compilePolicy(row) : null,
})
