import type { AuditLog } from '../audit'
import type { CacheChoice, CacheReading } from '../completions'
import type { Call, OperatorCaller } from '../kernel/caller'
import { invalidInput } from '../kernel/errors'
import type { Store } from '../kernel/store'
import type { KeyService } from '../keys'
import { findOwner, type OrgService } from '../orgs'
import type { CacheFinding, CachePurge, CachePurged, CacheQuestion, CacheStats } from './schema-cache'

type Deps = { store: Store; audit: AuditLog; orgs: OrgService; keys: KeyService; answers: CacheReading }

/** This server's answer cache (dx 2.18). Only this process's: each node has its own. */
export function createCacheVerbs({ store, audit, orgs, keys, answers }: Deps) {
  return { stats, find, purge }

  function stats(_call: Call<OperatorCaller>): CacheStats {
    return { object: 'cache', ...answers.stats() }
  }

  /** Whether this prompt would be answered from the cache. Throws 404 for an unknown owner or key. */
  async function find(
    call: Call<OperatorCaller>,
    { prompt, mode, ...selection }: CacheQuestion,
  ): Promise<CacheFinding> {
    const found = answers.find(prompt, { mode, ...(await ownerAndKey(call, selection)) })
    return { object: 'cache_finding', verdict: found.length ? 'hit' : 'miss', why: why(found.length), answers: found }
  }

  function why(found: number): string {
    if (!answers.stats().enabled) return 'The cache is disabled: SVC_CACHE_ENABLED is 0.'
    if (found > 0)
      return 'Served to its owner only if the rest of the request is the same too: skills, tools, persona, settings, preferences and policies.'
    return 'No answer to exactly this prompt is cached here: it was never sent, its entry expired, or its answer was not cacheable.'
  }

  /** Throws 400 for a scope without its name, 404 for an unknown owner or key. */
  async function purge(call: Call<OperatorCaller>, { scope, name }: CachePurge): Promise<CachePurged> {
    if (scope !== 'all' && name === undefined)
      throw invalidInput('name', `"name" is missing. Send the name of the ${scope} to clear.`)
    const choice = await choiceOf(call, scope, name)
    const purged = answers.purge(choice)
    await store.write((tx) =>
      audit.record(tx, call, {
        action: 'cache.purged',
        entityType: 'completion',
        entityId: null,
        scope: choice.owner ?? 'server',
        input: { metadata: { scope, ...(name === undefined ? {} : { name }), purged } },
      }),
    )
    return { object: 'cache_purge', purged }
  }

  async function choiceOf(call: Call<OperatorCaller>, scope: CachePurge['scope'], name?: string): Promise<CacheChoice> {
    if (scope === 'org') return ownerAndKey(call, { owner: name })
    if (scope === 'key') return ownerAndKey(call, { key: name })
    return scope === 'mode' ? { mode: name } : {}
  }

  async function ownerAndKey(
    call: Call<OperatorCaller>,
    { owner, key }: { owner?: string | undefined; key?: string | undefined },
  ): Promise<CacheChoice> {
    return {
      owner: owner === undefined ? undefined : (await findOwner(orgs, store.read, owner)).scope,
      keyId: key === undefined ? undefined : (await keys.operator.get(call, key)).id,
    }
  }
}
