import type { Call, Caller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { invalidInput } from '../kernel/errors'
import { readRange } from '../kernel/range'
import type { SigningKey } from '../kernel/signing'
import type { Reader, Store } from '../kernel/store'
import { nextTurn } from '../kernel/turns'
import { GENESIS, present } from './chain'
import type { CheckpointBook } from './checkpoint-book'
import type { Checkpoints } from './checkpoints'
import { exportRows, written } from './export'
import { createExportSignatures } from './export-signature'
import { type EventRef, isEvent } from './integrity'
import { actionsBetween, headOf, pageOfChain } from './repository'
import { orgOf } from './rules'
import type { AuditExport, AuditFilters, AuditHead, ChainCheck, ChainScope, Checkpoint } from './schema'
import type { AuditLog } from './service'
import { type BrokenLink, walkChain } from './walk'

type CheckOptions = {
  from_seq?: number
  /** A head noted outside the server, as `SEQ:HASH`. */
  head?: string
  checkpoint: Checkpoint | null
  signal: AbortSignal
}

const mismatch = ({ seq, hash }: EventRef, how: string): string => `#${seq} is not the event that ${how}, ${hash}`

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  checkpoints: Checkpoints
  book: CheckpointBook
  /** Signs the exports of operators. */
  key: SigningKey
}

const WINDOW = 5_000

export type AuditOperatorAccess = ReturnType<typeof createAuditOperatorAccess>

/** Operations on a chain for callers whose permission has already been checked. */
export function createAuditOperatorAccess({ store, clock, audit, checkpoints, book, key }: Deps) {
  const signatures = createExportSignatures({ clock, key })
  return { exportEvents, signedExport, signatureOf: signatures.of, head, signedAt, actions, check }

  /**
   * Streams the export, newest event first. The `audit.exported` event is recorded first, so the file contains it.
   * Throws 400 for invalid dates before anything is recorded.
   */
  async function* exportEvents(
    call: Call<Caller>,
    scope: ChainScope,
    { format, ...filters }: AuditExport,
  ): AsyncGenerator<string> {
    readRange(filters)
    await store.write((tx) => audit.record(tx, call, exported(scope, filters)))
    yield* written(exportRows(store.read, { scope, filters, signal: call.signal }), format)
  }

  /** The same, and signs the file: after the last piece `signatureOf` finds the signature by request id. */
  function signedExport(call: Call<Caller>, scope: ChainScope, request: AuditExport): AsyncGenerator<string> {
    return signatures.around(call.requestId, scope, exportEvents(call, scope, request))
  }

  async function head(scope: ChainScope): Promise<AuditHead> {
    const [end] = await headOf(store.read, { scope })
    const checkpoint = { ...(await checkpoints.newest(scope)) }
    return { object: 'audit_head', scope, seq: end?.seq ?? 0, hash: end?.hash ?? GENESIS, checkpoint }
  }

  /** When a chain was last signed, which is done only where it still has what was signed before; null for never. */
  async function signedAt(scope: ChainScope): Promise<string | null> {
    return (await book.newest(scope))?.signed_at ?? null
  }

  /** How many events a chain has of each action, most frequent first. */
  async function actions(scope: ChainScope, signal: AbortSignal): Promise<{ action: string; count: number }[]> {
    const [end] = await headOf(store.read, { scope })
    const counts = new Map<string, number>()
    for (let above = 0; above < (end?.seq ?? 0) && !signal.aborted; above += WINDOW) {
      for (const { action, count } of await actionsBetween(store.read, { scope, above, upTo: above + WINDOW })) {
        counts.set(action, (counts.get(action) ?? 0) + Number(count))
      }
      await nextTurn()
    }
    return [...counts].map(([action, count]) => ({ action, count })).sort((a, b) => b.count - a.count)
  }

  async function check(
    scope: ChainScope,
    request: { from_seq?: number; head?: string; signal: AbortSignal },
  ): Promise<ChainCheck> {
    return checkChain(store.read, clock, scope, { ...request, checkpoint: await book.newest(scope) })
  }
}

/** Records the dates and the names of the other filters, but not their values. */
const exported = (scope: ChainScope, { from, to, ...others }: AuditFilters) => ({
  action: 'audit.exported',
  entityType: orgOf(scope) ? ('organization' as const) : ('user' as const),
  entityId: scope === 'server' ? null : scope.slice(scope.indexOf(':') + 1),
  scope,
  input: { metadata: { from: from ?? null, to: to ?? null, filters: Object.keys(others).sort() } },
  output: { status: 200 },
})

/** The integrity check for operators: may start at a `seq`, and names the first broken link and the events beside it. */
async function checkChain(reader: Reader, clock: Clock, scope: ChainScope, options: CheckOptions): Promise<ChainCheck> {
  const notedHead = options.head === undefined ? null : readEventRef(options.head)
  const [head] = await headOf(reader, { scope })
  const end = head?.seq ?? 0
  const above = Math.min(Math.max((options.from_seq ?? 1) - 1, 0), end)
  let [events, last] = [0, above]
  const { broken } = await walkChain(reader, { scope, above, upTo: end, signal: options.signal }, ({ seq }) => {
    events += 1
    last = seq
  })
  const faults = broken ? broken.faults.map((fault) => `#${broken.row.seq} ${fault}`) : []
  if (!broken && last !== end) faults.push(`#${last} is the last event, but the head says #${end}`)
  else if (!broken && !(await isEvent(reader, scope, head))) faults.push(`#${end} is not the event that the head names`)
  if (!(await isEvent(reader, scope, options.checkpoint))) faults.push(mismatch(options.checkpoint!, 'was signed'))
  if (!(await isEvent(reader, scope, notedHead))) faults.push(mismatch(notedHead!, 'was kept'))
  return {
    object: 'audit_check',
    scope,
    ok: faults.length === 0,
    events_checked: events,
    head_seq: end,
    head_hash: head?.hash ?? GENESIS,
    checkpoint_seq: options.checkpoint?.seq ?? null,
    faults,
    neighbours: broken ? await neighboursOf(reader, scope, broken) : [],
    checked_at: iso(clock.now()),
  }
}

async function neighboursOf(reader: Reader, scope: ChainScope, { row }: BrokenLink) {
  const rows = await pageOfChain(reader, { scope, above: Math.max(row.seq - 2, 0), upTo: row.seq + 1, limit: 3 })
  return rows.map((event) => ({ seq: event.seq, event: present(event) }))
}

function readEventRef(word: string): EventRef {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(word) ?? []
  if (seq && hash) return { seq: Number(seq), hash }
  throw invalidInput('head', '"head" is not SEQ:HASH. Send it as `svc-admin audit head` prints it.')
}
