import { type Call, type KeyCaller, ownerOf, type TenantCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { Page } from '../kernel/page'
import type { RangeQuery } from '../kernel/range'
import type { Reader, Store } from '../kernel/store'
import type { CheckpointBook } from './checkpoint-book'
import type { Checkpoints } from './checkpoints'
import { checkIntegrity } from './integrity'
import { listEvents } from './list'
import type { AuditOversight } from './oversight'
import type { AuditEvent, AuditFilters, AuditQuery, Checkpoint, Integrity } from './schema'

type Deps = {
  store: Store
  clock: Clock
  oversight: AuditOversight
  checkpoints: Checkpoints
  book: CheckpointBook
  /** Throws 403 `forbidden` when the caller may not see this org's record (contract 1.2: `viewAudit`). */
  assertMayView(reader: Reader, caller: TenantCaller, orgId: NonNullable<KeyCaller['orgId']>): Promise<void>
}

export type AuditReading = ReturnType<typeof createAuditReading>

/** What the owner of a chain may do with it: read it, take it along, have it checked (contract 19). */
export function createAuditReading({ store, clock, oversight, checkpoints, book, assertMayView }: Deps) {
  return { list, exportCsv, integrity, checkpoint }

  /** One page, newest first. Throws 400 for dates and cursors that are none. */
  async function list(call: Call, query: AuditQuery): Promise<Page<AuditEvent>> {
    return listEvents(store.read, await viewed(call), query)
  }

  async function* exportCsv(call: Call, filters: AuditFilters): AsyncGenerator<string> {
    yield* oversight.exportCsv(call, await viewed(call), filters)
  }

  async function integrity(call: Call, dates: RangeQuery): Promise<Integrity> {
    const scope = await viewed(call)
    const checkpoint = await book.newest(scope)
    return checkIntegrity(store.read, clock, { scope, dates, checkpoint, signal: call.signal })
  }

  /** The newest signed checkpoint of the caller's chain, for them to keep. */
  async function checkpoint(call: Call): Promise<Checkpoint> {
    // A copy: answers gain members on their way out.
    return { ...(await checkpoints.newest(await viewed(call))) }
  }

  /** The chain the caller may look at: their org's with an org key, otherwise their own. */
  async function viewed({ caller }: Call) {
    if (caller.orgId) await assertMayView(store.read, caller, caller.orgId)
    return ownerOf(caller)
  }
}
