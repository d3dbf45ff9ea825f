import { createAuditLog, splitRoute } from '../../src/audit'
import type { AuditEntry, AuditQuery } from '../../src/audit/schema'
import { type Caller, type KeyCaller, ownerOf } from '../../src/kernel/caller'
import type { Store } from '../../src/kernel/store'
import { createUsageLog } from '../../src/usage'
import { callOf, keyCaller } from '../support/callers'
import { fakeClock } from '../support/clock'

const COMPLETION: AuditEntry = {
  action: 'completion.created',
  entityType: 'completion',
  entityId: 'cmpl_1',
  input: { mode: 'fast', prompt_sha256: 'ab'.repeat(32), prompt_length: 12 },
  output: { status: 200, engine: 'svc-1-flash', cost_cents: 0.02, fallback_used: false },
}

const CALL = {
  ...{ endpoint: '/completions', resolvedMode: 'fast', model: 'svc-1-flash', promptTokens: 1, completionTokens: 2 },
  ...{ costMicro: 3, cached: false, latencyMs: 4, ttftMs: null, fallbackUsed: false },
}

/** The record over a real store, and someone whose chain a test fills. */
export function createWorld(store: Store) {
  const clock = fakeClock()
  const audit = createAuditLog({ clock })
  const usage = createUsageLog({ clock })

  function someone(overrides: Partial<KeyCaller> = {}) {
    const caller = keyCaller(overrides)
    const scope = ownerOf(caller)
    return {
      caller,
      scope,
      act: (entry: Partial<AuditEntry> = {}, by: Caller = caller, requestId?: string) =>
        store.write((tx) => {
          const call = callOf(by)
          return audit.record(tx, requestId ? { ...call, requestId } : call, { ...COMPLETION, ...entry })
        }),
      /** An event on the usage row of a call. */
      call: (entry: Partial<AuditEntry> = {}, by: KeyCaller = caller, requestId = callOf(by).requestId) =>
        store.write((tx) => {
          const call = { ...callOf(by), requestId }
          const { scope: _, input, output, ...rest } = { ...COMPLETION, ...entry }
          const origin = { api_key_id: by.keyId, ...splitRoute(call.route) }
          const recorded = {
            ...rest,
            input: { ...origin, ...input },
            output: { ...output, request_id: requestId },
          }
          return audit.recordCalls(tx, [{ call, entry: recorded }], (unit, events) => {
            const of = { requestId, owner: scope, userId: by.userId, keyId: by.keyId }
            const usages = events.map(({ mode, status }) => ({ ...CALL, ...of, mode, status: status! }))
            return usage.recordAll(unit, usages, events)
          })
        }),
      list: (query: Partial<AuditQuery> = {}) => audit.list(store.read, scope, { limit: 50, ...query }),
    }
  }

  return { clock, audit, someone, verify: () => audit.verify(store.read) }
}
