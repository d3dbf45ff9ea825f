import { type Clock, iso } from '../kernel/clock'
import { invalidInput } from '../kernel/errors'
import type { Reader } from '../kernel/store'
import { GENESIS, present } from './chain'
import { type EventRef, isEvent } from './integrity'
import { headOf, pageOfChain } from './repository'
import type { ChainCheck, ChainScope, Checkpoint } from './schema'
import { type BrokenLink, walkChain } from './walk'

type CheckOptions = {
  from_seq?: number
  /** A head noted outside the server, as `SEQ:HASH`. */
  head?: string
  checkpoint: Checkpoint | null
  signal: AbortSignal
}

/** The integrity check for operators: may start at a `seq`, and names the first broken link and the events beside it. */
export async function checkChain(
  reader: Reader,
  clock: Clock,
  scope: ChainScope,
  options: CheckOptions,
): Promise<ChainCheck> {
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

const mismatch = ({ seq, hash }: EventRef, how: string): string => `#${seq} is not the event that ${how}, ${hash}`

async function neighboursOf(reader: Reader, scope: ChainScope, { row }: BrokenLink) {
  const rows = await pageOfChain(reader, { scope, above: Math.max(row.seq - 2, 0), upTo: row.seq + 1, limit: 3 })
  return rows.map((event) => ({ seq: event.seq, event: present(event) }))
}

function readEventRef(word: string): EventRef {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(word) ?? []
  if (seq && hash) return { seq: Number(seq), hash }
  throw invalidInput('head', '"head" is not SEQ:HASH. Send it as `svc-admin audit head` prints it.')
}
