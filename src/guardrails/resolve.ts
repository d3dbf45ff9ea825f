import type { OwnerScope, TenantCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { createReadCache, freshFor, type ReadCache } from '../kernel/read-cache'
import type { Store } from '../kernel/store'
import { compiledPolicy, compilePolicy, dropPolicy, type Policy } from './policy'
import { policyRepository as rows } from './repository'
import type { GuardrailPolicyId } from './schema'
import type { PolicyRow } from './table'

type Deps = { store: Store; clock: Clock }
export type Resolve = ReturnType<typeof createResolve>

const REMEMBERED = 20_000

/**
 * Which policy, or that there is none: the absence is remembered too, since most callers have none. The policy itself
 * is where what was compiled is kept, for it is heavy.
 */
type Known = { id: GuardrailPolicyId; fingerprint: string } | { id: null }

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
      const found = policyBy(bound, id, () => rows.byId(store.read, id))
      // A binding outlives its policy by a moment on other nodes; then there is none.
      return found instanceof Promise
        ? found.then((policy) => policy ?? defaultOf(caller))
        : (found ?? defaultOf(caller))
    },

    /** After the commit that changed it. */
    forget({ id, owner }: Pick<PolicyRow, 'id' | 'owner'>): void {
      bound.forget(id)
      defaults.forget(owner)
      dropPolicy(id)
    },
  }

  function defaultOf({ orgId, userId }: TenantCaller): Policy | null | Promise<Policy | null> {
    const owner: OwnerScope = orgId ? `org:${orgId}` : `user:${userId}`
    return policyBy(defaults, owner, () => rows.defaultOf(store.read, owner))
  }
}

type Read = () => Promise<PolicyRow | undefined>

function policyBy<K extends string>(
  cache: ReadCache<K, Known>,
  key: K,
  read: Read,
): Policy | null | Promise<Policy | null> {
  const known = cache.get(key, async () => toKnown(await read()))
  return known instanceof Promise ? known.then((found) => policyOf(found!, read)) : policyOf(known, read)
}

function policyOf(known: Known, read: Read): Policy | null | Promise<Policy | null> {
  return known.id === null ? null : (compiledPolicy(known.id, known.fingerprint) ?? compiledAgain(read))
}

const toKnown = async (row: PolicyRow | undefined): Promise<Known> =>
  row ? { id: row.id, fingerprint: (await compilePolicy(row)).fingerprint } : { id: null }

/** Where there was no room to keep it. */
async function compiledAgain(read: Read): Promise<Policy | null> {
  const row = await read()
  return row ? compilePolicy(row) : null
}
