import type { Call, OperatorCaller } from '../kernel/caller'
import type { Store } from '../kernel/store'
import type { OrgService } from '../orgs'
import type { UsageReading } from '../usage'
import { findOwner } from './owner'
import type { OperatorUsage, OperatorUsageExportQuery, OperatorUsageQuery } from './schema-usage'

type Deps = { store: Store; orgs: OrgService; usageReading: UsageReading }

/** What anyone used, for operators (dx 2.16). */
export function createUsageVerbs({ store, orgs, usageReading }: Deps) {
  return { show, exportCalls }

  /** The report its owner would get. Throws 404, 400. */
  async function show(_call: Call<OperatorCaller>, { owner, ...query }: OperatorUsageQuery): Promise<OperatorUsage> {
    const { scope, name } = await findOwner(orgs, store.read, owner)
    return { id: scope, object: 'usage', owner: name, ...(await usageReading.reportOf(scope, query)) }
  }

  /** The same file its owner would get, and on their record. */
  async function* exportCalls(call: Call<OperatorCaller>, { owner, ...query }: OperatorUsageExportQuery) {
    const { scope } = await findOwner(orgs, store.read, owner)
    yield* usageReading.exportOf(call, scope, query)
  }
}
