import type { Live } from '../cluster'
import type { OwnerScope } from '../kernel/caller'
import { type Clock, systemClock, utcDay } from '../kernel/clock'
import { newRequestId } from '../kernel/ids'
import { type Loop, startLoop } from '../kernel/loop'
import type { Reader, Store, Tx } from '../kernel/store'
import { moveSpends } from '../usage'
import { chargeOf } from './limits'
import type { BalanceWatch } from './low-balance'
import {
  type Charge,
  claimAmple,
  endHold,
  endHolds,
  growHold,
  idleElsewhere,
  insertHolds,
  lockWallet,
  markShared,
  openHolds,
  sharedElsewhere,
  takeCharges,
  unclaim,
} from './repository'
import { type Hold, IDLE, NEVER, type Reservation, SHARED } from './schema'

/** An escrow claims credit for `CALLS` calls at once. The wallet must have credit for `AMPLE` of them. */
const CALLS = 8
const AMPLE = 128
/** Calls that share one hold, at most. The next call opens a new hold, so that `verify` can check the full one. */
const MAX_CALLS = 1_000
const IDLE_MS = 2_000
/** Time between two updates of the idle marks. If the process is killed, longer calls appear as interrupted. */
const TICK_MS = 500
const REST_MS = 60_000
/** In a cluster: how long a hold counts as open after the database confirmed it. Much shorter than a lease. */
const SURE_MS = 1_000
/** How long to wait for other processes to give credit back, and how often to check. */
const WAIT_MS = 200
const LOOK_MS = 20
const RECALL = 'escrow.recall'

/** One hold that many calls of an owner share. Micro-cents; no running call uses `free`. */
export type Escrow = {
  ref: string
  owner: OwnerScope
  free: number
  allocated: number
  calls: number
  usedAt: number
  /** When the database last confirmed that it is open. */
  seenAt: number
  isOver: boolean
  /** Whether its row is marked idle. */
  isIdle: boolean
}

type Deps = {
  store: Pick<Store, 'write' | 'writeSoon' | 'dialect'>
  clock: Clock
  node: string
  unended: Set<string>
  live?: Pick<Live, 'publishToOthers' | 'subscribe'>
}

export type Escrows = ReturnType<typeof createEscrows>

/**
 * Claims credit for many calls at once, for owners who have plenty. Each call takes its part in memory. Before anybody
 * is refused, this process and the others give unused credit back. The row of the hold is authoritative: the amount to
 * give back is computed from it, and a call is charged only while the hold is open and has enough left.
 */
