import type { Live } from '../cluster'
import type { OwnerScope } from '../kernel/caller'
import { type Clock, systemClock } from '../kernel/clock'
import { newRequestId } from '../kernel/ids'
import { type Loop, startLoop } from '../kernel/loop'
import { gathered, type Reader, type Store, type Tx } from '../kernel/store'
import { settleSpends } from '../usage'
import { chargeOf } from './limits'
import type { BalanceWatch } from './low-balance'
import {
  claimAmple,
  endHold,
  growHold,
  idleElsewhere,
  insertHold,
  lockWallet,
  markShared,
  openHolds,
  sharedElsewhere,
  unclaim,
  unclaimReturning,
} from './repository'
import { type Hold, IDLE, NEVER, type Reservation, SHARED } from './schema'

/** How many calls of the size asked for are claimed at once, and how many the account must have credit for. */
const CALLS = 8
const AMPLE = 128
/** So many calls share a hold at most: then the next one is opened, and this one can be checked as a whole. */
const MAX_CALLS = 1_000
const IDLE_MS = 2_000
/** A call that takes longer is on the record if its process is killed. */
const TICK_MS = 500
const REST_MS = 60_000
/** In a cluster: how long a hold counts as open after the database said so. A lease lasts several times as long. */
const SURE_MS = 1_000
/** How long to wait for what other processes give back, and how often to look. */
const WAIT_MS = 200
const LOOK_MS = 20
const RECALL = 'escrow.recall'

/** One hold that many calls of an owner share. Micro-cents: `free` is what no running call has of it. */
export type Escrow = {
  ref: string
  owner: OwnerScope
  free: number
  allocated: number
  calls: number
  usedAt: number
  /** When the database last said that it is open. */
  seenAt: number
  isOver: boolean
  /** As its row says. */
  isIdle: boolean
}

type Deps = {
  store: Pick<Store, 'write' | 'writeSoon' | 'dialect'>
  clock: Clock
  node: string
  unended: Set<string>
  /** Reaches the other processes. */
  live?: Pick<Live, 'tellOthers' | 'hear'>
}

export type Escrows = ReturnType<typeof createEscrows>

/**
 * Credit of owners who have plenty, claimed for many calls at once: a call takes its part of it in memory. What no call
 * has is given back before anybody is refused, by this process and by others. The row of the hold is authoritative:
 * what is given back is computed from it, and a call is charged only while it is open and has that much left.
 */
