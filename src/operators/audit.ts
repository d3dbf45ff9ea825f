import type { AuditLog, AuditOversight } from '../audit'
import type { AuditEvent, AuditExport, AuditHead, AuditQuery, ChainCheck, ChainScope } from '../audit/schema'
import type { Call, OperatorCaller } from '../kernel/caller'
import type { Page } from '../kernel/page'
import type { Store } from '../kernel/store'
import { findOwner, type OrgService } from '../orgs'

type Deps = { store: Store; orgs: OrgService; audit: AuditLog; oversight: AuditOversight }
type WithOwner<T> = T & { owner?: string | undefined }

/** The chain of events that belong to no tenant: engines, server settings, operators' own actions. */
const SERVER = 'server'

/** What operators do with any audit chain: list it, export it and have it checked (dx 2.17). */
export function createAuditVerbs({ store, orgs, audit, oversight }: Deps) {
  return { list, exportEvents, signatureOf: oversight.signatureOf, head, actions, check }

  async function list(
    _call: Call<OperatorCaller>,
    { owner, ...query }: WithOwner<AuditQuery>,
  ): Promise<Page<AuditEvent>> {
    return audit.list(store.read, await chainOf(owner), await withActorId(query))
  }

  /** The file the owner would get; the export is recorded in the owner's chain. */
  async function* exportEvents(call: Call<OperatorCaller>, { owner, ...query }: WithOwner<AuditExport>) {
    yield* oversight.signedExport(call, await chainOf(owner), await withActorId(query))
  }

  /** Replaces an e-mail address by the user's id, which is what events contain. No match: it may be an operator's name. */
  async function withActorId<Q extends { actor?: string }>(query: Q): Promise<Q> {
    const user = query.actor?.includes('@') ? await orgs.userByEmail(store.read, query.actor) : undefined
    return user ? { ...query, actor: user.id } : query
  }

  /** Where a chain ends, with its newest checkpoint. */
  async function head(_call: Call<OperatorCaller>, owner?: string): Promise<AuditHead> {
    return oversight.head(await chainOf(owner))
  }

  /** How many events a chain has of each action, most frequent first. */
  async function actions(call: Call<OperatorCaller>, owner?: string) {
    return oversight.actions(await chainOf(owner), call.signal)
  }

  /** Recomputes one chain from a `seq` on, and compares it with its checkpoint and a head noted elsewhere. */
  async function check(
    call: Call<OperatorCaller>,
    { owner, ...query }: WithOwner<{ from_seq?: number; head?: string }>,
  ): Promise<ChainCheck> {
    return oversight.check(await chainOf(owner), { ...query, signal: call.signal })
  }

  async function chainOf(owner: string | undefined): Promise<ChainScope> {
    return owner === SERVER ? SERVER : (await findOwner(orgs, store.read, owner)).scope
  }
}
