import ipaddr from 'ipaddr.js'
import type { Clock } from '../kernel/clock'
import { hmacHex } from '../kernel/crypto'
import type { Store, Tx } from '../kernel/store'
import { attemptRepository as rows } from './attempt-rows'
import { tooManyAttempts } from './errors'

const MINUTE_MS = 60_000
const WINDOW_MS = 15 * MINUTE_MS
/** Most failures per window: at one account, and from one network at all accounts; and most other calls of a network. */
const PER_ACCOUNT = 10
const PER_NETWORK = 100
/** Most messages to one address in that time. */
const MAILS = 3

/** How long, and for how many networks an account, a successful sign-in is remembered. */
const REMEMBERED_MS = 90 * 24 * 60 * MINUTE_MS
const MOST_REMEMBERED = 20

type Deps = { store: Store; clock: Clock; masterKey: Uint8Array }
/** `forgiving`: a right password takes back all failures, not only the attempt itself. */
type Limit = { subject: string; most: number; forgiving?: boolean }

/** One attempt that counts as failed until it is known to be right. */
export type Attempt = { readonly at: number; readonly limits: readonly Limit[] }
export type Attempts = ReturnType<typeof createAttempts>

/**
 * Limits password guessing, at each account and from each network. Failures are counted in the store, so nodes share
 * them. A network from which the account was signed in to has a count of its own, so that strangers cannot lock its
 * owner out. Accounts are counted whether they exist or not; addresses are stored as keyed hashes only.
 */
export function createAttempts({ store, clock, masterKey }: Deps) {
  return { assertOpen, begin, count, right, welcome, tidy }

  /** Throws 429 `rate_limit_exceeded` where `begin` would, but counts nothing: refused early, guesses fill no queue. */
  async function assertOpen(account: string, ip: string): Promise<void> {
    for (const { subject, most } of await limitsOf(account, ip)) {
      assertBelow(most, await rows.times(store.read, subject), clock.now())
    }
  }

  /**
   * Counts an attempt before its password is checked, so that concurrent ones count too. Throws 429
   * `rate_limit_exceeded`.
   */
  async function begin(account: string, ip: string): Promise<Attempt> {
    return counted(await limitsOf(account, ip))
  }

  /** Counts what no password decides, for the network, and for the address that gets mail. Throws 429. */
  function count(what: 'sign-up' | 'link' | 'link-mail', ip: string, address?: string): Promise<Attempt> {
    const network = { subject: hash(what, networkOf(ip)), most: PER_NETWORK }
    return counted(address === undefined ? [network] : [{ subject: hash(what, address), most: MAILS }, network])
  }

  function counted(limits: readonly Limit[]): Promise<Attempt> {
    return store.write(async (tx) => {
      const at = clock.now()
      for (const { subject, most } of limits) {
        const recent = assertBelow(most, await rows.lock(tx, subject, at), at)
        await rows.setTimes(tx, subject, [...recent, at])
      }
      return { at, limits }
    })
  }

  /** The password was right: the attempt no longer counts, and at a known network those before it neither. */
  async function right(tx: Tx, { at, limits }: Attempt): Promise<void> {
    for (const { subject, forgiving } of limits) {
      const times = await rows.lock(tx, subject, clock.now())
      const place = times.indexOf(at)
      await rows.setTimes(tx, subject, forgiving ? [] : times.filter((_, index) => index !== place))
    }
  }

  /** Remembers the network from which the account was signed in to. */
  async function welcome(tx: Tx, account: string, ip: string): Promise<void> {
    const known = hash('account', account)
    await rows.remember(tx, { account: known, network: hash('network', networkOf(ip)), last_at: clock.now() })
    await rows.forgetBeyond(tx, known, MOST_REMEMBERED)
  }

  /** Removes up to `limit` rows of each kind that no longer count, and returns how many. */
  function tidy(limit: number): Promise<number> {
    const now = clock.now()
    return store.write((tx) => rows.removeOld(tx, { failures: now - WINDOW_MS, places: now - REMEMBERED_MS }, limit))
  }

  async function limitsOf(account: string, ip: string): Promise<Limit[]> {
    const [who, where] = [hash('account', account), hash('network', networkOf(ip))]
    if (await rows.isKnown(store.read, who, where, clock.now() - REMEMBERED_MS)) {
      return [{ subject: hash('known', `${who} ${where}`), most: PER_ACCOUNT, forgiving: true }]
    }
    return [
      { subject: who, most: PER_ACCOUNT },
      { subject: where, most: PER_NETWORK },
    ]
  }

  function hash(kind: string, words: string): string {
    return hmacHex(masterKey, `sign-in ${kind} ${words}`)
  }
}

/** The times within the window; throws 429 when they are too many. */
function assertBelow(most: number, times: readonly number[], now: number): number[] {
  const recent = times.filter((at) => now - at < WINDOW_MS)
  if (recent.length < most) return recent
  const seconds = Math.ceil((WINDOW_MS - (now - Math.min(...recent))) / 1_000)
  throw tooManyAttempts.with({ retryAfterS: seconds }, seconds)
}

/** An IPv6 customer has a /64 and so 2^64 addresses: IPv6 is counted by its first 64 bits, IPv4 by address. */
function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  return address instanceof ipaddr.IPv6 ? address.parts.slice(0, 4).join(':') : address.toString()
}
