import { type Call, type KeyCaller, type OwnerScope, ownerOf, type TenantCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { orgRequired } from '../kernel/errors'
import type { Page } from '../kernel/page'
import type { RangeQuery } from '../kernel/range'
import type { Reader, Store } from '../kernel/store'
import type { CheckpointBook } from './checkpoint-book'
import type { Checkpoints } from './checkpoints'
import { personalKeyRequired } from './errors'
import { checkIntegrity } from './integrity'
import { listEvents } from './list'
import type { AuditOperatorAccess } from './operator-reads'
import type { AuditEvent, AuditExport, AuditQuery, Checkpoint, Integrity, RecordScope } from './schema'

type Deps = {
  store: Store
  clock: Clock
  operatorAccess: AuditOperatorAccess
  checkpoints: Checkpoints
  book: CheckpointBook
  /** Throws 403 `forbidden` when the caller may not view this org's audit events (contract 1.2: `viewAudit`). */
  assertMayView(reader: Reader, caller: TenantCaller, orgId: NonNullable<KeyCaller['orgId']>): Promise<void>
}

type ScopeChoice = { scope?: RecordScope }

export type AuditReading = ReturnType<typeof createAuditReading>

/** What owners can do with their audit chain: list it, export it and have it checked (contract 19). */
export function createAuditReading({ store, clock, operatorAccess, checkpoints, book, assertMayView }: Deps) {
  return { list, exportEvents, integrity, checkpoint }

  /** One page, newest first. Throws 400 for invalid dates and cursors. */
  async function list(call: Call, { scope, ...query }: AuditQuery & ScopeChoice): Promise<Page<AuditEvent>> {
    return listEvents(store.read, await chainToShow(call, scope), query)
  }

  async function* exportEvents(call: Call, { scope, ...request }: AuditExport & ScopeChoice): AsyncGenerator<string> {
    yield* operatorAccess.exportEvents(call, await chainToShow(call, scope), request)
  }

  async function integrity(call: Call, { scope: wanted, ...dates }: RangeQuery & ScopeChoice): Promise<Integrity> {
    const scope = await chainToShow(call, wanted)
    const checkpoint = await book.newest(scope)
    return checkIntegrity(store.read, clock, { scope, dates, checkpoint, signal: call.signal })
  }

  /** The newest signed checkpoint of the caller's chain, for the caller to keep. */
  async function checkpoint(call: Call, { scope }: ScopeChoice = {}): Promise<Checkpoint> {
    // A copy, because the response layer adds members to the answer.
    return { ...(await checkpoints.newest(await chainToShow(call, scope))) }
  }

  /**
   * The chain to show: the org's for an org key, otherwise the caller's own, or the active org's when asked for. Throws
   * 403 `forbidden` without `viewAudit`.
   */
  async function chainToShow({ caller }: Call, wanted?: RecordScope): Promise<OwnerScope> {
    if (wanted === 'user' && caller.orgId !== null) throw personalKeyRequired()
    const orgId = wanted === 'org' ? caller.activeOrgId : caller.orgId
    if (wanted === 'org' && orgId === null) throw orgRequired()
    if (orgId === null) return ownerOf(caller)
    await assertMayView(store.read, caller, orgId)
    return `org:${orgId}`
  }
}