export function createEscrows({ store, clock, node, live, unended }: Deps) {
  /** For each owner: the open escrow, and the finished ones that still have running calls. */
  const owned = new Map<OwnerScope, Set<Escrow>>()
  const refills = new Map<OwnerScope, Promise<boolean>>()
  const closing = new Set<Promise<unknown>>()
  let wake = (): void => undefined
  let isStopped = false
  return {
    freeOf,
    freeAnywhere,
    reserve,
    mark,
    ended,
    abandon,
    recall,
    recallAll,
    recallOthers,
    start,
    closeIdle,
    markAll,
  }

  /** Credit that this process holds and no call uses, in micro-cents. */
  function freeOf(owner: OwnerScope): number {
    let free = 0
    for (const escrow of owned.get(owner) ?? []) free += escrow.free
    return free
  }

  /** The same for all processes. Of the others, only holds that no call uses count. */
  async function freeAnywhere(reader: Reader, owner: OwnerScope): Promise<number> {
    const elsewhere = reader.dialect === 'postgres' ? await idleElsewhere(reader, { owner, node }) : []
    return freeOf(owner) + (elsewhere[0]?.free ?? 0)
  }

  function openOf(owner: OwnerScope): Escrow | undefined {
    for (const escrow of owned.get(owner) ?? []) if (!escrow.isOver) return escrow
  }

  /**
   * Takes a part of the owner's escrow, and opens or enlarges it if needed. Null if the call needs a hold of its own:
   * the owner has too little credit, or `mayShare` is false.
   */
  function reserve(wanted: Reservation, mayShare: () => boolean): Hold | null | Promise<Hold | null> {
    if (isStopped || wanted.amount <= 0 || !mayShare()) return null
    return allocate(wanted) ?? refilled(wanted, mayShare)
  }

  async function refilled(wanted: Reservation, mayShare: () => boolean): Promise<Hold | null> {
    for (;;) {
      // Concurrent calls wait for the same refill.
      const under = refills.get(wanted.owner)
      const isAmple = await (under ?? refill(wanted))
      if (isStopped || !mayShare()) return null
      const part = allocate(wanted)
      if (part || (!isAmple && !under)) return part
    }
  }

  function refill({ owner, amount }: Reservation): Promise<boolean> {
    const seenAt = clock.monotonic()
    const refilling = store
      .writeSoon((tx) => enlarge(tx, owner, amount))
      .then((enlarged) => {
        if (!enlarged) return false
        const { escrow, more } = enlarged
        if (!escrow.isOver) Object.assign(escrow, { free: escrow.free + more, seenAt })
        return true
      })
      .finally(() => refills.delete(owner))
    refills.set(owner, refilling)
    return refilling
  }

  /** Locks the wallet before the hold. All code that ends or enlarges a shared hold uses this order. */
  async function enlarge(tx: Tx, owner: OwnerScope, amount: number) {
    const known = openOf(owner)
    const more = known && known.free >= amount ? 0 : CALLS * amount
    if (!(await claimAmple(tx, { id: owner, amount: more, min: AMPLE * amount }))) return null
    if (known) {
      if (await growHold(tx, { ref: known.ref, more })) return { escrow: known, more }
      // Another process considered this one dead and released the hold.
      await unclaim(tx, { id: owner, held: more, charged: 0 })
      finish(known)
      return { escrow: known, more }
    }
    const now = clock.now()
    const ref = `${SHARED}${newRequestId()}`
    const times = { created_at: now, expires_at: NEVER }
    await insertHolds(tx, [{ ref, wallet_id: owner, key_id: null, capped: false, amount: more, node, ...times }])
    const escrow = { ref, owner, free: 0, allocated: 0, calls: 0, usedAt: now, seenAt: 0, isOver: false, isIdle: false }
    const ofOwner = owned.get(owner) ?? new Set()
    owned.set(owner, ofOwner.add(escrow))
    wake()
    return { escrow, more }
  }

  function allocate({ owner, keyId, ref, amount }: Reservation): Hold | null {
    const escrow = openOf(owner)
    if (!escrow || escrow.free < amount) return null
    // A process that was paused for longer than its lease must not use a hold that others may have released.
    if (store.dialect === 'postgres' && clock.monotonic() - escrow.seenAt > SURE_MS) return null
    const createdAt = clock.now()
    escrow.free -= amount
    escrow.allocated += amount
    escrow.calls += 1
    escrow.usedAt = createdAt
    if (escrow.calls === MAX_CALLS) finish(escrow)
    return { ref: `${escrow.ref}.${ref}`, owner, keyId, capped: false, amount, createdAt, escrow }
  }

  /** Marks the row of an escrow as idle or in use. */
  async function mark(tx: Tx, escrow: Escrow, isIdle: boolean): Promise<void> {
    if (escrow.isIdle === isIdle) return
    await markShared(tx, { ref: escrow.ref, until: isIdle ? IDLE : NEVER })
    tx.afterCommit(() => {
      escrow.isIdle = isIdle
    })
  }

  /** Marks all escrows, because calls may have begun since the last mark. */
  async function markAll(): Promise<void> {
    const all = [...owned.values()].flatMap((ofOwner) => [...ofOwner])
    for (const escrow of all.filter(({ isIdle, allocated }) => isIdle !== (allocated === 0)))
      await store.write(async (tx) => {
        await lockWallet(tx, escrow.owner)
        await mark(tx, escrow, escrow.allocated === 0)
      })
  }

  /** Ends a call's part. The credit that it did not spend is free again. */
  function ended(hold: Hold, charged: number): void {
    const { escrow, amount } = hold
    if (!escrow || hold.hasEnded) return
    hold.hasEnded = true
    escrow.allocated -= amount
    escrow.free += amount - charged
    if (escrow.isOver && escrow.allocated === 0) close(escrow)
  }

  /** For a call whose charge is unknown: closes its escrow for further calls. */
  function abandon(hold: Hold): void {
    if (hold.escrow) finish(hold.escrow)
    ended(hold, 0)
  }

  /** Gives back unused credit of this process, in the caller's transaction. Returns whether there was any. */
  async function recall(tx: Tx, owner: OwnerScope): Promise<boolean> {
    let returned = 0
    for (const escrow of [...(owned.get(owner) ?? [])]) {
      finish(escrow)
      returned += await giveBack(tx, escrow)
    }
    return returned > 0
  }

  /** The same for all processes. The others are notified after the commit. */
  function recallAll(tx: Tx, owner: OwnerScope): Promise<boolean> {
    tx.afterCommit(() => live?.publishToOthers(RECALL, owner, {}))
    return recall(tx, owner)
  }

  /** Ends the hold, or reduces it to the part that calls use. Reads the row: an earlier transaction may have failed. */
  async function giveBack(tx: Tx, escrow: Escrow): Promise<number> {
    const { ref, owner } = escrow
    await lockWallet(tx, owner)
    const [hold] = await openHolds(tx, [ref])
    if (!hold) return 0
    const { allocated } = escrow
    const free = Math.max(0, hold.amount - allocated)
    escrow.free = 0
    if (allocated === 0) await endHold(tx, { ref, owner, state: 'settled', charged: 0 })
    else if (free > 0) await growHold(tx, { ref, more: -free })
    if (free > 0) await unclaim(tx, { id: owner, held: free, charged: 0 })
    return free
  }

  function finish(escrow: Escrow): void {
    if (escrow.isOver) return
    escrow.isOver = true
    if (escrow.allocated === 0) close(escrow)
  }

  function close(escrow: Escrow): void {
    const { ref, owner } = escrow
    const closed = store
      .write((tx) => giveBack(tx, escrow))
      .catch(() => unended.add(ref))
      .finally(() => {
        closing.delete(closed)
        const ofOwner = owned.get(owner)
        ofOwner?.delete(escrow)
        if (!ofOwner?.size) owned.delete(owner)
      })
    closing.add(closed)
  }

  /**
   * Tells other processes to give back this owner's unused credit, and retries `attempt` for a moment meanwhile. Null
   * if it keeps failing, or at once if no other process has a shared hold.
   */
  async function recallOthers<T>(reader: Reader, owner: OwnerScope, attempt: () => Promise<T>): Promise<T | null> {
    if (!live || reader.dialect === 'sqlite' || !(await sharedElsewhere(reader, { owner, node })).length) return null
    live.publishToOthers(RECALL, owner, {})
    for (let waited = 0; waited < WAIT_MS; waited += LOOK_MS) {
      await systemClock.sleep(LOOK_MS)
      const found = await attempt()
      if (found) return found
    }
    return null
  }

  /** Gives back credit that no call used for a while. On stop it gives back everything once running calls end. */
  function start(onError: (name: string, error: unknown) => void): Loop {
    const idleMs = () => (owned.size ? TICK_MS : REST_MS)
    const tick = async () => {
      const closed = closeIdle()
      await markAll()
      return closed
    }
    const loop = startLoop({ name: 'escrows', idleMs, clock, onError, tick })
    wake = loop.wake
    const deafen = live?.subscribe(RECALL, '*', (heard) => {
      const owner = heard?.id as OwnerScope | undefined
      if (owner && owned.has(owner)) store.write((tx) => recall(tx, owner)).catch((error) => onError('escrows', error))
    })
    const stop = async () => {
      isStopped = true
      await Promise.allSettled([loop.stop(), ...refills.values()])
      deafen?.()
      for (const those of owned.values()) for (const escrow of those) finish(escrow)
      await Promise.all(closing)
    }
    return { wake: loop.wake, stop }
  }

  function closeIdle(): number {
    const isIdle = (escrow: Escrow) => !escrow.isOver && !escrow.allocated && clock.now() - escrow.usedAt >= IDLE_MS
    const idle = [...owned.values()].flatMap((ofOwner) => [...ofOwner].filter(isIdle))
    for (const escrow of idle) finish(escrow)
    return idle.length
  }
}

