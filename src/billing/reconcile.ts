import type { OwnerScope } from '../kernel/caller'
import type { Reader, Store, Tx } from '../kernel/store'
import type { ExpiringGrants } from './expiring-grants'
import type { BalanceWatch } from './low-balance'
import { pages } from './pages'
import { ISSUED, REVENUE } from './schema'
import { booksOf, entriesFrom, entriesSum, heldMismatches, setWallet, walletsFrom } from './verify-queries'

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
  watch: Pick<BalanceWatch, 'credited'>
  expiringGrants: Pick<ExpiringGrants, 'beforeAdjustment'>
}

/** Compares wallets with the ledger, which is authoritative because it is append-only (I6). */
export function createReconciliation({ store, watch, expiringGrants }: Deps) {
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
   * Corrects one wallet, in one transaction with `record`. Returns the difference, or null when there is none any more or
   * when the wallet cannot be set to the ledger's sum: it is negative, or less than what is on hold.
   */
  async function apply(
    owner: OwnerScope,
    record: (tx: Tx, difference: Difference) => Promise<unknown>,
  ): Promise<Difference | null> {
    return store.write(async (tx) => {
      const difference = await differenceOf(tx, owner)
      if (!difference || !isPossible(difference)) return null
      const { balance, entries } = difference
      if (balance !== null) await expiringGrants.beforeAdjustment(tx, owner, entries - balance)
      await setWallet(tx, { id: owner, balance: difference.entries, held: difference.open })
      watch.credited(tx, owner)
      await record(tx, difference)
      return difference
    })
  }
}

const isPossible = ({ entries, open }: Difference): boolean => entries >= 0 && open <= entries

/** Owners whose sums disagreed while the pages were read; changes made meanwhile can cause false alarms. */
async function suspects(reader: Reader): Promise<Set<OwnerScope>> {
  const sums = new Map<string, number>()
  const entries = (after: number, limit: number) => entriesFrom(reader, { after, limit })
  for await (const { account, amount } of pages(entries, 0, ({ id }) => id))
    sums.set(account, (sums.get(account) ?? 0) + amount)
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
  // Without a wallet nothing can be on hold.
  if (!books) {
    const [{ sum = 0 } = {}] = await entriesSum(reader, { id: owner })
    return { owner, balance: null, held: null, entries: Number(sum), open: 0 }
  }
  const { balance, held } = books
  const [entries, open] = [Number(books.entries), Number(books.open)]
  return balance === entries && held === open ? null : { owner, balance, held, entries, open }
}
