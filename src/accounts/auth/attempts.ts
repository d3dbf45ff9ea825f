import { and, desc, eq, gt, notInArray, sql } from 'drizzle-orm'
import ipaddr from 'ipaddr.js'
import type { Clock } from '../../kernel/clock'
import { hmacHex } from '../../kernel/crypto'
import { removeOld } from '../../kernel/old-rows'
import { rowsOf } from '../../kernel/rows'
import type { Reader, Store, Tx } from '../../kernel/store'
import { authErrors } from './errors'
import { type SignInPlaceRow, signInFailures, signInPlaces } from './table'

const failures = rowsOf(signInFailures)
const places = rowsOf(signInPlaces)

/** Failed sign-ins per subject (account, network or both), and the networks each account signed in from. */
const attemptRepository = {
  times: async (db: Reader, subject: string): Promise<number[]> => (await failures.first(db, { subject }))?.times ?? [],

  /** Like `times`, and locks the row until the transaction commits. Creates the row if necessary. */
  async lock(tx: Tx, subject: string, last_at: number): Promise<number[]> {
    const table = tx.of(signInFailures)
    const locked = tx
      .insert(table)
      .values({ subject, times: [], last_at })
      .onConflictDoUpdate({ target: table.subject, set: { last_at } })
    return (await locked.returning({ times: table.times }))[0]!.times
  },

  setTimes: (tx: Tx, subject: string, times: number[]) => failures.update(tx, { subject }, { times }),

  isKnown: async (db: Reader, account: string, network: string, since: number): Promise<boolean> =>
    (await places.count(db, { account, network }, (t) => gt(t.last_at, since))) > 0,

  async remember(tx: Tx, row: SignInPlaceRow): Promise<void> {
    const table = tx.of(signInPlaces)
    const target = [table.account, table.network]
    await tx
      .insert(table)
      .values(row)
      .onConflictDoUpdate({ target, set: { last_at: sql`excluded.last_at` } })
  },

  /** Keeps only the `max` latest networks of an account. */
  async forgetBeyond(tx: Tx, account: string, max: number): Promise<void> {
    const table = tx.of(signInPlaces)
    const latest = tx
      .select({ network: table.network })
      .from(table)
      .where(eq(table.account, account))
      .orderBy(desc(table.last_at), table.network)
      .limit(max)
    await tx.delete(table).where(and(eq(table.account, account), notInArray(table.network, latest)))
  },
}

const MINUTE_MS = 60_000
const WINDOW_MS = 15 * MINUTE_MS
/** Maximum failures per window, for one account and for one network. Also bounds other calls per network. */
const PER_ACCOUNT = 10
const PER_NETWORK = 100
/** Maximum mails to one address per window. */
const MAILS = 3

/** How long, and for how many networks per account, a successful sign-in is remembered. */
const REMEMBERED_MS = 90 * 24 * 60 * MINUTE_MS
const MAX_REMEMBERED = 20

type Deps = { store: Store; clock: Clock; masterKey: Uint8Array }
/** `forgiving`: a correct password clears all failures, not only the current attempt. */
type Limit = { subject: string; max: number; forgiving?: boolean }

/** One attempt. It counts as failed until the password proves correct. */
export type Attempt = { readonly at: number; readonly limits: readonly Limit[] }
export type Attempts = ReturnType<typeof createAttempts>

/**
 * Limits password guessing per account and per network. Failures are counted in the store, so nodes share them. A
 * network that signed in to the account before has its own count, so strangers cannot lock the owner out. Unknown
 * accounts are counted too. Addresses are stored as keyed hashes only.
 */
export function createAttempts({ store, clock, masterKey }: Deps) {
  return { assertOpen, begin, count, right, welcome, tidy }

  /** Throws 429 `rate_limit_exceeded` like `begin`, but counts nothing. Keeps guesses out of the password queue. */
  async function assertOpen(account: string, ip: string): Promise<void> {
    for (const { subject, max } of await limitsOf(account, ip)) {
      assertBelow(max, await attemptRepository.times(store.read, subject), clock.now())
    }
  }

  /** Counts an attempt before its password is checked, so concurrent ones count. Throws 429 `rate_limit_exceeded`. */
  async function begin(account: string, ip: string): Promise<Attempt> {
    return counted(await limitsOf(account, ip))
  }

  /** Counts an action that no password decides, per network and, for mails, per address. Throws 429. */
  function count(what: 'sign-up' | 'link' | 'link-mail', ip: string, address?: string): Promise<Attempt> {
    const network = { subject: hash(what, networkOf(ip)), max: PER_NETWORK }
    return counted(address === undefined ? [network] : [{ subject: hash(what, address), max: MAILS }, network])
  }

  function counted(limits: readonly Limit[]): Promise<Attempt> {
    return store.write(async (tx) => {
      const at = clock.now()
      for (const { subject, max } of limits) {
        const recent = assertBelow(max, await attemptRepository.lock(tx, subject, at), at)
        await attemptRepository.setTimes(tx, subject, [...recent, at])
      }
      return { at, limits }
    })
  }

  /** For a correct password: uncounts the attempt, and at a known network all earlier failures too. */
  async function right(tx: Tx, { at, limits }: Attempt): Promise<void> {
    for (const { subject, forgiving } of limits) {
      const times = await attemptRepository.lock(tx, subject, clock.now())
      const place = times.indexOf(at)
      await attemptRepository.setTimes(tx, subject, forgiving ? [] : times.filter((_, index) => index !== place))
    }
  }

  /** Remembers the network as one that signed in to the account. */
  async function welcome(tx: Tx, account: string, ip: string): Promise<void> {
    const known = hash('account', account)
    await attemptRepository.remember(tx, {
      account: known,
      network: hash('network', networkOf(ip)),
      last_at: clock.now(),
    })
    await attemptRepository.forgetBeyond(tx, known, MAX_REMEMBERED)
  }

  /** Removes expired rows. */
  async function tidy(signal?: AbortSignal): Promise<void> {
    const now = clock.now()
    await removeOld(store, { table: signInFailures, key: 'subject', at: 'last_at' }, now - WINDOW_MS, signal)
    await removeOld(store, { table: signInPlaces, key: 'account', at: 'last_at' }, now - REMEMBERED_MS, signal)
  }
  async function limitsOf(account: string, ip: string): Promise<Limit[]> {
    const [who, where] = [hash('account', account), hash('network', networkOf(ip))]
    if (await attemptRepository.isKnown(store.read, who, where, clock.now() - REMEMBERED_MS)) {
      return [{ subject: hash('known', `${who} ${where}`), max: PER_ACCOUNT, forgiving: true }]
    }
    return [
      { subject: who, max: PER_ACCOUNT },
      { subject: where, max: PER_NETWORK },
    ]
  }

  function hash(kind: string, words: string): string {
    return hmacHex(masterKey, `sign-in ${kind} ${words}`)
  }
}

/** Returns the times within the window. Throws 429 when the limit is reached. */
function assertBelow(max: number, times: readonly number[], now: number): number[] {
  const recent = times.filter((at) => now - at < WINDOW_MS)
  if (recent.length < max) return recent
  const seconds = Math.ceil((WINDOW_MS - (now - Math.min(...recent))) / 1_000)
  throw authErrors.tooManyAttempts.with({ retryAfterS: seconds }, seconds)
}

/** An IPv6 customer has a /64, which is 2^64 addresses. So IPv6 counts by its first 64 bits, IPv4 by address. */
function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  return address instanceof ipaddr.IPv6 ? address.parts.slice(0, 4).join(':') : address.toString()
}
