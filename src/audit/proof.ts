import { iso } from '../kernel/clock'
import { GENESIS, hashOf } from './chain'
import { isAuthentic } from './checkpoints'
import { EXPORT_COLUMNS } from './list'
import type { Checkpoint } from './schema'

export { isGenuine } from './export'
/** Re-exported for verifying an export without a server. */
export { cellsOfEvent, EXPORT_COLUMNS } from './list'

/** Result of verifying an export against checkpoints that were stored elsewhere. */
export type Proof = {
  ok: boolean
  events: number
  /** Whether the export starts with the first event of its chain, so that nothing older is missing. */
  complete: boolean
  oldest_event_id: string | null
  newest_event_id: string | null
  /** The newest checkpoint that the export contains. Everything up to it is proven. */
  checkpoint: Checkpoint | null
  /** Events after that checkpoint. Their hashes are consistent, but no signature covers them yet. */
  events_after_checkpoint: number
  broken: ChainFault | null
}

/** The fault, its location, and the ids of the events around it. `line` counts records, and the header is line 1. */
type ChainFault = { reason: string; line: number | null; events: string[] }

type Event = { line: number; id: string; hash: string; prevHash: string }
type Hit = { checkpoint: Checkpoint; position: number }
type Order = 'newest first' | 'oldest first'

/**
 * Verifies an export of one chain without the server that made it, in constant memory (docs/api.md 19). Hashes every
 * event again from its cells. Every event must follow the previous one, and the event of the newest given checkpoint
 * must be present at its `seq`.
 */
export async function verifyExport(
  records: AsyncIterable<readonly string[]>,
  checkpoints: readonly Checkpoint[],
): Promise<Proof> {
  const forged = checkpoints.find((checkpoint) => !isAuthentic(checkpoint))
  const byHash = new Map(checkpoints.map((checkpoint) => [checkpoint.hash, checkpoint]))
  const walk = { events: 0, first: null as Event | null, last: null as Event | null, order: null as Order | null }
  const hits: Hit[] = []
  let broken: ChainFault | null = forged
    ? fault(`the signature of the checkpoint for ${forged.scope} #${forged.seq} is not genuine`)
    : null

  for await (const event of eventsOf(records)) {
    if ('reason' in event) broken ??= event
    else {
      if (walk.last && !broken) {
        walk.order ??=
          walk.last.prevHash !== event.hash && event.prevHash === walk.last.hash ? 'oldest first' : 'newest first'
        if (!(walk.order === 'newest first' ? walk.last.prevHash === event.hash : event.prevHash === walk.last.hash)) {
          broken = fault('these two events do not follow each other', event.line, [walk.last.id, event.id])
        }
      }
      const checkpoint = byHash.get(event.hash)
      if (checkpoint) hits.push({ checkpoint, position: walk.events })
      walk.events += 1
      walk.first ??= event
      walk.last = event
    }
    if (broken) break
  }
  return conclude({ ...walk, hits, checkpoints, broken })
}

type Findings = {
  events: number
  first: Event | null
  last: Event | null
  order: Order | null
  hits: Hit[]
  checkpoints: readonly Checkpoint[]
  broken: ChainFault | null
}

function conclude({ events, first, last, order, hits, checkpoints, broken }: Findings): Proof {
  const forwards = order === 'oldest first'
  const [oldest, newest] = forwards ? [first, last] : [last, first]
  const complete = events === 0 || oldest?.prevHash === GENESIS
  const fromEnd = ({ position }: Hit) => (forwards ? events - 1 - position : position)
  const best = hits.toSorted((a, b) => fromEnd(a) - fromEnd(b))[0]
  const found = broken ?? connect(best ?? null, { checkpoints, complete, events, after: best ? fromEnd(best) : 0 })
  return {
    ok: found === null,
    events,
    complete,
    oldest_event_id: oldest?.id ?? null,
    newest_event_id: newest?.id ?? null,
    checkpoint: found === null ? (best?.checkpoint ?? checkpoints[0] ?? null) : null,
    events_after_checkpoint: best ? fromEnd(best) : events,
    broken: found,
  }
}

type Scope = { checkpoints: readonly Checkpoint[]; complete: boolean; events: number; after: number }

/** The event of the newest checkpoint must be in the export, at the `seq` in the checkpoint. */
function connect(best: Hit | null, { checkpoints, complete, events, after }: Scope): ChainFault | null {
  if (!best) {
    if (checkpoints.length > 0 && checkpoints.every(({ seq }) => seq === 0) && complete) return null
    return fault(
      'no event of this export is the one that a checkpoint names: events were removed or rewritten, or it is another',
    )
  }
  const { scope, seq } = best.checkpoint
  const newer = checkpoints.find((other) => other.scope === scope && other.seq > seq)
  if (newer) return fault(`the export ends before the checkpoint for #${newer.seq}, signed ${newer.signed_at}`)
  const position = events - after
  return complete && position !== seq
    ? fault(`the event the checkpoint calls #${seq} is #${position} of this export`)
    : null
}

const fault = (reason: string, line: number | null = null, events: string[] = []): ChainFault => ({
  reason,
  line,
  events,
})

/** Converts each record to an event with a recomputed hash, or to a description of its fault. */
async function* eventsOf(records: AsyncIterable<readonly string[]>): AsyncGenerator<Event | ChainFault> {
  let columns: number[] | null = null
  let line = 0
  for await (const record of records) {
    line += 1
    if (columns === null) {
      columns = EXPORT_COLUMNS.map((name) => record.indexOf(name))
      const missing = EXPORT_COLUMNS.filter((_, at) => columns![at] === -1)
      if (missing.length) yield fault(`this is not an audit export: it lacks ${missing.join(', ')}`, 1)
      continue
    }
    const cells = columns.map((at) => record[at] ?? '')
    const event = readEvent(cells, line) ?? readEvent(cells.map(unguarded), line)
    yield event ?? fault('this event does not match its hash', line, [cells[0]!])
  }
  if (columns === null) yield fault('this file is empty', 1)
}

/** Strips the apostrophe that guards CSV cells against being run as a formula by a spreadsheet. */
const unguarded = (cell: string): string => (cell.startsWith("'") ? cell.slice(1) : cell)

function readEvent(cells: readonly string[], line: number): Event | null {
  const [id, timestamp, action, entityType, entityId, userId, orgId, keyId, requestId, status, input, output] = cells
  const [prevHash, hash] = cells.slice(12) as [string, string]
  const at = Date.parse(timestamp!)
  if (Number.isNaN(at) || iso(at) !== timestamp || !statusMatches(output!, status!)) return null
  const found = hashOf({
    id: id as never,
    at,
    action: action!,
    entity_type: entityType!,
    entity_id: entityId || null,
    user_id: userId || null,
    org_id: orgId || null,
    api_key_id: keyId || null,
    request_id: requestId!,
    input: input!,
    output: output!,
    prev_hash: prevHash,
  })
  return found === hash ? { line, id: id!, hash, prevHash } : null
}

/** The `status` column is not hashed, so it must equal the status in the output summary, which is hashed. */
function statusMatches(output: string, status: string): boolean {
  try {
    const summary: { status?: number; truncated?: string[] } = JSON.parse(output)
    return summary.truncated?.includes('status') === true || String(summary.status ?? '') === status
  } catch {
    return false
  }
}
