import { type Clock, iso } from '../kernel/clock'
import { invalidInput } from '../kernel/errors'
import { nextTurn } from '../kernel/loop'
import type { RangeQuery } from '../kernel/range'
import type { Reader } from '../kernel/store'
import { type End, endOf, faultsOf, GENESIS, present } from './chain'
import { seqRangeOf } from './list'
import { baseOf, eventAt, headOf, pageOfChain } from './repository'
import type { ChainCheck, ChainScope, Checkpoint, Integrity } from './schema'
import type { AuditEventRow } from './table'

const PAGE = 500

type ChainRange = { scope: ChainScope; above: number; upTo: number; base: End; signal: AbortSignal }

/** The first broken event and phrases that explain the fault. */
type BrokenLink = { row: AuditEventRow; faults: string[] }

type IntegrityRequest = {
  scope: ChainScope
  dates: RangeQuery
  /** The newest checkpoint stored for this chain, or null. */
  checkpoint: Checkpoint | null
  signal: AbortSignal
}

/**
 * Recomputes a chain, entirely or between two dates plus one event on each side, and compares it with its head and its
 * newest checkpoint (docs/api.md 19). Stops at the first broken event.
 */
export async function checkIntegrity(reader: Reader, clock: Clock, request: IntegrityRequest): Promise<Integrity> {
  const { scope, dates, checkpoint, signal } = request
  const { floor: since, ceiling, end, base } = await seqRangeOf(reader, scope, dates)
  const floor = Math.max(since, base.seq)
  const [head] = await headOf(reader, { scope })
  const [above, upTo] = [Math.max(floor - 1, base.seq), Math.max(Math.min(ceiling + 1, end), base.seq)]
  const progress = { events: 0, first: null as string | null, last: null as string | null, seq: above }

  const result = await walkChain(reader, { scope, above, upTo, base, signal }, ({ id, seq }) => {
    progress.seq = seq
    if (seq <= floor || seq > ceiling) return
    progress.events += 1
    progress.first ??= id
    progress.last = id
  })
  const reached = result.broken === null && progress.seq === upTo
  const valid = reached && (await isEvent(reader, scope, head)) && (await isEvent(reader, scope, checkpoint))
  return {
    valid,
    algorithm: 'sha256',
    events_checked: progress.events,
    first_event_id: progress.first,
    last_event_id: progress.last,
    head_hash: head?.hash ?? GENESIS,
    broken_at: valid ? null : (result.broken?.row.id ?? progress.last),
    checked_at: iso(clock.now()),
  }
}

/** A `seq` and `hash` known from elsewhere: a head, a checkpoint, or a note stored outside the server. */
type EventRef = { seq: number; hash: string }

/** Whether the chain has this event at this `seq`. True without an event, for `seq` 0, and for archived events. */
export async function isEvent(reader: Reader, scope: ChainScope, ref: EventRef | null | undefined): Promise<boolean> {
  if (!ref || ref.seq === 0) return true
  const [event] = await eventAt(reader, { scope, seq: ref.seq })
  if (event) return event.hash === ref.hash
  const base = await baseOf(reader, scope)
  return ref.seq < base.seq || (ref.seq === base.seq && ref.hash === base.hash)
}

type CheckOptions = {
  from_seq?: number
  /** A head stored outside the server, as `SEQ:HASH`. */
  head?: string
  checkpoint: Checkpoint | null
  signal: AbortSignal
}

const mismatch = ({ seq, hash }: EventRef, how: string): string => `#${seq} is not the event that ${how}, ${hash}`

/** The integrity check for operators. It may start at a `seq`, and names the first broken link and its neighbours. */
export async function checkChain(
  reader: Reader,
  clock: Clock,
  scope: ChainScope,
  options: CheckOptions,
): Promise<ChainCheck> {
  const notedHead = options.head === undefined ? null : readEventRef(options.head)
  const [head] = await headOf(reader, { scope })
  const end = head?.seq ?? 0
  const base = await baseOf(reader, scope)
  const above = Math.min(Math.max((options.from_seq ?? 1) - 1, base.seq), end)
  let [events, last] = [0, above]
  const { broken } = await walkChain(reader, { scope, above, upTo: end, base, signal: options.signal }, ({ seq }) => {
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

/**
 * Recomputes a range of a chain, oldest first, and stops at the first broken event. When the range starts inside the
 * chain, only the content of its first event is checked, not its link to the previous one.
 */
async function walkChain(
  reader: Reader,
  { scope, above, upTo, base, signal }: ChainRange,
  onEvent: (row: AuditEventRow) => void,
): Promise<{ end: End | null; broken: BrokenLink | null }> {
  let end: End | null = above === base.seq ? base : null
  for (let last = above; last < upTo && !signal.aborted; ) {
    const rows = await pageOfChain(reader, { scope, above: last, upTo, limit: PAGE })
    for (const row of rows) {
      const faults = faultsOf(row, end ?? { seq: above, hash: row.prev_hash, at: row.at })
      if (faults.length) return { end, broken: { row, faults } }
      end = endOf(row)
      onEvent(row)
    }
    if (rows.length < PAGE) break
    last = rows.at(-1)!.seq
    await nextTurn()
  }
  return { end, broken: null }
}
