import { type Call, type Caller, keyIdOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { KeyId, UserId } from '../kernel/ids'
import type { Tx } from '../kernel/store'
import { hashOf } from './chain'
import { listEvents } from './list'
import { redactedMetadata } from './redact'
import { insertEvent, setHead, takeHead } from './repository'
import { chainOf, orgOf, splitRoute, summarise } from './rules'
import { type AuditEntry, AuditEventId, type ChainScope } from './schema'
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

/** The audit log. Call `record` in the transaction of the change it describes, so that both commit together (I19). */
export function createAuditLog({ clock }: Deps) {
  let statusOf: (route: string) => number | undefined = () => undefined
  return { record, recordUnattended, setSuccessStatuses, list: listEvents, verify: verifyChains }

  /** Called once the routes are known: gives the success status of a route, for entries that do not set one. */
  function setSuccessStatuses(lookup: typeof statusOf): void {
    statusOf = lookup
  }

  /** Appends the caller's action to a chain, by default the owner's. Three statements. Returns the event's id. */
  function record(tx: Tx, call: Call<Caller>, entry: AuditEntry): Promise<AuditEventId> {
    const { caller } = call
    const userId = caller.type === 'operator' ? null : caller.userId
    const keyId = caller.type === 'operator' ? null : keyIdOf(caller)
    const about = { scope: entry.scope ?? chainOf(caller), requestId: call.requestId, userId, keyId }
    const completed =
      entry.output?.status !== undefined || caller.type === 'operator' ? entry : withSuccessStatus(entry, call.route)
    return append(tx, about, completed, { ...splitRoute(call.route), api_key_id: keyId, ...operatorFacts(caller) })
  }

  /** Adds the route's success status: the entry commits with its change, so the route will answer with success. */
  function withSuccessStatus(entry: AuditEntry, route: string): AuditEntry {
    const status = statusOf(route)
    return status === undefined ? entry : { ...entry, output: { ...entry.output, status } }
  }

  /** Appends an event that no caller asked for: a dead process's hold released, a schedule that ran. */
  function recordUnattended(tx: Tx, about: Circumstances, entry: Omit<AuditEntry, 'scope'>): Promise<AuditEventId> {
    return append(tx, about, entry, {})
  }

  async function append(tx: Tx, about: Circumstances, entry: AuditEntry, origin: Record<string, unknown>) {
    const { scope, requestId, userId = null, keyId = null } = about
    const head = await takeHead(tx, scope)
    const seq = head.seq + 1
    // `at` never decreases along a chain, even when the clock is set back (I40).
    const at = Math.max(clock.now(), head.at)
    const row = {
      scope,
      seq,
      id: AuditEventId.create(),
      at,
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
    }
    const hash = hashOf(row)
    // Sent together: the head is locked, and whoever waits for it waits for each round trip.
    await Promise.all([insertEvent(tx, { ...row, hash }), setHead(tx, { scope, seq, hash, at })])
    return row.id
  }
}

/** An operator's name, role, transport and reason, recorded as they stated them (dx 2.2). */
const operatorFacts = (caller: Caller): Record<string, unknown> =>
  caller.type === 'operator'
    ? { operator: { name: caller.name, role: caller.role, transport: caller.transport, reason: caller.reason } }
    : {}
