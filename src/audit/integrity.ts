import { type Clock, iso } from '../kernel/clock'
import type { RangeQuery } from '../kernel/range'
import type { Reader } from '../kernel/store'
import { GENESIS } from './chain'
import { eventAt, headOf } from './repository'
import type { ChainScope, Checkpoint, Integrity } from './schema'
import { seqRangeOf } from './seq-range'
import { walkChain } from './walk'

type IntegrityRequest = {
  scope: ChainScope
  dates: RangeQuery
  /** The newest checkpoint kept for this chain; null when there is none. */
  checkpoint: Checkpoint | null
  signal: AbortSignal
}

/**
 * Recomputes a chain, whole or between two dates plus one event on each side, and compares it with its head and
 * its newest checkpoint (contract 19). Stops at the first broken event.
 */
export async function checkIntegrity(reader: Reader, clock: Clock, request: IntegrityRequest): Promise<Integrity> {
  const { scope, dates, checkpoint, signal } = request
  const { floor, ceiling, end } = await seqRangeOf(reader, scope, dates)
  const [head] = await headOf(reader, { scope })
  const [above, upTo] = [Math.max(floor - 1, 0), Math.min(ceiling + 1, end)]
  const progress = { events: 0, first: null as string | null, last: null as string | null, seq: above }

  const result = await walkChain(reader, { scope, above, upTo, signal }, ({ id, seq }) => {
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

/** A `seq` and `hash` known from elsewhere: a head, a checkpoint, or a note somebody kept. */
export type EventRef = { seq: number; hash: string }

/** Whether the chain has this event at this `seq`. True when no event is given, and for `seq` 0. */
export async function isEvent(reader: Reader, scope: ChainScope, ref: EventRef | null | undefined): Promise<boolean> {
  if (!ref || ref.seq === 0) return true
  const [event] = await eventAt(reader, { scope, seq: ref.seq })
  return event?.hash === ref.hash
}
