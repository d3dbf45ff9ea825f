import type { AuditLog } from '../audit'
import { type Live, RENEW_MS } from '../cluster'
import type { Call, OwnerScope, TenantCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { failpoint } from '../kernel/failpoint'
import { type Loop, startLoop } from '../kernel/loop'
import { centsToMicro, MAX_CENTS } from '../kernel/money'
import { createLru } from '../kernel/read-cache'
import type { Reader, Store, Tx } from '../kernel/store'
import { holdSpend, settleSpend, spendOf } from '../usage'
import { billingErrors } from './errors'
import { createEscrows, createSettling } from './escrow'
import { createExpiringGrants, type ExpiringDeps } from './expiring-grants'
import type { AccountLimitsOf } from './limits'
import { assertWithinCaps, createOwnerCaps, hasCaps } from './limits'
import type { BalanceWatch } from './low-balance'
import {
  anyAbandoned,
  claim,
  claimAll,
  credit,
  debit,
  endHold,
  entryOf,
  expiredHolds,
  growHold,
  insertCharge,
  insertEntry,
  insertHolds,
  lockWallet,
  openHolds,
  orphanedHolds,
  unclaim,
  walletOf,
} from './repository'
import {
  type Balance,
  type Grant,
  type Hold,
  ISSUED,
  NEVER,
  OF_JOBS,
  OF_SESSIONS,
  payerOf,
  type Reservation,
  requestOf,
} from './schema'
import { createReconciliation, verifyLedger } from './verify'

const IDLE_MS = 30_000

type AbandonedLoopDeps = {
  store: Store
  clock: Clock
  audit: AuditLog
  node: string
  release(tx: Tx, hold: Hold): Promise<boolean>
  /** References of holds whose request could not end them, for example because the database was down. */
  unended?: Set<string>
}

export type Billing = ReturnType<typeof createBilling>

/** The longest request (600 s, docs/api.md 1.9) plus a minute. */
const HOLD_MS = 660_000
const BATCH = 100

/** An owner with this much credit, in micro-cents, is not checked again for `PLENTY_MS`. */
const PLENTY = centsToMicro(100)
const PLENTY_MS = 1_000

type Deps = ExpiringDeps & {
  limits: AccountLimitsOf
  watch: BalanceWatch
  /** Id of this process, new at each start; distinguishes its holds from those of dead processes. */
  node: string
  /** Reaches the other processes of the database. */
  live?: Pick<Live, 'publishToOthers' | 'subscribe'>
  /** Micro-cents of a new account. */
  initialCredit?: number
}

/** Money: one wallet per owner, holds before work, and a double-entry ledger of every movement. All in micro-cents. */
export function createBilling({ store, clock, audit, limits, watch, jobs, node, live, initialCredit = 0 }: Deps) {
  const unended = new Set<string>()
  const escrows = createEscrows({ store, clock, node, unended, ...(live && { live }) })
  const ownerCaps = createOwnerCaps({ limits, clock, escrows })
  const expiringGrants = createExpiringGrants({ store, clock, audit, watch, jobs, escrows })
  /** When the database last said that an owner had plenty of credit. */
  const plenty = createLru<OwnerScope, number>(20_000)
  const settleAll = createSettling({ clock, escrows, watch })
  return {
    balance,
    assertFunds,
    reserve,
    reserveAll,
    reserveShared,
    extend,
    grow,
    settle,
    settleAll,
    settleApart,
    release,
    grant,
    adjust,
    amountOf,
    openAccount,
    releaseAbandoned,
    /** For a request that could not end its hold, for example because the database was down. */
    releaseLater: (hold: Hold): void => void (hold.escrow ? escrows.abandon(hold) : unended.add(hold.ref)),
    unended,
    escrows,
    /** Describes every inconsistency of wallets, holds and ledger, one sentence each. Empty if there is none. */
    verify: verifyLedger,
    expiringGrants,
    reconciliation: createReconciliation({ store, expiringGrants }),
  }

  async function balance(reader: Reader, owner: OwnerScope): Promise<Balance> {
    const [wallet] = await walletOf(reader, { id: owner })
    const { balance } = wallet ?? { balance: 0 }
    const held = wallet?.held ? Math.max(0, wallet.held - (await escrows.freeAnywhere(reader, owner))) : 0
    return { balance, held, available: balance - held }
  }

  /**
   * Throws 402 `insufficient_credits` when nothing is available or a cap of the key is used up. Reads nothing for
   * owners without caps who had plenty of credit a second ago.
   */
  function assertFunds(reader: Reader, { caller }: Call): void | Promise<void> {
    const { owner, caps } = payerOf(caller)
    const hadPlenty = clock.monotonic() <= (plenty.get(owner) ?? -Infinity) + PLENTY_MS
    const now = (isCapped: boolean) => (isCapped ? assertFundsNow(reader, caller) : undefined)
    const isCapped = !hadPlenty || hasCaps(caps) || ownerCaps.hasCaps(reader, owner)
    return isCapped instanceof Promise ? isCapped.then(now) : now(isCapped)
  }

  async function assertFundsNow(reader: Reader, caller: TenantCaller): Promise<void> {
    const { owner, keyId, caps } = payerOf(caller)
    const { available } = await balance(reader, owner)
    if (available >= PLENTY) plenty.set(owner, clock.monotonic())
    const isFunded = async () => (await balance(reader, owner)).available > 0
    if (available <= 0 && !(await escrows.recallOthers(reader, owner, isFunded)))
      throw billingErrors.noCredits(available)
    if (keyId && hasCaps(caps)) assertWithinCaps('key', caps, await spendOf(reader, keyId, clock.now()), 0)
    if (await ownerCaps.hasCaps(reader, owner)) await ownerCaps.assert(reader, owner, 0, false)
  }

  /**
   * Holds an amount before work starts (docs/promises.md I7, I39). Throws 402 `insufficient_credits`. A zero amount
   * holds and writes nothing. Reserving the same `ref` twice is a bug and violates a unique key.
   */
  async function reserve(tx: Tx, { forJob, forSession, ...reservation }: Reservation): Promise<Hold | null> {
    if (reservation.amount <= 0) return null
    const lasting = forJob ? OF_JOBS : forSession ? OF_SESSIONS : null
    const [hold] = await reserveAll(tx, [reservation], lasting)
    if (hold instanceof AppError) throw hold
    return hold!
  }

  /** Like `reserve`, for several. For each whose owner has too little, the error 402 in place of its hold. */
  async function reserveAll(
    tx: Tx,
    list: readonly Reservation[],
    lasting: typeof OF_JOBS | typeof OF_SESSIONS | null = null,
  ): Promise<(Hold | AppError)[]> {
    const createdAt = clock.now()
    const claimed = await claimAll(tx, list)
    const lacking = await Promise.all(
      list.map(({ owner, amount }, at) => (claimed[at] ? null : lackingAfterRecall(tx, owner, amount))),
    )
    const times = { created_at: createdAt, expires_at: lasting ? NEVER : createdAt + HOLD_MS }
    const made = list.map(({ ref, owner, keyId, caps, amount }, at): Hold | AppError => {
      const capped = keyId !== null && hasCaps(caps)
      return lacking[at] ?? { ref, owner, keyId, capped, amount, createdAt }
    })
    const rows = made.flatMap((hold) => {
      if (hold instanceof AppError) return []
      const { ref, owner, keyId, capped, amount } = hold
      return [{ ref, wallet_id: owner, key_id: keyId, capped, amount, node: lasting ?? node, ...times }]
    })
    await insertHolds(tx, rows)
    // Most owners and keys have no caps.
    for (const [at, hold] of made.entries()) {
      if (hold instanceof AppError || !(hold.capped || (await ownerCaps.hasCaps(tx, hold.owner)))) continue
      await countAgainstCaps(tx, hold, list[at]!.caps, hold.amount)
    }
    return made
  }

  /**
   * Enlarges a hold for work that takes longer than expected. Throws 402 `insufficient_credits`, leaving the hold as it
   * was. Returns the hold to end in place of the old one.
   */
  async function extend(tx: Tx, hold: Hold, caps: Reservation['caps'], more: number): Promise<Hold> {
    await lockWallet(tx, hold.owner)
    if (!(await growHold(tx, { ref: hold.escrow?.ref ?? hold.ref, more }))) throw billingErrors.holdHasEnded()
    await claimExactly(tx, hold.owner, more)
    await countAgainstCaps(tx, hold, caps, more)
    return { ...hold, amount: hold.amount + more }
  }

  /** Like `extend` in its own transaction, for calls, whose hold may be a part of a shared one. */
  async function grow(hold: Hold, caps: Reservation['caps'], more: number): Promise<Hold> {
    const { escrow = { allocated: 0 } } = hold
    escrow.allocated += more
    try {
      return await store.write((tx) => extend(tx, hold, caps, more))
    } catch (error) {
      escrow.allocated -= more
      throw error
    }
  }

  /** Claims an amount. Unused credit is given back before this throws 402 `insufficient_credits`. */
  async function claimExactly(tx: Tx, owner: OwnerScope, amount: number): Promise<void> {
    const lacking = (await claim(tx, { id: owner, amount })) ? null : await lackingAfterRecall(tx, owner, amount)
    if (lacking) throw lacking
  }

  /** Claims an amount once unused credit was given back. The error 402 if that is too little. */
  async function lackingAfterRecall(tx: Tx, owner: OwnerScope, amount: number): Promise<AppError | null> {
    const isClaimed = async () => (await claim(tx, { id: owner, amount })) > 0
    if ((await escrows.recall(tx, owner)) && (await isClaimed())) return null
    if (await escrows.recallOthers(tx, owner, isClaimed)) return null
    return billingErrors.insufficientCredits((await balance(tx, owner)).available, amount)
  }

  /**
   * Like `reserve`, but takes a part of a hold that many calls share, without a write. Null if the call needs a hold of
   * its own: the owner has caps or too little credit.
   */
  function reserveShared(wanted: Reservation): Hold | null | Promise<Hold | null> {
    const { caps, owner } = wanted
    return escrows.reserve(wanted, () => !hasCaps(caps) && ownerCaps.hasCaps(store.read, owner) === false)
  }

  async function countAgainstCaps(tx: Tx, hold: Hold, caps: Reservation['caps'], amount: number): Promise<void> {
    const { owner, keyId, capped, createdAt } = hold
    const ownerCapped = ownerCaps.hasCaps(tx, owner)
    if (ownerCapped === true || (ownerCapped && (await ownerCapped))) await ownerCaps.assert(tx, owner, amount, true)
    if (!capped || !keyId) return
    // Every reservation of this key waits for the wallet's row lock, so these sums cannot change before the commit.
    assertWithinCaps('key', caps, await spendOf(tx, keyId, createdAt), amount)
    await holdSpend(tx, keyId, createdAt, amount)
  }

  /**
   * Ends a hold and books what the work really cost, at most the hold (docs/attacks.md G8). Returns what was charged: 0
   * when the hold had ended. The usage row that the caller writes is the entry of the ledger, so it names the hold.
   */
  function settle(tx: Tx, hold: Hold, cost: number): Promise<number> {
    return settleAll(tx, [{ hold, cost }]).then(([charged]) => charged!)
  }

  /** Like `settle`, for work without its own usage row. The charge then has two ledger entries. */
  async function settleApart(tx: Tx, hold: Hold, cost: number): Promise<number> {
    const charged = await settle(tx, hold, cost)
    const entry = { ref: hold.ref, wallet: hold.owner, paid: -charged, received: charged, at: clock.now() }
    if (charged > 0) await insertCharge(tx, entry)
    return charged
  }

  /** Ends a hold without a charge because the work failed. Returns false, and does nothing, if it had already ended. */
  async function release(tx: Tx, hold: Hold): Promise<boolean> {
    const { ref, owner, keyId, capped, amount, createdAt } = hold
    if (hold.escrow) {
      tx.afterCommit(() => escrows.ended(hold, 0))
      return !hold.hasEnded
    }
    if (!(await endHold(tx, { ref, owner, state: 'released', charged: 0 }))) return false
    await unclaim(tx, { id: owner, held: amount, charged: 0 })
    if (keyId && capped) await settleSpend(tx, keyId, createdAt, 0, amount)
    return true
  }

  /**
   * Adds credit. Returns false, and changes nothing, when this `ref` was granted before (docs/attacks.md G10). Throws
   * 400 for less than a micro-cent, 409 `idempotency_conflict` when the ref was granted to another owner, `conflict`
   * when the balance would exceed what can be counted exactly.
   */
  async function grant(tx: Tx, { owner, amount, ref, kind, note, expiresAt = null }: Grant): Promise<boolean> {
    if (amount < 1) throw billingErrors.amountTooSmall()
    if (!(await issue(tx, { owner, amount, ref, kind, note }))) return false
    await expiringGrants.beforeAdjustment(tx, owner, amount)
    await addToWallet(tx, owner, amount)
    if (expiresAt !== null) await expiringGrants.open(tx, owner, { ref, amount, expiresAt })
    return true
  }

  /** Writes both legs; false when they exist already: one `ref` is one movement, of one owner. */
  async function issue(tx: Tx, { owner, amount, ref, kind, note }: Omit<Grant, 'kind'> & { kind: string }) {
    const entry = { ref, kind, at: clock.now(), note }
    const [first] = await insertEntry(tx, { ...entry, account: ISSUED, amount: -amount })
    if (first) {
      await insertEntry(tx, { ...entry, account: owner, amount })
      return true
    }
    if ((await amountOf(tx, { owner, ref, kind })) === null) throw billingErrors.refAlreadyUsed(ref)
    return false
  }

  /** The amount that a movement added to an owner's balance, negative if it took some. Null if there was none. */
  async function amountOf(reader: Reader, { owner, ref, kind }: Pick<Grant, 'owner' | 'ref'> & { kind: string }) {
    return (await entryOf(reader, { ref, kind, account: owner }))[0]?.amount ?? null
  }

  async function addToWallet(tx: Tx, owner: OwnerScope, amount: number): Promise<void> {
    const [wallet] = await credit(tx, { id: owner, amount })
    if (wallet!.balance > centsToMicro(MAX_CENTS)) throw billingErrors.walletFull()
  }

  /**
   * An operator's correction of a balance, up or down; once per `ref`. Throws 409 `conflict` when the wallet has less
   * than that available, or would hold too much.
   */
  async function adjust(tx: Tx, { owner, amount, ref, note }: Omit<Grant, 'kind'>): Promise<boolean> {
    if (Math.abs(amount) < 1) throw billingErrors.amountTooSmall()
    if (!(await issue(tx, { owner, amount, ref, kind: 'adjust', note }))) return false
    await expiringGrants.beforeAdjustment(tx, owner, amount)
    if (amount >= 0) {
      await addToWallet(tx, owner, amount)
      return true
    }
    await escrows.recall(tx, owner)
    plenty.delete(owner)
    const take = async () => (await debit(tx, { id: owner, amount: -amount }))[0]
    const left = (await take()) ?? (await escrows.recallOthers(tx, owner, take))
    if (!left) throw billingErrors.balanceTooLow((await balance(tx, owner)).available, amount)
    await watch.decreased(tx, owner, left.balance - amount, left.balance)
    return true
  }

  /** Creates a new account's wallet with `SVC_CREDITS_INITIAL_CENTS`; once per owner. */
  async function openAccount(tx: Tx, owner: OwnerScope): Promise<void> {
    if (initialCredit <= 0) return
    await grant(tx, { owner, amount: initialCredit, ref: owner, kind: 'initial', note: null })
  }

  /** Releases all abandoned holds at boot, before the first request (docs/promises.md I8). Returns how many. */
  async function releaseAbandoned(): Promise<number> {
    let released = 0
    for (;;) {
      const batch = await releaseAbandonedBatch({ store, clock, audit, node, release, unended }, BATCH)
      released += batch
      if (batch < BATCH) return released
    }
  }
}

/**
 * Releases one batch of abandoned holds: those that their request could not end, expired ones, and those of processes
 * that have ended. Each hold of a call gets an audit row (docs/attacks.md G13). Returns how many it released.
 */
export async function releaseAbandonedBatch(deps: AbandonedLoopDeps, limit = BATCH): Promise<number> {
  const { store, clock, audit, node, release, unended = new Set() } = deps
  // Checks without a transaction first: usually there is none.
  if (!unended.size && !(await anyAbandoned(store.read, { node, now: clock.now() })).length) return 0
  return store.write(async (tx) => {
    const refs = [...unended].slice(0, limit)
    const stillOpen = refs.length ? await openHolds(tx, refs) : []
    tx.afterCommit(() => {
      for (const ref of refs) unended.delete(ref)
    })
    const expired = await expiredHolds(tx, { node, now: clock.now(), limit })
    const orphaned = await orphanedHolds(tx, { node, limit })
    const found = [...stillOpen, ...expired, ...orphaned].slice(0, limit)
    let released = 0
    for (const hold of found) {
      if (!(await release(tx, hold))) continue
      released += 1
      failpoint('recovery_step')
      if (hold.isIdle) continue
      const about = { scope: hold.owner, requestId: requestOf(hold.ref), keyId: hold.keyId }
      await audit.recordUnattended(tx, about, {
        action: 'completion.interrupted',
        entityType: 'completion',
        entityId: null,
        output: { cost_cents: 0, error_code: 'server_error' },
      })
    }
    return released
  })
}

/** Repeats that while the server runs. In a cluster as often as leases are renewed, because nodes may die. */
export function startHoldRecovery(deps: AbandonedLoopDeps & { onError(name: string, error: unknown): void }): Loop {
  const { clock, onError } = deps
  const pace = deps.store.dialect === 'postgres' ? { idleMs: RENEW_MS, longestNapMs: RENEW_MS } : { idleMs: IDLE_MS }
  return startLoop({ name: 'hold-recovery', ...pace, clock, onError, tick: () => releaseAbandonedBatch(deps) })
}
