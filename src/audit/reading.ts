import { type Call, type KeyCaller, ownerOf, type TenantCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { csvFile } from '../kernel/csv'
import type { Page } from '../kernel/page'
import { type RangeQuery, readRange } from '../kernel/range'
import type { Reader, Store } from '../kernel/store'
import type { CheckpointBook } from './checkpoint-book'
import type { Checkpoints } from './checkpoints'
import { EXPORT_COLUMNS } from './columns'
import { exportRows } from './export'
import { checkIntegrity } from './integrity'
import { listEvents } from './list'
import { orgOf } from './rules'
import type { AuditEvent, AuditFilters, AuditQuery, Checkpoint, EntityType, Integrity } from './schema'
import type { AuditLog } from './service'

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  checkpoints: Checkpoints
  book: CheckpointBook
  /** Throws 403 `forbidden` when the caller may not see this org's record (contract 1.2: `viewAudit`). */
  assertMayView(reader: Reader, caller: TenantCaller, orgId: NonNullable<KeyCaller['orgId']>): Promise<void>
}

export type AuditReading = ReturnType<typeof createAuditReading>

/** What the owner of a chain may do with it: read it, take it along, have it checked (contract 19). */
export function createAuditReading({ store, clock, audit, checkpoints, book, assertMayView }: Deps) {
  return { list, exportCsv, integrity, checkpoint }

  /** One page, newest first. Throws 400 for dates and cursors that are none. */
  async function list(call: Call, query: AuditQuery): Promise<Page<AuditEvent>> {
    return listEvents(store.read, await viewed(call), query)
  }

  /** The CSV in pieces. That it was taken is on the record first, and so in the export itself. */
  async function* exportCsv(call: Call, filters: AuditFilters): AsyncGenerator<string> {
    const scope = await viewed(call)
    // Dates that are none are refused before anything is recorded.
    readRange(filters)
    await store.write((tx) => audit.record(tx, call, exported(call, filters)))
    yield* csvFile(EXPORT_COLUMNS, exportRows(store.read, { scope, filters, signal: call.signal }))
  }

  async function integrity(call: Call, dates: RangeQuery): Promise<Integrity> {
    const scope = await viewed(call)
    const kept = await book.newest(scope)
    return checkIntegrity(store.read, clock, { scope, dates, checkpoint: kept, signal: call.signal })
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

/** Which dates and which filters; the values of the others are the reader's own business. */
function exported({ caller }: Call, { from, to, ...others }: AuditFilters) {
  const scope = ownerOf(caller)
  const entityType: EntityType = orgOf(scope) ? 'organization' : 'user'
  return {
    action: 'audit.exported',
    entityType,
    entityId: scope.slice(scope.indexOf(':') + 1),
    input: { metadata: { from: from ?? null, to: to ?? null, filters: Object.keys(others).sort() } },
    output: { status: 200 },
  }
}