export function createEscrows({ store, clock, node, live, unended }: Deps) {
  /** Of each owner the one that calls take from, and those that are over but have running calls. */
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

  /** What this process has on hold for no call. */
  function freeOf(owner: OwnerScope): number {
    let free = 0
    for (const escrow of owned.get(owner) ?? []) free += escrow.free
    return free
  }

  /** The same, with what other processes have on hold while none of their calls has a part of it. */
  async function freeAnywhere(reader: Reader, owner: OwnerScope): Promise<number> {
    const elsewhere = reader.dialect === 'postgres' ? await idleElsewhere(reader, { owner, node }) : []
    return freeOf(owner) + (elsewhere[0]?.free ?? 0)
  }

  function openOf(owner: OwnerScope): Escrow | undefined {
    for (const escrow of owned.get(owner) ?? []) if (!escrow.isOver) return escrow
  }

  /**
   * A part of the owner's escrow, which is opened or enlarged where needed while the owner `mayShare`. Null where the
   * call needs a hold of its own.
   */
  function reserve(wanted: Reservation, mayShare: () => boolean): Hold | null | Promise<Hold | null> {
    if (isStopped || wanted.amount <= 0 || !mayShare()) return null
    return allocate(wanted) ?? refilled(wanted, mayShare)
  }

  async function refilled(wanted: Reservation, mayShare: () => boolean): Promise<Hold | null> {
    for (;;) {
      // Calls that come at once wait for the same refill.
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

  /** Locks the wallet before the hold, like whatever ends or enlarges a shared one. */
  async function enlarge(tx: Tx, owner: OwnerScope, amount: number) {
    const known = openOf(owner)
    const more = known && known.free >= amount ? 0 : CALLS * amount
    if (!(await claimAmple(tx, { id: owner, amount: more, least: AMPLE * amount }))) return null
    if (known) {
      if (await growHold(tx, { ref: known.ref, more })) return { escrow: known, more }
      // Others took this process for dead and released it.
      await unclaim(tx, { id: owner, held: more, charged: 0 })
      finish(known)
      return { escrow: known, more }
    }
    const now = clock.now()
    const ref = `${SHARED}${newRequestId()}`
    const times = { created_at: now, expires_at: NEVER }
    await insertHold(tx, { ref, wallet_id: owner, key_id: null, capped: false, amount: more, node, ...times })
    const escrow = { ref, owner, free: 0, allocated: 0, calls: 0, usedAt: now, seenAt: 0, isOver: false, isIdle: false }
    const those = owned.get(owner) ?? new Set()
    owned.set(owner, those.add(escrow))
    wake()
    return { escrow, more }
  }

  function allocate({ owner, keyId, ref, amount }: Reservation): Hold | null {
    const escrow = openOf(owner)
    if (!escrow || escrow.free < amount) return null
    // A process that was stopped for longer than its lease must not take from what others may have released.
    if (store.dialect === 'postgres' && clock.monotonic() - escrow.seenAt > SURE_MS) return null
    const createdAt = clock.now()
    escrow.free -= amount
    escrow.allocated += amount
    escrow.calls += 1
    escrow.usedAt = createdAt
    if (escrow.calls === MAX_CALLS) finish(escrow)
    return { ref: `${escrow.ref}.${ref}`, owner, keyId, capped: false, amount, createdAt, escrow }
  }

  /** Has the row of an escrow say whether calls have a part of it. */
  async function mark(tx: Tx, escrow: Escrow, isIdle: boolean): Promise<void> {
    if (escrow.isIdle === isIdle) return
    await markShared(tx, { ref: escrow.ref, until: isIdle ? IDLE : NEVER })
    tx.afterCommit(() => {
      escrow.isIdle = isIdle
    })
  }

  /** The same of all of them, for calls that began since the last one ended. */
  async function markAll(): Promise<void> {
    const all = [...owned.values()].flatMap((those) => [...those])
    for (const escrow of all.filter(({ isIdle, allocated }) => isIdle !== (allocated === 0)))
      await store.write(async (tx) => {
        await lockWallet(tx, escrow.owner)
        await mark(tx, escrow, escrow.allocated === 0)
      })
  }

  /** A call has ended, and what it did not cost is free again. */
  function ended(hold: Hold, charged: number): void {
    const { escrow, amount } = hold
    if (!escrow || hold.hasEnded) return
    hold.hasEnded = true
    escrow.allocated -= amount
    escrow.free += amount - charged
    if (escrow.isOver && escrow.allocated === 0) close(escrow)
  }

  /** For a call of which it is not known what was charged: nothing more is taken from its escrow. */
  function abandon(hold: Hold): void {
    if (hold.escrow) finish(hold.escrow)
    ended(hold, 0)
  }

  /** Gives back, in the transaction of the caller, what this process holds for no call. True when there was any. */
  async function recall(tx: Tx, owner: OwnerScope): Promise<boolean> {
    let given = 0
    for (const escrow of [...(owned.get(owner) ?? [])]) {
      finish(escrow)
      given += await giveBack(tx, escrow)
    }
    return given > 0
  }

  /** The same of all processes: of others with the commit of the unit. */
  function recallAll(tx: Tx, owner: OwnerScope): Promise<boolean> {
    tx.afterCommit(() => live?.tellOthers(RECALL, owner, {}))
    return recall(tx, owner)
  }

  /** Ends the hold, or leaves of it what calls have. By its row, because an earlier unit may have been undone. */
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
        const those = owned.get(owner)
        those?.delete(escrow)
        if (!those?.size) owned.delete(owner)
      })
    closing.add(closed)
  }

  /**
   * Has other processes give back what they have on hold for no call of this owner, and tries again for a moment while
   * they do. Null where it was in vain; at once where none has such a hold.
   */
  async function recallOthers<T>(reader: Reader, owner: OwnerScope, attempt: () => Promise<T>): Promise<T | null> {
    if (!live || reader.dialect === 'sqlite' || !(await sharedElsewhere(reader, { owner, node })).length) return null
    live.tellOthers(RECALL, owner, {})
    for (let waited = 0; waited < WAIT_MS; waited += LOOK_MS) {
      await systemClock.sleep(LOOK_MS)
      const found = await attempt()
      if (found) return found
    }
    return null
  }

  /** Gives back what nobody used for a while; at a stop all of it, of running calls when they end. */
  function start(onError: (name: string, error: unknown) => void): Loop {
    const idleMs = () => (owned.size ? TICK_MS : REST_MS)
    const tick = async () => {
      const closed = closeIdle()
      await markAll()
      return closed
    }
    const loop = startLoop({ name: 'escrows', idleMs, clock, onError, tick })
    wake = loop.wake
    const deafen = live?.hear(RECALL, '*', (heard) => {
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
    const idle = [...owned.values()].flatMap((those) => [...those].filter(isIdle))
    for (const escrow of idle) finish(escrow)
    return idle.length
  }
}

type Settling = { hold: Hold; cost: number }
type SettlingDeps = {
  clock: Clock
  escrows: Pick<Escrows, 'mark' | 'ended' | 'abandon'>
  watch: Pick<BalanceWatch, 'charged'>
}

/** Ends holds and books what the work really cost, each statement once for all calls that end together. */
export function createSettling({ clock, escrows, watch }: SettlingDeps) {
  return gathered(async (tx: Tx, one: Settling) => (await settleAll(tx, [one]))[0]!, settleAll)

  async function settleAll(tx: Tx, list: readonly Settling[]): Promise<number[]> {
    const seenAt = clock.monotonic()
    const charges = list.map(({ hold, cost }) => ({ hold, charged: hold.hasEnded ? 0 : chargeOf(hold, cost) }))
    const ended = await endHold.all(tx, charges.map(endingOf))
    const allocated = new Map<Escrow, number>()
    for (const [at, { hold, charged }] of charges.entries()) {
      const { escrow } = hold
      if (!escrow || hold.hasEnded) continue
      allocated.set(escrow, (allocated.get(escrow) ?? escrow.allocated) - hold.amount)
      tx.afterCommit(() => {
        if (!ended[at]) return escrows.abandon(hold)
        escrow.seenAt = seenAt
        escrows.ended(hold, charged)
      })
    }
    for (const [escrow, left] of allocated) await escrows.mark(tx, escrow, left === 0)
    const paid = charges.filter((_, at) => ended[at])
    const left = await unclaimReturning.all(tx, paid.map(freedOf))
    await settleSpends(
      tx,
      paid.flatMap((charge, at) => spendsOf(charge, left[at]![0]!.capped)),
    )
    for (const [at, { hold, charged }] of paid.entries()) {
      const watching = charged > 0 ? watch.charged(tx, hold.owner, charged, left[at]![0]!.balance) : undefined
      if (watching) await watching
    }
    return charges.map(({ charged }, at) => (ended[at] ? charged : 0))
  }
}

type Charge = { hold: Hold; charged: number }

/** A shared hold stays open for other calls. */
const endingOf = ({ hold: { ref, owner, escrow }, charged }: Charge) =>
  escrow
    ? { ref: escrow.ref, owner, state: 'open' as const, charged }
    : { ref, owner, state: 'settled' as const, charged }

const freedOf = ({ hold: { owner, escrow, amount }, charged }: Charge) => ({
  id: owner,
  held: escrow ? charged : amount,
  charged,
})

/** On whose days a charge counts. */
function spendsOf({ hold: { keyId, owner, capped, amount, createdAt: at }, charged }: Charge, ownerCapped: boolean) {
  const ofKey = keyId && (charged > 0 || capped) ? [{ subject: keyId, at, charged, freed: capped ? amount : 0 }] : []
  return charged > 0 && ownerCapped ? [...ofKey, { subject: owner, at, charged, freed: 0 }] : ofKey
}
