import { isNotNull, sql } from 'drizzle-orm'
import type { OrgService } from '../accounts'
import type { AuditLog } from '../audit'
import type { Call, OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { defineError, invalidInput } from '../kernel/errors'
import { centsToMicro, microToCents } from '../kernel/money'
import { createReadCache } from '../kernel/read-cache'
import { rowsOf } from '../kernel/rows'
import { allOf, type Changes, command, excludedOf, type Reader, type Store, type Tx } from '../kernel/store'
import { costOfDay, type Spend, spendOf, spendOfOwner, startOwnerSpend } from '../usage'
import { LOW_BALANCE_CENTS } from './config'
import { billingErrors, type CapHolder } from './errors'
import type { BillingLimits, LimitsPatch } from './limits-schema'
import type { BalanceWatch } from './low-balance'
import { recentPurchases } from './payments/repository'
import { walletOf } from './repository'
import type { Balance, Caps } from './schema'
import { type BillingScope, payingOwner, scopeOf } from './scope'
import { billingLimits, type LimitsRow, wallets } from './table'

/** What a hold is charged for a cost: no more than it holds (docs/attacks.md G8). */
export const chargeOf = ({ amount }: { amount: number }, cost: number): number => Math.min(wholeCost(cost), amount)

export const hasCaps = ({ daily, monthly }: Caps): boolean => daily !== null || monthly !== null

/** Whether a balance fell below a threshold in this step: it was at or above it before. */
export const crossed = (before: number, after: number, threshold: number): boolean =>
  before >= threshold && after < threshold

export const limitRows = rowsOf(billingLimits)
export const saveLimits = command<LimitsRow>()((tx, p) => {
  const t = tx.of(billingLimits)
  const row = allOf(t, p)
  return tx
    .insert(t)
    .values(row)
    .onConflictDoUpdate({ target: t.owner, set: excludedOf(row, 'owner') })
})

/** Marks in the wallet whether its owner has caps. On Postgres the row lock also makes charges of the owner wait. */
const markCapped = command<{ id: OwnerScope; capped: boolean }>()((tx, p) => {
  const t = tx.of(wallets)
  return tx
    .insert(t)
    .values({ id: p.id, balance: 0, held: 0, capped: p.capped })
    .onConflictDoUpdate({ target: t.id, set: { capped: sql`excluded.capped` } })
    .returning({ balance: t.balance, held: t.held })
})

/** An owner's limits in micro-cents, in the form that paid calls check. */
export type AccountLimits = {
  readonly caps: Caps
  readonly lowBalance: number
  /** Null when automatic top-up is off. */
  readonly topUp: { readonly below: number; readonly amountCents: number } | null
}

export type AccountLimitsOf = ReturnType<typeof createAccountLimits>

type AccountLimitsDeps = {
  changes: Changes
  /** How many owners are cached. */
  max?: number
}

const toLimits = (row: LimitsRow | undefined): AccountLimits => ({
  caps: { daily: micro(row?.daily_cap_cents ?? null), monthly: micro(row?.monthly_cap_cents ?? null) },
  lowBalance: centsToMicro(row?.low_balance_threshold_cents ?? LOW_BALANCE_CENTS),
  topUp:
    row?.top_up_enabled && row.top_up_threshold_cents !== null && row.top_up_amount_cents !== null
      ? { below: centsToMicro(row.top_up_threshold_cents), amountCents: row.top_up_amount_cents }
      : null,
})

const micro = (cents: number | null): number | null => (cents === null ? null : centsToMicro(cents))

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  orgs: OrgService
  limits: AccountLimitsOf
  watch: BalanceWatch
  balanceOf(reader: Reader, owner: OwnerScope): Promise<Balance>
  /** Gives back credit that no call uses, because it must not count against a cap. */
  recall(tx: Tx, owner: OwnerScope): Promise<unknown>
  /** Whether the payment driver can charge a saved payment method; automatic top-up needs that. */
  canCharge: boolean
}

export type LimitService = ReturnType<typeof createLimits>

const noAutoTopUp = defineError(
  'conflict',
  () =>
    'This server has no payment processor that can charge automatically, so "auto_top_up" cannot be enabled. Nothing was changed.',
)

