import { findOwner } from '../accounts'
import type { AuditLog } from '../audit'
import { listLedger } from '../billing'
import type { Traces, Traffic } from '../cluster'
import type { Call, OperatorCaller, OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { microToCents } from '../kernel/money'
import type { Store } from '../kernel/store'
import { traceNotFound } from './errors'
import type { RequestTrace, TraceQuery } from './schema'

type Deps = { store: Store; clock: Clock; audit: AuditLog; traffic: Traffic; traces: Traces }

const MAX_LINES = 4_000
const MAX_ROWS = 100
const DAY_MS = 86_400_000
/** Around the steps of a request: its rows are written while it runs, or soon after. */
const AROUND_MS = 3_600_000

/**
 * Everything about one request: its line in the log, its steps with their times, what it cost and what is on the record
 * of it. Steps are remembered by the process that answered; money and record are in the store (dx 2.8).
 */
export function createTrace({ store, clock, audit, traffic, traces }: Deps) {
  return async function trace(_call: Call<OperatorCaller>, ref: string, query: TraceQuery): Promise<RequestTrace> {
    const steps = await traces.find(ref)
    const line = traffic.newest(MAX_LINES).find(({ id }) => id === ref) ?? null
    const scope = query.owner === undefined ? ownerIn(steps) : (await findOwner(store.read, query.owner)).scope
    const about = steps[0]?.at ?? line?.at
    // Rows of the ledger whose reference ends in the request.
    const rows = scope === null ? [] : (await listLedger(store.read, scope, MAX_ROWS, { ref })).items.toReversed()
    const events = scope === null ? [] : await recordOf(scope, ref, query, about)
    if (!steps.length && !line && !rows.length && !events.length) throw traceNotFound(ref)
    return {
      object: 'trace',
      id: ref,
      owner: scope,
      request: line && { ...line },
      steps: steps.map(({ facts = {}, ...step }) => ({ ...step, facts })),
      ledger: rows.map(({ id: _, ref: hold, amount, balance, at, ...row }) => ({
        ...row,
        ref: hold,
        amount_cents: microToCents(amount),
        balance_cents: microToCents(balance),
        at: iso(at),
      })),
      audit: events,
    }
  }

  async function recordOf(scope: OwnerScope, ref: string, { since }: TraceQuery, about: string | undefined) {
    const at = about === undefined ? clock.now() : Date.parse(about)
    const from = since ?? iso(at - (about === undefined ? DAY_MS : AROUND_MS))
    const page = await audit.list(store.read, scope, { request_id: ref, from, limit: MAX_ROWS })
    return page.items.toReversed().map(({ id, action, entityType, entityId, timestamp, outputSummary }) => ({
      id,
      action,
      entity_type: entityType,
      entity_id: entityId,
      at: timestamp,
      output: outputSummary,
    }))
  }
}

const ownerIn = (steps: readonly { facts?: Readonly<Record<string, unknown>> }[]): OwnerScope | null => {
  const owner = steps.map(({ facts }) => facts?.owner).find((one) => typeof one === 'string')
  return (owner as OwnerScope | undefined) ?? null
}
