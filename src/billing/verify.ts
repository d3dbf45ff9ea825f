import type { OwnerScope } from '../kernel/caller'
import { microToCents } from '../kernel/money'
import type { Reader, Store, Tx } from '../kernel/store'
import type { ExpiringGrants } from './expiring-grants'
import { ISSUED, REVENUE, SHARED } from './schema'
import {
  booksOf,
  chargesOf,
  entriesFrom,
  entriesSum,
  heldMismatches,
  holdsFrom,
  movementSum,
  pages,
  postingsFrom,
  setWallet,
  sharedCharges,
  walletsFrom,
} from './verify-queries'

/** A wallet that disagrees with the ledger. Micro-cents; `balance` and `held` as stored, null without a wallet. */
export type Difference = {
  owner: OwnerScope
  balance: number | null
  held: number | null
  /** Sum of the ledger entries, and of the open holds. */
  entries: number
  open: number
}

type Deps = {
  store: Store
  expiringGrants: Pick<ExpiringGrants, 'beforeAdjustment'>
}

const MAX_VIOLATIONS = 100

/**
 * Checks docs/promises.md I6 and I8: a wallet's balance is the sum of its ledger entries and its `held` the sum of its
 * open holds; the entries of each movement sum to zero; every settled hold has its charge in the ledger and no other
 * hold has one. Reads in pages, so that a live server keeps answering; apparent faults are confirmed by a single
 * statement, so that concurrent changes cause no false alarms.
 */
export async function verifyLedger(reader: Reader): Promise<string[]> {
  const violations: string[] = []
  for await (const found of faults(reader)) {
    violations.push(`billing: ${found}`)
    if (violations.length >= MAX_VIOLATIONS) return [...violations, 'billing: and more']
  }
  return violations
}

async function* faults(reader: Reader): AsyncGenerator<string> {
  const accounts = new Map<string, number>()
  yield* ledgerFaults(reader, accounts)
  const posted = new Map<string, Charges>()
  const shared = new Map<string, Shared>()
  yield* postingFaults(reader, accounts, posted, shared)
  yield* walletFaults(reader, accounts)
  for (const { id, held, sum } of await heldMismatches(reader, {})) {
    yield `wallet ${id} has ${held} held, but its open holds add up to ${sum}`
  }
  yield* holdFaults(reader, posted, shared)
}

/** Sums the entries of every account, and of every movement until it balances. */
async function* ledgerFaults(reader: Reader, accounts: Map<string, number>): AsyncGenerator<string> {
  const unbalanced = new Map<string, { ref: string; kind: string; sum: number }>()
  for await (const entry of pages(
    (after: number, limit) => entriesFrom(reader, { after, limit }),
    0,
    (row) => row.id,
  )) {
    const { ref, kind, account, amount } = entry
    accounts.set(account, (accounts.get(account) ?? 0) + amount)
    const movement = JSON.stringify([ref, kind])
    const sum = (unbalanced.get(movement)?.sum ?? 0) + amount
    if (sum === 0) unbalanced.delete(movement)
    else unbalanced.set(movement, { ref, kind, sum })
    if (kind === 'settle' && entry.hold === null) yield `ledger entry ${entry.id} charges ${ref}, which has no hold`
  }
  for (const { ref, kind } of unbalanced.values()) {
    const [now] = await movementSum(reader, { ref, kind })
    if (Number(now?.sum ?? 0) !== 0) yield `the ${kind} of ${ref} adds up to ${now?.sum}, not to 0`
  }
}

/** How many charges a wallet paid, and their sum. */
type Charges = { count: number; sum: number }

const count = (charges: Map<string, Charges>, wallet: string, amount: number): void => {
  const of = charges.get(wallet) ?? { count: 0, sum: 0 }
  charges.set(wallet, { count: of.count + 1, sum: of.sum + amount })
}

/** What the calls of a shared hold cost, and their references until all of them were read. */
type Shared = { cost: number; refs: Set<string> | null }