/** A call that ends, and its cost in micro-cents. No hold for a call that is free. */
export type Settling = { readonly hold: Hold | null; readonly cost: number }
type SettlingDeps = {
  clock: Clock
  escrows: Pick<Escrows, 'mark' | 'ended' | 'abandon'>
  watch: Pick<BalanceWatch, 'charged'>
}

/** Ends holds and charges the real cost. Calls that end together share each statement. */
export function createSettling({ clock, escrows, watch }: SettlingDeps) {
  return settleAll

  /** Returns what each was charged: 0 when its hold had ended. */
  async function settleAll(tx: Tx, list: readonly Settling[]): Promise<number[]> {
    const seenAt = clock.monotonic()
    const charges: Charge[] = []
    for (const { hold, cost } of list) {
      if (!hold) continue
      const charged = hold.hasEnded ? 0 : chargeOf(hold, cost)
      charges.push({ hold, charged, isEnded: false, balance: 0, ownerCapped: false })
    }
    if (charges.length) await settle(tx, charges, seenAt)
    let at = 0
    return list.map(({ hold }) => {
      const charge = hold && charges[at++]!
      return charge?.isEnded ? charge.charged : 0
    })
  }

  async function settle(tx: Tx, charges: readonly Charge[], seenAt: number): Promise<void> {
    await endHolds(tx, charges)
    const allocated = new Map<Escrow, number>()
    for (const { hold } of charges)
      if (hold.escrow && !hold.hasEnded)
        allocated.set(hold.escrow, (allocated.get(hold.escrow) ?? hold.escrow.allocated) - hold.amount)
    if (allocated.size) tx.afterCommit(() => endParts(charges, seenAt))
    for (const [escrow, left] of allocated) await escrows.mark(tx, escrow, left === 0)
    const paid = charges.every(({ isEnded }) => isEnded) ? charges : charges.filter(({ isEnded }) => isEnded)
    if (!paid.length) return
    await takeCharges(tx, paid)
    await moveSpends(tx, spendsOf(paid))
    for (const { hold, charged, balance } of paid) {
      const watching = charged > 0 ? watch.charged(tx, hold.owner, charged, balance) : undefined
      if (watching) await watching
    }
  }

  function endParts(charges: readonly Charge[], seenAt: number): void {
    for (const { hold, charged, isEnded } of charges) {
      if (!hold.escrow || hold.hasEnded) continue
      if (isEnded) {
        hold.escrow.seenAt = seenAt
        escrows.ended(hold, charged)
      } else escrows.abandon(hold)
    }
  }
}

/** The daily spend rows that charges update: of the keys, and of owners with caps. */
function spendsOf(charges: readonly Charge[]) {
  const moves: { subject: string; day: string; spent: number; held: number }[] = []
  for (const { hold, charged, ownerCapped } of charges) {
    const { keyId, owner, capped, amount, createdAt } = hold
    const day = utcDay(createdAt)
    if (keyId && (charged > 0 || capped))
      moves.push({ subject: keyId, day, spent: charged, held: capped ? -amount : 0 })
    if (charged > 0 && ownerCapped) moves.push({ subject: owner, day, spent: charged, held: 0 })
  }
  return moves
}
