import fc from 'fast-check'
import { releaseAbandonedBatch } from '../../src/billing'
import { createLimits } from '../../src/billing/limits'
import type { Hold } from '../../src/billing/schema'
import { createNodes } from '../../src/cluster'
import type { OwnerScope } from '../../src/kernel/caller'
import { UserId } from '../../src/kernel/ids'
import type { Store } from '../../src/kernel/store'
import { createUsageLog } from '../../src/usage'
import { createModel, type Step, sequence } from './model'
import { createWorld } from './world'

const CENT = 1_000_000
const NO_CAPS = { daily: null, monthly: null }
const CALL = { endpoint: '/completions', mode: null, resolvedMode: null, model: null, status: 200 }
const USED = { promptTokens: 1, completionTokens: 1, cached: false, latencyMs: 1, ttftMs: null, fallbackUsed: false }

/**
 * T-SIM (docs/promises.md I45): random sequences on the real store beside the model; after every step balance, holds
 * and told events agree. Throws with the shortest sequence that does not.
 */
export async function simulate(store: Store, runs: number, seed?: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(sequence, (steps) => play(store, steps)),
    {
      numRuns: runs,
      ...(seed === undefined ? {} : { seed }),
    },
  )
}

let accounts = 0

async function play(store: Store, steps: readonly Step[]): Promise<void> {
  const world = createWorld(store)
  const { clock, audit, heard } = world
  const userId = UserId.create()
  const owner: OwnerScope = `user:${userId}`
  const name = `sim-${++accounts}-${userId}`
  const model = createModel(clock.now)
  const usage = createUsageLog({ clock })
  let life = 0
  let attempts = 0
  let billing = world.start(`${name}-0`)
  const holds: Hold[] = []

  const settle = (hold: Hold, cents: number) =>
    store.write(async (tx) => {
      const charged = await billing.settleApart(tx, hold, cents * CENT)
      const call = { requestId: hold.ref, owner, userId, keyId: null, costMicro: charged }
      if (charged > 0) await usage.record(tx, { ...call, ...CALL, ...USED })
      return charged / CENT
    })
  const recover = (limit = 100) =>
    releaseAbandonedBatch({ store, clock, audit, node: `${name}-${life}`, release: billing.release }, limit)

  const acts: { [K in Step['do']]: (step: Extract<Step, { do: K }>) => Promise<void> } = {
    async topup({ ref, cents }) {
      const grant = { owner, amount: cents * CENT, ref: `${name}-${ref}`, kind: 'grant', note: null } as const
      await store.write((tx) => billing.grant(tx, grant))
      model.topup(ref, cents)
    },
    async hold({ cents }) {
      const input = { owner, keyId: null, caps: NO_CAPS, ref: `${name}-h${++attempts}`, amount: cents * CENT }
      const given = await store.write((tx) => billing.reserve(tx, input)).catch(refusal)
      agree('hold', given !== 'refused', model.hold(cents))
      if (given && given !== 'refused') holds.push(given)
    },
    async settle({ at, cents }) {
      const hold = holds[at]
      if (hold) agree('settle', await settle(hold, cents), model.settle(at, cents))
    },
    async release({ at }) {
      const hold = holds[at]
      if (hold) agree('release', await store.write((tx) => billing.release(tx, hold)), model.release(at))
    },
    /** The same end told three times at once. */
    async retry({ at, cents }) {
      const hold = holds[at]
      if (!hold) return
      const notices = await Promise.all([settle(hold, cents), settle(hold, cents), settle(hold, cents)])
      agree('retry', Math.max(...notices), model.settle(at, cents))
      agree('retries that charge', notices.filter(Boolean).length <= 1, true)
    },
    async crash() {
      // What its lease does after a few seconds on Postgres.
      await createNodes({ store, node: `${name}-${life}`, home: name, roles: 'api', ownFiles: false }).leave()
      billing = world.start(`${name}-${++life}`)
      await recover()
      model.recover(true)
    },
    async wait({ ms }) {
      clock.advance(ms)
      await recover()
      model.recover(false)
    },
    async caps({ daily, monthly }) {
      const { limits, watch } = billing
      const verbs = createLimits({
        store,
        clock,
        audit,
        orgs: null as never,
        limits,
        watch,
        balanceOf: billing.balance,
        recall: billing.escrows.recallAll,
        canCharge: false,
      })
      await verbs.setCaps(owner, { daily_cap_cents: daily, monthly_cap_cents: monthly }, async () => undefined)
      model.setCaps({ daily, monthly })
    },
  }

  for (const step of steps) {
    await acts[step.do](step as never)
    const { balance, held } = await billing.balance(store.read, owner)
    const lows = heard.filter(({ type, scope }) => type === 'credits.low' && scope === owner).length
    agree(step.do, { balance: balance / CENT, held: held / CENT, lows }, model.facts())
  }
}

function refusal(error: { code?: string }): 'refused' {
  if (error.code === 'insufficient_credits') return 'refused'
  throw error
}

function agree(step: string, real: unknown, expected: unknown): void {
  const [seen, text] = [JSON.stringify(real), JSON.stringify(expected)]
  if (seen !== text) throw new Error(`after ${step} the account says ${seen}, the model ${text}`)
}
