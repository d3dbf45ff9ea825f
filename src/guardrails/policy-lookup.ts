import { type OwnerScope, ownerOf, type TenantCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { createReadCache, freshFor, type ReadCache } from '../kernel/read-cache'
import type { Store } from '../kernel/store'
import { type CompiledPolicy, compiledPolicy, compilePolicy, dropCompiledPolicy } from './policy-compile-policy'
import { guardrailPolicy } from './resource'
import type { GuardrailPolicyId } from './schema'
import type { PolicyRow } from './table'

const { rows } = guardrailPolicy

type Deps = { store: Store; clock: Clock }
/** Whose policy applies: the one bound to their key, else the default of their owner. */
export type UnderPolicy = Pick<TenantCaller, 'orgId' | 'userId'> & { guardrailPolicyId?: string | null }
export type PolicyLookup = ReturnType<typeof createPolicyLookup>

const REMEMBERED = 20_000

/**
 * Which policy is in force, or that none is: most callers have none, so that is remembered too. The compiled policy
 * itself is heavy and is kept where memory is bounded by weight.
 */
type Known = { id: GuardrailPolicyId; fingerprint: string } | { id: null }

/**
 * Finds the policy of a request (contract 12): the one bound to its key, else the default of its team or person,
 * else none. Remembered, so that callers without a policy pay nothing.
 */
export function createPolicyLookup({ store, clock }: Deps) {
  const options = { max: REMEMBERED, maxAgeMs: freshFor(store.dialect), clock }
  const bound = createReadCache<string, Known>(options)
  const defaults = createReadCache<OwnerScope, Known>(options)

  return {
    /** Without a promise when it is remembered. */
    policyOf(caller: UnderPolicy): CompiledPolicy | null | Promise<CompiledPolicy | null> {
      const id = caller.guardrailPolicyId ?? null
      if (id === null) return defaultOf(caller)
      const found = cachedPolicy(bound, id, () => rows.find(store.read, 'everyone', id))
      // On other nodes a key may stay bound to a deleted policy for a moment; then the default holds.
      return found instanceof Promise
        ? found.then((policy) => policy ?? defaultOf(caller))
        : (found ?? defaultOf(caller))
    },

    /** To be called after the commit that changed or deleted the policy. */
    forget({ id, owner }: Pick<PolicyRow, 'id' | 'owner'>): void {
      bound.forget(id)
      defaults.forget(owner)
      dropCompiledPolicy(id)
    },
  }

  function defaultOf(caller: UnderPolicy): CompiledPolicy | null | Promise<CompiledPolicy | null> {
    const owner = ownerOf(caller)
    return cachedPolicy(defaults, owner, () => rows.defaultOf(store.read, owner))
  }
}

type Read = () => Promise<PolicyRow | undefined>

function cachedPolicy<K extends string>(
  cache: ReadCache<K, Known>,
  key: K,
  read: Read,
): CompiledPolicy | null | Promise<CompiledPolicy | null> {
  const known = cache.get(key, async () => toKnown(await read()))
  return known instanceof Promise ? known.then((found) => inMemory(found!, read)) : inMemory(known, read)
}

function inMemory(known: Known, read: Read): CompiledPolicy | null | Promise<CompiledPolicy | null> {
  return known.id === null ? null : (compiledPolicy(known.id, known.fingerprint) ?? compiledAgain(read))
}

const toKnown = async (row: PolicyRow | undefined): Promise<Known> =>
  row ? { id: row.id, fingerprint: (await compilePolicy(row)).fingerprint } : { id: null }

/** The compiled policy had been dropped to make room for others. */
async function compiledAgain(read: Read): Promise<CompiledPolicy | null> {
  const row = await read()
  return row ? compilePolicy(row) : null
}
