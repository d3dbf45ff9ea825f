import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../kernel/clock'
import { tooManyAttempts } from './errors'

const WINDOW_MS = 15 * 60_000
const MOST_REMEMBERED = 20_000
/** Tries at one account from one network, and at all accounts from one network, in a window. */
const PER_ACCOUNT = 10
const PER_NETWORK = 100

export type Attempts = ReturnType<typeof createAttempts>

/** Bounds the guessing of passwords. Counts when a try begins, so tries made side by side count too. */
export function createAttempts({ clock }: { clock: Clock }) {
  const tries = new LRUCache<string, number[]>({ max: MOST_REMEMBERED })

  const count = (key: string, most: number): void => {
    const now = clock.monotonic()
    const recent = (tries.get(key) ?? []).filter((at) => now - at < WINDOW_MS)
    if (recent.length >= most) {
      const seconds = Math.ceil((WINDOW_MS - (now - recent[0]!)) / 1_000)
      throw tooManyAttempts.with({ retryAfterS: seconds }, seconds)
    }
    tries.set(key, [...recent, now])
  }

  return {
    /** Throws 429 `rate_limit_exceeded`. `account` is null where there is none yet, as at sign-up. */
    begin(account: string | null, ip: string): void {
      const network = networkOf(ip)
      count(network, PER_NETWORK)
      if (account !== null) count(`${network} ${account}`, PER_ACCOUNT)
    },
    /** The password was right: the tries before it are forgotten. */
    succeeded: (account: string, ip: string): void => {
      tries.delete(`${networkOf(ip)} ${account}`)
    },
  }
}

/** A home has one IPv4 address but 2^64 IPv6 ones. */
function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  return address instanceof ipaddr.IPv6 ? address.parts.slice(0, 4).join(':') : address.toString()
}
