import { type Call, type OperatorCaller, ownerOf } from '../kernel/caller'
import type { Store } from '../kernel/store'
import type { KeyService } from '../keys'
import { findOwner, type OrgService } from '../orgs'
import type { UsageReading } from '../usage'
import type { OperatorUsage, OperatorUsageExportQuery, OperatorUsageQuery } from './schema-usage'

type Deps = { store: Store; orgs: OrgService; keys: Pick<KeyService, 'operator'>; usageReading: UsageReading }

/** Usage of any owner, for operators (dx 2.16). */
export function createUsageVerbs({ store, orgs, keys, usageReading }: Deps) {
  return { show, exportCalls }

  /** The report the owner would get. */
  async function show(call: Call<OperatorCaller>, input: OperatorUsageQuery): Promise<OperatorUsage> {
    const { owner, ...query } = await withKeyOwner(call, input)
    const { scope, name } = await findOwner(orgs, store.read, owner)
    return { id: scope, object: 'usage', owner: name, ...(await usageReading.reportOf(scope, query)) }
  }

  /** The file the owner would get; the export is recorded in the owner's audit chain. */
  async function* exportCalls(call: Call<OperatorCaller>, input: OperatorUsageExportQuery) {
    const { owner, ...query } = await withKeyOwner(call, input)
    const { scope } = await findOwner(orgs, store.read, owner)
    yield* usageReading.exportOf(call, scope, query)
  }

  /** Without `owner`, the owner of the named key is meant; a key may be given by name. */
  async function withKeyOwner<Q extends OperatorUsageQuery>(call: Call<OperatorCaller>, query: Q): Promise<Q> {
    if (query.owner !== undefined || query.key_id === undefined) return query
    const caller = await keys.operator.callerOf(call, query.key_id)
    return { ...query, owner: ownerOf(caller), key_id: caller.keyId }
  }
}
