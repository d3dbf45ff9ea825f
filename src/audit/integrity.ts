import { type Clock, iso } from '../kernel/clock'
import type { RangeQuery } from '../kernel/range'
import type { Reader } from '../kernel/store'
import { nextTurn } from '../kernel/turns'
import { GENESIS } from './chain'
import { type End, endOf, faultsOf, START } from './faults'
import { placesOf } from './places'
import { eventAt, headOf, pageOfChain } from './repository'
import type { ChainScope, Checkpoint, Integrity } from './schema'
import type { AuditEventRow } from './table'

const PAGE = 500

type Asked = {
  scope: ChainScope
  dates: RangeQuery
  /** The newest that is kept of this chain; null when there is none. */
  checkpoint: Checkpoint | null
  signal: AbortSignal
}

/**
 * Computes a chain again, whole or between two dates with one neighbour on each side, and holds it
 * against its head and its newest checkpoint (contract 19). Stops at the first event that does not hold.
 */
export async function checkIntegrity(reader: Reader, clock: Clock, asked: Asked): Promise<Integrity> {
  const { scope, dates, checkpoint, signal } = asked
  const { floor, ceiling, end } = await placesOf(reader, scope, dates)
  const [head] = await headOf(reader, { scope })
  const [above, upTo] = [Math.max(floor - 1, 0), Math.min(ceiling + 1, end)]
  const seen = { events: 0, first: null as string | null, last: null as string | null }

  let before: End | null = above === 0 ? START : null
  let broken: string | null = null
  for await (const row of eventsBetween(reader, scope, above, upTo)) {
    if (signal.aborted) break
    // The neighbour before the first has its own content to answer for, not what it follows.
    const faults = faultsOf(row, before ?? { seq: above, hash: row.prev_hash, at: row.at })
    if (faults.length) {
      broken = row.seq === (before?.seq ?? above) + 1 ? row.id : (seen.last ?? row.id)
      break
    }
    before = endOf(row)
    if (row.seq <= floor || row.seq > ceiling) continue
    seen.events += 1
    seen.first ??= row.id
    seen.last = row.id
  }

  const isWhole = broken === null && (before?.seq ?? above) === upTo && (await reachesHead(reader, scope, head))
  const valid = isWhole && (await holds(reader, scope, checkpoint))
  return {
    valid,
    algorithm: 'sha256',
    events_checked: seen.events,
    first_event_id: seen.first,
    last_event_id: seen.last,
    head_hash: head?.hash ?? GENESIS,
    broken_at: valid ? null : (broken ?? seen.last),
    checked_at: iso(clock.now()),
  }
}

/** The head was read before the walk; events that came since stand beyond it. */
async function reachesHead(reader: Reader, scope: ChainScope, head: { seq: number; hash: string } | undefined) {
  if (!head || head.seq === 0) return true
  const [last] = await eventAt(reader, { scope, seq: head.seq })
  return last?.hash === head.hash
}

/** Whether a chain still has the event a checkpoint was signed for, at its place. */
export async function holds(reader: Reader, scope: ChainScope, checkpoint: Checkpoint | null): Promise<boolean> {
  if (checkpoint === null || checkpoint.seq === 0) return true
  const [event] = await eventAt(reader, { scope, seq: checkpoint.seq })
  return event?.hash === checkpoint.hash
}

async function* eventsBetween(
  reader: Reader,
  scope: ChainScope,
  above: number,
  upTo: number,
): AsyncGenerator<AuditEventRow> {
  for (let last = above; last < upTo; ) {
    const rows = await pageOfChain(reader, { scope, above: last, upTo, limit: PAGE })
    yield* rows
    if (rows.length < PAGE) return
    last = rows.at(-1)!.seq
    await nextTurn()
  }
}
