import { type Call, type Caller, keyIdOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { KeyId, UserId } from '../kernel/ids'
import { nextTurn } from '../kernel/loop'
import type { Reader, Tx } from '../kernel/store'
import { holdsCard, holdsSecret, isSecretName } from '../text'
import { chainOf, type End, endOf, faultsOf, hashOf, orgOf, START, splitRoute, summarise } from './chain'
import { listEvents } from './list'
import {
  allBases,
  baseOf,
  type Head,
  headOf,
  insertEvent,
  pageOfChain,
  pageOfChains,
  pageOfHeads,
  setHeads,
  takeHeads,
} from './repository'
import {
  type AuditEntry,
  AuditEventId,
  type ChainScope,
  type InputSummary,
  type OutputSummary,
  TRIMMED,
  type Trimmed,
} from './schema'
import type { AuditEventRow, AuditHeadRow } from './table'

const PAGE = 1_000

const MAX_VIOLATIONS = 100

const REDACTED = '[redacted]'

/** Members that name the adjacent value, as in `{ name: 'Authorization', value: '…' }`. */
const LABELS = ['name', 'key', 'header', 'field']

/** One short word. Most member names match, and no secret does. */
const WORD = /^[a-z]{1,12}$/

const mustHide = (text: string): boolean => !WORD.test(text) && (holdsSecret(text) || holdsCard(text))

/** Null, booleans and empty texts or lists reveal nothing, but their presence may matter. */
const saysSomething = (value: unknown): boolean =>
  typeof value === 'string'
    ? value !== ''
    : typeof value === 'number' || (typeof value === 'object' && value !== null && Object.keys(value).length > 0)

export type AuditLog = ReturnType<typeof createAuditLog>

/** Scope and request id of an event that no call caused: a loop, recovery at boot, a schedule. */
export type Circumstances = {
  scope: ChainScope
  requestId: string
  userId?: UserId | null
  keyId?: KeyId | null
}

type Deps = { clock: Clock }
/** One event with its actor. */
type Act = { about: Omit<Circumstances, 'scope'>; entry: AuditEntry; origin: Record<string, unknown> }

/** The event of a call that ends. Members in the order of their names cost least. */
export type CallEntry = Omit<AuditEntry, 'scope' | 'input' | 'output'> & {
  /** With the origin of the call: `api_key_id`, `endpoint` and `method`. */
  input: Sparse<InputSummary> & { api_key_id: KeyId | null; endpoint: string; method: string; [more: string]: unknown }
  output: Sparse<OutputSummary> & { request_id: string }
}

type Sparse<T> = { [K in keyof T]: T[K] | undefined }

/** The audit log. Call `record` in the transaction of the change it describes, so that both commit together. */
export function createAuditLog({ clock }: Deps) {
  let statusOf: (route: string) => number | undefined = () => undefined
  return {
    record,
    recordAll,
    recordCalls,
    recordUnattended,
    setSuccessStatuses,
    list: listEvents,
    verify: verifyChains,
  }

  /** Called after the routes are defined. `lookup` returns a route's success status, for entries without their own. */
  function setSuccessStatuses(lookup: typeof statusOf): void {
    statusOf = lookup
  }

  /** Appends the caller's action to a chain, by default the owner's. Three statements. Returns the event's id. */
  function record(tx: Tx, call: Call<Caller>, entry: AuditEntry): Promise<AuditEventId> {
    return append(tx, entry.scope ?? chainOf(call.caller), [recordOf(call, entry)]).then(([id]) => id!)
  }

  /** Like `record`, for the actions of several calls in one transaction. Takes the head of the chain once for all. */
  function recordAll(
    tx: Tx,
    scope: ChainScope,
    acts: readonly { call: Call<Caller>; entry: Omit<AuditEntry, 'scope'> }[],
  ): Promise<AuditEventId[]> {
    return append(
      tx,
      scope,
      acts.map(({ call, entry }) => recordOf(call, entry)),
    )
  }

  function recordOf(call: Call<Caller>, entry: AuditEntry): Act {
    const { caller } = call
    const userId = caller.type === 'operator' ? null : caller.userId
    const keyId = caller.type === 'operator' ? null : keyIdOf(caller)
    const completed =
      entry.output?.status !== undefined || caller.type === 'operator' ? entry : withSuccessStatus(entry, call.route)
    const { method, endpoint } = splitRoute(call.route)
    const origin = {
      method,
      endpoint,
      api_key_id: keyId,
      // An operator's name, role, transport and reason, recorded as stated (docs/operating.md 2.2).
      operator:
        caller.type === 'operator'
          ? { name: caller.name, role: caller.role, transport: caller.transport, reason: redacted(caller.reason) }
          : undefined,
    }
    return { about: { requestId: call.requestId, userId, keyId }, entry: completed, origin }
  }

  /** Adds the route's success status. The entry commits with its change, so the route will respond with success. */
  function withSuccessStatus(entry: AuditEntry, route: string): AuditEntry {
    const status = statusOf(route)
    return status === undefined ? entry : { ...entry, output: { ...entry.output, status } }
  }

  /** Appends an event that no caller caused: a dead process's hold was released, a schedule ran. */
  async function recordUnattended(
    tx: Tx,
    { scope, ...about }: Circumstances,
    entry: Omit<AuditEntry, 'scope'>,
  ): Promise<AuditEventId> {
    const [id] = await append(tx, scope, [{ about, entry, origin: {} }])
    return id!
  }

  /**
   * Appends the events of calls that end, each to the chain of its owner. `insert` stores them together with other
   * rows, such as the usage rows of the calls, so that both are one insert.
   */
  async function recordCalls(
    tx: Tx,
    ends: readonly { call: Call; entry: CallEntry }[],
    insert: (tx: Tx, events: readonly AuditEventRow[]) => Promise<unknown> = insertEvent.each,
  ): Promise<void> {
    const scopes = ends.map(({ call }) => chainOf(call.caller))
    const heads = await takeHeads(tx, [...new Set(scopes)].sort())
    const rows: AuditEventRow[] = []
    for (const [at, { call, entry }] of ends.entries()) {
      const { input, output } = entry
      const about = { requestId: call.requestId, userId: call.caller.userId, keyId: keyIdOf(call.caller) }
      const shown = input.metadata ? { ...input, metadata: redactedMembers(input.metadata) } : input
      rows.push(appended(heads, scopes[at]!, about, entry, summarise(shown), summarise(output)))
    }
    await stored(tx, heads, insert(tx, rows))
  }

  async function append(tx: Tx, scope: ChainScope, acts: readonly Act[]): Promise<AuditEventId[]> {
    const heads = await takeHeads(tx, [scope])
    const rows = acts.map(({ about, entry, origin }) => {
      // Replaces every secret and card number in its `metadata`, at any depth (docs/api.md 19).
      const metadata = entry.input?.metadata && { metadata: redactedMembers(entry.input.metadata) }
      const input = summarise({ ...origin, ...entry.input, ...metadata })
      const output = summarise({ ...entry.output, request_id: about.requestId })
      return appended(heads, scope, about, entry, input, output)
    })
    await stored(tx, heads, insertEvent.each(tx, rows))
    return rows.map(({ id }) => id)
  }

  /** Moves the heads while rows are inserted: the heads are locked, and other transactions wait for each round trip. */
  async function stored(tx: Tx, heads: Map<ChainScope, Head>, inserting: Promise<unknown>): Promise<void> {
    const ends = await Promise.allSettled([inserting, setHeads(tx, heads)])
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  /** The next event of a chain, which becomes its head. `input` and `output` are summaries. */
  function appended(
    heads: Map<ChainScope, Head>,
    scope: ChainScope,
    { requestId, userId = null, keyId = null }: Act['about'],
    entry: AuditEntry | CallEntry,
    input: string,
    output: string,
  ): AuditEventRow {
    const head = heads.get(scope)!
    const row = {
      scope,
      seq: head.seq + 1,
      id: AuditEventId.create(),
      // Never decreases along a chain, even when the clock is set back (docs/promises.md I40).
      at: Math.max(clock.now(), head.at),
      action: entry.action,
      entity_type: entry.entityType,
      entity_id: entry.entityId,
      user_id: userId,
      org_id: orgOf(scope),
      api_key_id: keyId,
      request_id: requestId,
      input,
      output,
      mode: entry.input?.mode ?? null,
      status: entry.output?.status ?? null,
      prev_hash: head.hash,
      hash: '',
    }
    row.hash = hashOf(row)
    heads.set(scope, row)
    return row
  }
}

/** The value with `[redacted]` in place of each text or number that is a secret or a card number. */
function redacted(value: unknown): unknown {
  // Card numbers and secrets are longer.
  if (typeof value === 'number' && Math.abs(value) < 1_000_000_000) return value
  if (typeof value === 'string' || typeof value === 'number') return mustHide(`${value}`) ? REDACTED : value
  if (Array.isArray(value)) return value.map((item) => redacted(item))
  if (typeof value !== 'object' || value === null) return value
  return redactedMembers(value as Record<string, unknown>)
}

function redactedMembers(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const label = LABELS.map((name) => members[name]).find((value) => typeof value === 'string')
  const hidden = Object.entries(members).map(([name, value]) => {
    const called = name === 'value' && typeof label === 'string' ? label : name
    const shown = mustHide(name) ? REDACTED : name
    if (saysSomething(value) && isSecretName(called, value)) return [shown, REDACTED]
    // Checked together with the name, because some values are recognisable only by both.
    if (typeof value === 'string') return [shown, mustHide(`${called}: ${value}`) ? REDACTED : value]
    return [shown, redacted(value)]
  })
  return Object.fromEntries(hidden)
}

/**
 * Recomputes every chain, in pages so that a live server keeps responding. Returns a sentence for each fault: a
 * changed, missing, inserted or moved event, or a chain that does not end at its head (docs/promises.md I20). Empty
 * when all chains are valid.
 */
export async function verifyChains(reader: Reader): Promise<string[]> {
  const { bases, violations } = await checkedBases(reader)
  // Heads are read first. Events appended during the walk lie after these heads and are checked too.
  const unreached = new Map<string, AuditHeadRow>()
  for await (const head of headsOf(reader))
    if (bases.get(head.scope)?.hash !== head.hash) unreached.set(head.scope, head)

  let scope: ChainScope | null = null
  let end = START
  for await (const row of eventsOf(reader)) {
    if (row.scope !== scope) {
      if (scope) violations.push(...(await overrun(reader, scope, end)))
      scope = row.scope
      end = bases.get(scope) ?? START
    }
    const where = `audit ${row.scope} #${row.seq}`
    let faults = faultsAbove(row, bases.get(row.scope) ?? START, end)
    if (faults.length) {
      // The chain may have been trimmed since the bases were read.
      const base = await baseOf(reader, row.scope)
      if (base.seq > end.seq) end = base
      faults = faultsAbove(row, base, end)
    }
    violations.push(...faults.map((fault) => `${where}: ${fault}`))
    const head = unreached.get(row.scope)
    if (head?.seq === row.seq && head.hash === row.hash) unreached.delete(row.scope)
    if (row.seq > end.seq) end = endOf(row)
    if (violations.length >= MAX_VIOLATIONS) return [...violations.slice(0, MAX_VIOLATIONS), 'audit: and more']
  }
  if (scope) violations.push(...(await overrun(reader, scope, end)))
  for (const { scope: chain, seq } of unreached.values()) {
    violations.push(`audit ${chain}: no event has the hash that its head gives for #${seq}`)
  }
  return violations
}

/** An event up to the base is checked only by itself, because the calls around it were archived. */
function faultsAbove(row: AuditEventRow, base: End, end: End): string[] {
  if (row.seq > base.seq) return faultsOf(row, end)
  const faults = faultsOf(row, { seq: row.seq - 1, hash: row.prev_hash, at: row.at })
  return row.seq === base.seq && row.hash !== base.hash ? [...faults, 'is not the base of its chain'] : faults
}

/** `record` moves the head in the same transaction, so other code wrote any events after the current head. */
async function overrun(reader: Reader, scope: ChainScope, end: End): Promise<string[]> {
  const [head] = await headOf(reader, { scope })
  return head && head.seq >= end.seq ? [] : [`audit ${scope} #${end.seq}: is after the head of its chain`]
}

async function* eventsOf(reader: Reader): AsyncGenerator<AuditEventRow> {
  for (let last = { scope: '', seq: 0 }; ; ) {
    const rows = await pageOfChains(reader, { ...last, limit: PAGE })
    yield* rows
    const end = rows.at(-1)
    if (!end || rows.length < PAGE) return
    last = { scope: end.scope, seq: end.seq }
    await nextTurn()
  }
}

async function* headsOf(reader: Reader): AsyncGenerator<AuditHeadRow> {
  for (let last = ''; ; ) {
    const rows = await pageOfHeads(reader, { scope: last, limit: PAGE })
    yield* rows
    const end = rows.at(-1)
    if (!end || rows.length < PAGE) return
    last = end.scope
    await nextTurn()
  }
}

/** Every base, by chain, and a sentence for each base that the server's chain does not record as trimmed. */
async function checkedBases(reader: Reader): Promise<{ bases: Map<string, End>; violations: string[] }> {
  const bases = new Map<string, End>()
  const violations: string[] = []
  for (const base of await allBases(reader, {})) {
    bases.set(base.scope, base)
    const [event] = await pageOfChain(reader, {
      ...{ scope: 'server', above: base.event_seq - 1, upTo: base.event_seq, limit: 1 },
    })
    const noted: Partial<Trimmed> = event?.action === TRIMMED ? JSON.parse(event.output).trimmed : {}
    if (noted.chain !== base.scope || noted.seq !== base.seq || noted.hash !== base.hash)
      violations.push(`audit ${base.scope}: its base #${base.seq} is not an event up to which it was trimmed`)
  }
  return { bases, violations }
}
