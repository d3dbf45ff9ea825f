import { createAuditLog } from '../../src/audit'
import { createAccountLimits, createBalanceWatch, createBilling } from '../../src/billing'
import { type Hold, payerOf } from '../../src/billing/schema'
import { type CallEnd, createHolds } from '../../src/charging'
import type { Live } from '../../src/cluster'
import { createEventBus, type DomainEvent } from '../../src/events'
import { type KeyCaller, ownerOf } from '../../src/kernel/caller'
import type { AppError } from '../../src/kernel/errors'
import { microToCents } from '../../src/kernel/money'
import type { Store } from '../../src/kernel/store'
import { createUsageLog } from '../../src/usage'
import { callOf, keyCaller } from '../support/callers'
import { fakeClock } from '../support/clock'

let grants = 0
let refs = 0

export const newRef = (): string => `${String(++refs).padStart(8, '0')}.req_test`

const A_CALL = {
  ...{ requestId: 'req_test', userId: null, endpoint: '/completions', mode: 'fast', resolvedMode: 'fast' },
  ...{ model: 'svc-1-flash', status: 200, promptTokens: 1, completionTokens: 1, cached: false, latencyMs: 1 },
  ...{ ttftMs: null, fallbackUsed: false },
}

/** The record of a plain call: one row that is usage, event and posting. */
export function recordOf(caller: KeyCaller, hold: Hold, costMicro: number, cost_cents = microToCents(costMicro)) {
  const call = callOf(caller)
  const { owner, keyId, ref } = hold
  return {
    call,
    entry: {
      ...{ action: 'completion.created', entityType: 'completion' as const, entityId: ref },
      input: { api_key_id: keyId, endpoint: '/completions', method: 'POST', mode: A_CALL.mode },
      output: { cost_cents, request_id: call.requestId, status: 200 },
    },
    usage: { ...A_CALL, requestId: call.requestId, userId: caller.userId, owner, keyId, costMicro, paidBy: ref },
  }
}

/** The end of a plain call. */
export const endOf = (caller: KeyCaller, hold: Hold, cost: number): CallEnd => ({
  hold,
  cost,
  describe: (costMicro) => recordOf(caller, hold, costMicro),
  tell: () => null,
})

/** Billing over a real store, and accounts with as much credit as a test says. Micro-cents throughout. */
export function createWorld(store: Store) {
  const clock = fakeClock()
  const audit = createAuditLog({ clock })
  const usage = createUsageLog({ clock })
  const heard: DomainEvent[] = []
  const events = createEventBus({
    clock,
    onError: (_type, error) => {
      throw error
    },
  })
  events.afterCommit('*', (event) => heard.push(event))
  /** When expired credit is looked for. */
  const looks: number[] = []
  const ensure = async (_: unknown, __: unknown, { runAt }: { runAt?: number }) => void looks.push(runAt!)
  /** A process: what it remembers ends with it. */
  const start = (node: string, initialCredit = 0, live?: Pick<Live, 'publishToOthers' | 'subscribe'>) => {
    // Room for many would be made anew with every process of a simulation, and cost more than all it does.
    const limits = createAccountLimits({ ...store, max: 1_000 })
    const watch = createBalanceWatch({ limits, events })
    const deps = { store, clock, audit, limits, watch, jobs: { ensure }, node, initialCredit, ...(live && { live }) }
    return Object.assign(createBilling(deps), { limits, watch })
  }
  const billing = start('node-a')
  const holds = new Map<string, Hold>()
  const ending = createHolds({ store, clock, billing, audit, usage })

  async function account(credit: number, overrides: Partial<KeyCaller> = {}) {
    const caller = keyCaller(overrides)
    const owner = ownerOf(caller)
    const ref = `test-${++grants}-${owner}`
    if (credit > 0) {
      await store.write((tx) => billing.grant(tx, { owner, amount: credit, ref, kind: 'grant', note: null }))
    }
    return {
      caller,
      owner,
      balance: () => billing.balance(store.read, owner),
      reserve: async (amount: number, ref = newRef(), by = caller) => {
        const hold = await store.write((tx) => billing.reserve(tx, { ...payerOf(by), ref, amount }))
        if (hold) holds.set(ref, hold)
        return ref
      },
    }
  }

  return {
    clock,
    audit,
    events,
    heard,
    looks,
    billing,
    start,
    account,
    usage,
    ending,
    /** Ends the work of a hold as a call does, whose usage row is the entry of the ledger. */
    settle: (ref: string, cost: number) =>
      store.write(async (tx) => {
        const hold = holds.get(ref)
        if (!hold) return 0
        const costMicro = await billing.settle(tx, hold, cost)
        await usage.record(tx, { ...A_CALL, owner: hold.owner, keyId: hold.keyId, costMicro, paidBy: ref })
        return costMicro
      }),
    release: (ref: string) =>
      store.write(async (tx) => {
        const hold = holds.get(ref)
        return hold ? billing.release(tx, hold) : false
      }),
    verify: () => billing.verify(store.read),
  }
}

/** How each of many attempts ended: its value or the code it was refused with. */
export async function outcomes<T>(attempts: Promise<T>[]): Promise<(T | string)[]> {
  return (await Promise.allSettled(attempts)).map((result) =>
    result.status === 'fulfilled' ? result.value : ((result.reason as AppError).code ?? String(result.reason)),
  )
}