/** An owner's caps, low-balance threshold and automatic top-up (docs/api.md 18.2). */
export function createLimits({ store, clock, audit, orgs, limits, watch, balanceOf, recall, canCharge }: Deps) {
  return { get, update, setCaps, spending }

  /** The limits of the caller or the active org. */
  async function get(call: Call, scope?: BillingScope): Promise<BillingLimits> {
    return present(store.read, await payingOwner(orgs, store.read, call.caller, scope))
  }

  /**
   * Changes the fields that the body names. Throws 400 `validation_error`, `org_required`, 403 `forbidden`, 409
   * `conflict` when automatic top-up is requested but cannot be charged.
   */
  async function update(call: Call, { scope, ...patch }: LimitsPatch): Promise<BillingLimits> {
    const owner = await payingOwner(orgs, store.read, call.caller, scope)
    if (patch.auto_top_up?.enabled && !canCharge) throw noAutoTopUp()
    return change(owner, patch, (tx, fields) =>
      audit.record(tx, call, {
        action: 'billing.limits_updated',
        entityType: 'billing',
        entityId: null,
        scope: owner,
        input: { fields },
      }),
    )
  }

  /** Sets caps for an operator, whose `record` writes the audit row. */
  function setCaps(
    owner: OwnerScope,
    caps: Pick<LimitsPatch, 'daily_cap_cents' | 'monthly_cap_cents'>,
    record: (tx: Tx, fields: string[]) => Promise<unknown>,
  ): Promise<BillingLimits> {
    return change(owner, caps, record)
  }

  async function change(
    owner: OwnerScope,
    patch: Omit<LimitsPatch, 'scope'>,
    record: (tx: Tx, fields: string[]) => Promise<unknown>,
  ): Promise<BillingLimits> {
    const fields = Object.keys(patch)
    if (!fields.length) return present(store.read, owner)
    await limits.changeFor(owner, () =>
      store.write(async (tx) => {
        const before = await limitRows.first(tx, { owner })
        const after = merged(before ?? defaults(owner), patch, clock.now())
        await apply(tx, toLimits(before), after)
        await record(tx, fields)
      }),
    )
    return present(store.read, owner)
  }

  async function apply(tx: Tx, from: ReturnType<typeof toLimits>, row: LimitsRow): Promise<void> {
    const { owner } = row
    const to = toLimits(row)
    // Must be first: it blocks charges of this owner, so none can commit between the sum and the mark.
    const [wallet] = await markCapped(tx, { id: owner, capped: hasCaps(to.caps) })
    if (hasCaps(to.caps)) await recall(tx, owner)
    if (hasCaps(to.caps) && !hasCaps(from.caps)) await startOwnerSpend(tx, owner, clock.now())
    await saveLimits(tx, row)
    await watch.limitsChanged(tx, owner, from, to, wallet!.balance)
  }

  /** For reports: an owner's caps and how much of them is used. Cents. */
  async function spending(reader: Reader, owner: OwnerScope) {
    const row = await limitRows.first(reader, { owner })
    const { today, month } = await spendOfOwner(reader, owner, clock.now())
    return {
      daily_cap_cents: row?.daily_cap_cents ?? null,
      daily_used_cents: microToCents(today.spent),
      monthly_cap_cents: row?.monthly_cap_cents ?? null,
      monthly_used_cents: microToCents(month.spent),
    }
  }

  async function present(reader: Reader, owner: OwnerScope): Promise<BillingLimits> {
    const row = (await limitRows.first(reader, { owner })) ?? defaults(owner)
    const { balance, held } = await balanceOf(reader, owner)
    const [last] = await recentPurchases(reader, { owner, kind: 'top_up' }, 1)
    const { daily_used_cents, monthly_used_cents } = await spending(reader, owner)
    return {
      object: 'billing_limits',
      scope: scopeOf(owner),
      daily_cap_cents: row.daily_cap_cents,
      monthly_cap_cents: row.monthly_cap_cents,
      low_balance_threshold_cents: row.low_balance_threshold_cents,
      auto_top_up: {
        enabled: row.top_up_enabled,
        threshold_cents: row.top_up_threshold_cents,
        amount_cents: row.top_up_amount_cents,
        last: last ? { state: last.state, error: last.error } : null,
      },
      usage: {
        daily_used_cents,
        monthly_used_cents,
        balance_cents: microToCents(balance),
        reserved_cents: microToCents(held),
      },
    }
  }
}

const defaults = (owner: OwnerScope): LimitsRow => ({
  owner,
  daily_cap_cents: null,
  monthly_cap_cents: null,
  low_balance_threshold_cents: LOW_BALANCE_CENTS,
  top_up_enabled: false,
  top_up_threshold_cents: null,
  top_up_amount_cents: null,
  updated_at: 0,
})

/** Missing members stay unchanged, null clears. Throws 400 when top-up is enabled without a threshold or an amount. */
function merged(row: LimitsRow, { auto_top_up, ...patch }: Omit<LimitsPatch, 'scope'>, now: number): LimitsRow {
  const next = { ...row, ...patch, updated_at: now }
  if (!auto_top_up) return next
  next.top_up_enabled = auto_top_up.enabled
  next.top_up_threshold_cents = auto_top_up.threshold_cents ?? row.top_up_threshold_cents
  next.top_up_amount_cents = auto_top_up.amount_cents ?? row.top_up_amount_cents
  if (!next.top_up_enabled) return next
  for (const member of ['threshold_cents', 'amount_cents'] as const) {
    const path = `auto_top_up.${member}`
    if (next[`top_up_${member}`] === null)
      throw invalidInput(
        path,
        `"${path}" is missing; automatic top-up needs it. Send it together with "enabled": true.`,
      )
  }
  return next
}