/**
 * Adds charged calls to the sums. Each call has a hold of its owner. Its own hold is settled at its cost. For a shared
 * hold the call's event has the cost, and the audit chain protects that event.
 */
async function* postingFaults(
  reader: Reader,
  accounts: Map<string, number>,
  posted: Map<string, Charges>,
  shared: Map<string, Shared>,
) {
  const calls = (after: number, limit: number) => postingsFrom(reader, { after, limit })
  for await (const call of pages(calls, 0, ({ id }) => id)) {
    const { ref, account, amount, payer, state, settled } = call
    accounts.set(account, (accounts.get(account) ?? 0) - amount)
    if (isShared(call.hold)) yield* sharedFaults(call, shared)
    else count(posted, account, amount)
    if (payer !== account) yield `a call of ${account} charges ${ref}, which has no hold`
    else if (isShared(call.hold)) continue
    else if (state !== 'settled') yield `hold ${ref} is ${state} and yet charged ${amount}`
    else if (settled !== amount) yield `hold ${ref} was settled at ${settled}, but the ledger charges ${amount}`
  }
}

const isShared = (ref: string | null): boolean => ref?.startsWith(SHARED) === true

type Posting = Awaited<ReturnType<typeof postingsFrom>>[number]

function* sharedFaults({ ref, hold, amount, output, state, settled }: Posting, shared: Map<string, Shared>) {
  const of = shared.get(hold!) ?? { cost: 0, refs: new Set() }
  shared.set(hold!, of)
  if (of.refs?.has(ref!)) yield `${ref} was charged twice`
  of.refs?.add(ref!)
  of.cost += amount
  // The references are no longer needed: any later row would make the sum wrong.
  if (state !== 'open' && of.cost === settled) of.refs = null
  const { cost_cents } = output === null ? {} : JSON.parse(output)
  if (cost_cents !== microToCents(amount)) {
    yield `a call charges ${amount} to ${ref}, but its event says ${cost_cents ?? 'nothing'} cents`
  }
}

async function* walletFaults(reader: Reader, accounts: Map<string, number>): AsyncGenerator<string> {
  for await (const { id, balance } of pages(
    (after: string, limit) => walletsFrom(reader, { after, limit }),
    '',
    (row) => row.id,
  )) {
    const sum = accounts.get(id) ?? 0
    accounts.delete(id)
    if (balance === sum) continue
    const [now] = await booksOf(reader, { id })
    if (now && now.balance !== Number(now.entries)) {
      yield `wallet ${id} has ${now.balance}, but its ledger entries add up to ${now.entries}`
    }
  }
  for (const account of accounts.keys()) {
    if (account === REVENUE || account === ISSUED) continue
    if (!(await booksOf(reader, { id: account })).length) {
      yield `ledger entries name ${account}, which has no wallet`
    }
  }
}

/**
 * Compares holds with the calls they paid for. `posted`: the charges of calls by wallet. Holds without ledger entries
 * must add up to these sums, and each shared hold to its own calls.
 */
async function* holdFaults(
  reader: Reader,
  posted: Map<string, Charges>,
  shared: ReadonlyMap<string, Shared>,
): AsyncGenerator<string> {
  const paid = new Map<string, Charges>()
  for await (const hold of pages(
    (after: string, limit) => holdsFrom(reader, { after, limit }),
    '',
    (row) => row.ref,
  )) {
    const charged = -(hold.charge ?? 0)
    if (isShared(hold.ref) && hold.charge === null) {
      if (hold.settled_amount === (shared.get(hold.ref)?.cost ?? 0)) continue
      const [now] = await sharedCharges(reader, { ref: hold.ref })
      if (now && now.settled !== now.cost)
        yield `hold ${hold.ref} was charged ${now.settled}, but its calls cost ${now.cost}`
      continue
    }
    const isByCall = hold.state === 'settled' && hold.charge === null && hold.settled_amount > 0
    if (isByCall) count(paid, hold.wallet, hold.settled_amount)
    else if (hold.state === 'settled' && charged !== hold.settled_amount) {
      yield `hold ${hold.ref} was settled at ${hold.settled_amount}, but the ledger charges ${charged}`
    }
    if (hold.state !== 'settled' && (charged !== 0 || hold.settled_amount !== 0)) {
      yield `hold ${hold.ref} is ${hold.state} and yet charged ${charged || hold.settled_amount}`
    }
  }
  for (const wallet of new Set([...paid.keys(), ...posted.keys()])) {
    const [left, right] = [paid.get(wallet), posted.get(wallet)]
    if (left?.count === right?.count && left?.sum === right?.sum) continue
    const [now] = await chargesOf(reader, { id: wallet })
    if (now && (now.holds !== now.charges || now.settled !== now.charged))
      yield `wallet ${wallet} has ${now.holds} settled holds of ${now.settled}, but ${now.charges} charges of ${now.charged}`
  }
}

