import { type Call, type Caller, keyIdOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { KeyId, UserId } from '../kernel/ids'
import type { Tx } from '../kernel/store'
import { hashOf } from './chain'
import { listEvents } from './list'
import { redacted, redactedMetadata } from './redact'
import { type Head, insertEvent, setHead, takeHead } from './repository'
import { chainOf, orgOf, splitRoute, summarise } from './rules'
import { type AuditEntry, AuditEventId, type ChainScope } from './schema'
import type { AuditEventRow } from './table'
import { verifyChains } from './verify'

export type AuditLog = ReturnType<typeof createAuditLog>

/** Scope and request id of an event that no call caused: a loop, recovery at boot, a schedule. */
export type Circumstances = {
  scope: ChainScope
  requestId: string
  userId?: UserId | null
  keyId?: KeyId | null
}

type Deps = { clock: Clock }
/** What one event says, and of whom. */
type Act = { about: Omit<Circumstances, 'scope'>; entry: AuditEntry; origin: Record<string, unknown> }

/** The audit log. Call `record` in the transaction of the change it describes, so that both commit together (I19). */
export function createAuditLog({ clock }: Deps) {
  let statusOf: (route: string) => number | undefined = () => undefined
  return { record, recordAll, recordUnattended, setSuccessStatuses, list: listEvents, verify: verifyChains }

  /** Called once the routes are known: gives the success status of a route, for entries that do not set one. */
  function setSuccessStatuses(lookup: typeof statusOf): void {
    statusOf = lookup
  }

  /** Appends the caller's action to a chain, by default the owner's. Three statements. Returns the event's id. */
  async function record(tx: Tx, call: Call<Caller>, entry: AuditEntry): Promise<AuditEventId> {
    const [id] = await append(tx, entry.scope ?? chainOf(call.caller), [recordOf(call, entry)])
    return id!
  }

  /** As `record`, for what several calls did in one unit of work; the head of the chain is taken once for all. */
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
    const origin = { method, endpoint, api_key_id: keyId, operator: operatorFacts(caller) }
    return { about: { requestId: call.requestId, userId, keyId }, entry: completed, origin }
  }

  /** Adds the route's success status: the entry commits with its change, so the route will answer with success. */
  function withSuccessStatus(entry: AuditEntry, route: string): AuditEntry {
    const status = statusOf(route)
    return status === undefined ? entry : { ...entry, output: { ...entry.output, status } }
  }

  /** Appends an event that no caller asked for: a dead process's hold released, a schedule that ran. */
  async function recordUnattended(
    tx: Tx,
    { scope, ...about }: Circumstances,
    entry: Omit<AuditEntry, 'scope'>,
  ): Promise<AuditEventId> {
    const [id] = await append(tx, scope, [{ about, entry, origin: {} }])
    return id!
  }

  async function append(tx: Tx, scope: ChainScope, acts: readonly Act[]): Promise<AuditEventId[]> {
    let head = await takeHead(tx, scope)
    const rows = acts.map((act) => {
      const row = rowOf(scope, act, head)
      head = row
      return row
    })
    // Sent together: the head is locked, and whoever waits for it waits for each round trip.
    await Promise.all([...rows.map((row) => insertEvent(tx, row)), setHead(tx, { ...pick(head), scope })])
    return rows.map(({ id }) => id)
  }

  function rowOf(scope: ChainScope, { about, entry, origin }: Act, head: Head): AuditEventRow {
    const { requestId, userId = null, keyId = null } = about
    const row = {
      scope,
      seq: head.seq + 1,
      id: AuditEventId.create(),
      // Never decreases along a chain, even when the clock is set back (I40).
      at: Math.max(clock.now(), head.at),
      action: entry.action,
      entity_type: entry.entityType,
      entity_id: entry.entityId,
      user_id: userId,
      org_id: orgOf(scope),
      api_key_id: keyId,
      request_id: requestId,
      input: summarise({ ...origin, ...redactedMetadata(entry.input) }),
      output: summarise({ ...entry.output, request_id: requestId }),
      mode: entry.input?.mode ?? null,
      status: entry.output?.status ?? null,
      prev_hash: head.hash,
      hash: '',
    }
    row.hash = hashOf(row)
    return row
  }
}

const pick = ({ seq, hash, at }: Head): Head => ({ seq, hash, at })

/** An operator's name, role, transport and reason, recorded as they stated them (dx 2.2). */
const operatorFacts = (caller: Caller) =>
  caller.type === 'operator'
    ? { name: caller.name, role: caller.role, transport: caller.transport, reason: redacted(caller.reason) }
    : undefined
