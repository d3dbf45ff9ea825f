import type { AuditLog, AuditOversight } from '../audit'
import type { AuditEvent, AuditExport, AuditHead, AuditQuery, ChainCheck, ChainScope } from '../audit/schema'
import type { Call, OperatorCaller } from '../kernel/caller'
import type { Page } from '../kernel/page'
import type { Store } from '../kernel/store'
import type { OrgService } from '../orgs'
import { findOwner } from './owner'

type Deps = { store: Store; orgs: OrgService; audit: AuditLog; oversight: AuditOversight }
type Of<T> = T & { owner?: string | undefined }

/** The chain of what belongs to no tenant: engines, server settings, operators' own acts. */
const SERVER = 'server'

/** What operators do with anyone's record: look at it, take it along, have it checked (dx 2.17). */
export function createAuditVerbs({ store, orgs, audit, oversight }: Deps) {
  return { list, exportEvents, signatureOf: oversight.signatureOf, head, actions, check }

  async function list(_call: Call<OperatorCaller>, { owner, ...query }: Of<AuditQuery>): Promise<Page<AuditEvent>> {
    return audit.list(store.read, await chainOf(owner), await named(query))
  }

  /** The same file its owner would get, and on their record. */
  async function* exportEvents(call: Call<OperatorCaller>, { owner, ...asked }: Of<AuditExport>) {
    yield* oversight.signedExport(call, await chainOf(owner), await named(asked))
  }

  /** People are known by their addresses, the record knows their ids. An operator's name may look like one. */
  async function named<Q extends { actor?: string }>(query: Q): Promise<Q> {
    const user = query.actor?.includes('@') ? await orgs.userByEmail(store.read, query.actor) : undefined
    return user ? { ...query, actor: user.id } : query
  }

  /** Where a chain ends, with its newest checkpoint. */
  async function head(_call: Call<OperatorCaller>, owner?: string): Promise<AuditHead> {
    return oversight.head(await chainOf(owner))
  }

  /** How often each action stands in a chain, most frequent first. */
  async function actions(call: Call<OperatorCaller>, owner?: string) {
    return oversight.actions(await chainOf(owner), call.signal)
  }

  /** Computes one chain again from a place on, and holds it against its checkpoint and a head that was kept. */
  async function check(
    call: Call<OperatorCaller>,
    { owner, ...asked }: Of<{ from_seq?: number; head?: string }>,
  ): Promise<ChainCheck> {
    return oversight.check(await chainOf(owner), { ...asked, signal: call.signal })
  }

  async function chainOf(owner: string | undefined): Promise<ChainScope> {
    return owner === SERVER ? SERVER : (await findOwner(orgs, store.read, owner)).scope
  }
}