/** Compares wallets with the ledger, which is authoritative because it is append-only (docs/promises.md I6). */
export function createReconciliation({ store, expiringGrants }: Deps) {
  return { differences, apply }

  /** All wallets that differ, by owner. Reads in pages; each difference is confirmed by a single statement. */
  async function differences(): Promise<Difference[]> {
    const { read } = store
    const found: Difference[] = []
    for (const owner of [...(await suspects(read))].sort()) {
      const difference = await differenceOf(read, owner)
      if (difference) found.push(difference)
    }
    return found
  }

  /**
   * Corrects one wallet, in one transaction with `record`. Returns the difference. Returns null when there is none any
   * more, or when the ledger's sum is negative or less than the open holds.
   */
  async function apply(
    owner: OwnerScope,
    record: (tx: Tx, difference: Difference) => Promise<unknown>,
  ): Promise<Difference | null> {
    return store.write(async (tx) => {
      const difference = await differenceOf(tx, owner)
      if (!difference || difference.entries < 0 || difference.open > difference.entries) return null
      const { balance, entries } = difference
      if (balance !== null) await expiringGrants.beforeAdjustment(tx, owner, entries - balance)
      await setWallet(tx, { id: owner, balance: difference.entries, held: difference.open })
      await record(tx, difference)
      return difference
    })
  }
}

/** Owners whose sums disagreed while the pages were read. Concurrent changes can cause false alarms. */
async function suspects(reader: Reader): Promise<Set<OwnerScope>> {
  const sums = new Map<string, number>()
  const entries = (after: number, limit: number) => entriesFrom(reader, { after, limit })
  for await (const { account, amount } of pages(entries, 0, ({ id }) => id))
    sums.set(account, (sums.get(account) ?? 0) + amount)
  const calls = (after: number, limit: number) => postingsFrom(reader, { after, limit })
  for await (const { account, amount } of pages(calls, 0, ({ id }) => id))
    sums.set(account, (sums.get(account) ?? 0) - amount)
  const found = new Set<OwnerScope>()
  const wallets = (after: string, limit: number) => walletsFrom(reader, { after, limit })
  for await (const { id, balance } of pages(wallets, '', (wallet) => wallet.id)) {
    if ((sums.get(id) ?? 0) !== balance) found.add(id)
    sums.delete(id)
  }
  for (const account of sums.keys()) if (account !== REVENUE && account !== ISSUED) found.add(account as OwnerScope)
  for (const { id } of await heldMismatches(reader, {})) found.add(id)
  return found
}

async function differenceOf(reader: Reader, owner: OwnerScope): Promise<Difference | null> {
  const [books] = await booksOf(reader, { id: owner })
  // An owner without a wallet has no holds.
  if (!books) {
    const [{ sum = 0 } = {}] = await entriesSum(reader, { id: owner })
    return { owner, balance: null, held: null, entries: Number(sum), open: 0 }
  }
  const { balance, held } = books
  const [entries, open] = [Number(books.entries), Number(books.open)]
  return balance === entries && held === open ? null : { owner, balance, held, entries, open }
}