/** Caches the limits of owners. Every paid call reads them, and they rarely change. */
export function createAccountLimits({ changes, max = 20_000 }: AccountLimitsDeps) {
  const cache = createReadCache<OwnerScope, AccountLimits>({
    ...{ max, changes, tables: ['billing_limits'] },
    joins: false,
  })
  const changing = new Map<OwnerScope, number>()

  return { of, changeFor, forget: (owner: OwnerScope): void => cache.forget(owner) }

  /** Synchronous when cached. An owner without a row has the defaults. */
  function of(reader: Reader, owner: OwnerScope): AccountLimits | Promise<AccountLimits> {
    return (changing.has(owner) ? undefined : cache.known(owner)) ?? read(reader, owner)
  }

  function read(reader: Reader, owner: OwnerScope): AccountLimits | Promise<AccountLimits> {
    const load = async () => toLimits(await limitRows.first(reader, { owner }))
    return changing.has(owner) ? load() : (cache.get(owner, load) as AccountLimits | Promise<AccountLimits>)
  }

  /**
   * Runs a change of an owner's limits and bypasses the cache meanwhile: transactions may already see the new limits
   * while other readers still see the old ones.
   */
  async function changeFor<T>(owner: OwnerScope, change: () => Promise<T>): Promise<T> {
    changing.set(owner, (changing.get(owner) ?? 0) + 1)
    try {
      return await change()
    } finally {
      const left = changing.get(owner)! - 1
      if (left) changing.set(owner, left)
      else changing.delete(owner)
      cache.forget(owner)
    }
  }
}

/**
 * The sum of all daily caps and how much of it is used today, in cents. The sum is null without caps. For operators.
 */
export async function capsOfDay(reader: Reader, now: number) {
  const t = reader.of(billingLimits)
  const isCapped = isNotNull(t.daily_cap_cents)
  const [sum] = await reader
    .select({ cap: sql<number | null>`sum(${t.daily_cap_cents})` })
    .from(t)
    .where(isCapped)
  if (!sum?.cap) return { cap_cents: null, capped_cents: 0 }
  const capped = await costOfDay(reader, now, reader.select({ owner: t.owner }).from(t).where(isCapped))
  return { cap_cents: Number(sum.cap), capped_cents: capped }
}

/** A cost that can be booked: a whole number, never negative; NaN counts as zero (docs/attacks.md G7). */
function wholeCost(cost: number): number {
  if (Number.isNaN(cost)) return 0
  return Math.min(Math.max(Math.round(cost), 0), Number.MAX_SAFE_INTEGER)
}

/**
 * Throws 402 when spent, held and `wanted` together exceed a cap (docs/promises.md I39). With `wanted` 0 it also throws
 * when the cap is used up exactly.
 */
export function assertWithinCaps(holder: CapHolder, caps: Caps, spend: Spend, wanted: number): void {
  const periods = [
    { period: 'daily', cap: caps.daily, used: spend.today.spent + spend.today.held },
    { period: 'monthly', cap: caps.monthly, used: spend.month.spent + spend.month.held },
  ] as const
  for (const { period, cap, used } of periods) {
    if (cap === null) continue
    if (wanted > 0 ? used + wanted > cap : used >= cap)
      throw billingErrors.capReached(holder, period, cap, used, wanted)
  }
}

/** Subtracts a spent amount from grants, soonest to expire first. */
export function spendGrants<G extends { remaining: number; expires_at: number }>(
  grants: readonly G[],
  spent: number,
): G[] {
  let remaining = Math.max(spent, 0)
  return [...grants]
    .sort((a, b) => a.expires_at - b.expires_at)
    .map((grant) => {
      const taken = Math.min(grant.remaining, remaining)
      remaining -= taken
      return { ...grant, remaining: grant.remaining - taken }
    })
}

type OwnerCapsDeps = { limits: AccountLimitsOf; clock: Clock; escrows: { freeOf(owner: OwnerScope): number } }

/** Caps on everything an owner spends, in addition to those of each key (docs/api.md 1.9). */
export function createOwnerCaps({ limits, clock, escrows }: OwnerCapsDeps) {
  return {
    /** Whether the owner has caps. Synchronous when the limits are cached. */
    hasCaps: (reader: Reader, owner: OwnerScope): boolean | Promise<boolean> => {
      const ownerLimits = limits.of(reader, owner)
      return ownerLimits instanceof Promise ? ownerLimits.then(({ caps }) => hasCaps(caps)) : hasCaps(ownerLimits.caps)
    },

    /**
     * Throws 402 when the spent amount, all holds of the wallet and `wanted` exceed a cap. With `claimed` the holds
     * include `wanted` already, and this transaction has locked the wallet, so the numbers cannot change.
     */
    async assert(reader: Reader, owner: OwnerScope, wanted: number, claimed: boolean): Promise<void> {
      const { caps } = await limits.of(reader, owner)
      const { today, month } = await spendOf(reader, owner, clock.now())
      // Setting caps creates the wallet, so it exists.
      const [wallet] = await walletOf(reader, { id: owner })
      const held = wallet!.held - escrows.freeOf(owner) - (claimed ? wanted : 0)
      const spend = { today: { ...today, held }, month: { ...month, held } }
      assertWithinCaps(owner.startsWith('org:') ? 'organization' : 'account', caps, spend, wanted)
    },
  }
}
