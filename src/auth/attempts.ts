import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../kernel/clock'
import { tooManyAttempts } from './errors'

const WINDOW_MS = 15 * 60_000
const MOST_REMEMBERED = 20_000
/** Most attempts per window: at one account from one network, and at all accounts from one network. */
const PER_ACCOUNT = 10
const PER_NETWORK = 100

export type Attempts = ReturnType<typeof createAttempts>

/** Limits password guessing. Attempts count when they begin, so concurrent ones count too. */
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
    /** Counts an attempt. Throws 429 `rate_limit_exceeded`. `account` is null when there is none yet, as at sign-up. */
    begin(account: string | null, ip: string): void {
      const network = networkOf(ip)
      count(network, PER_NETWORK)
      if (account !== null) count(`${network} ${account}`, PER_ACCOUNT)
    },
    /** The password was right: earlier attempts at this account are forgotten. */
    succeeded: (account: string, ip: string): void => {
      tries.delete(`${networkOf(ip)} ${account}`)
    },
  }
}

/** An IPv6 customer has a /64 and so 2^64 addresses: IPv6 is counted by its first 64 bits, IPv4 by address. */
function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  return address instanceof ipaddr.IPv6 ? address.parts.slice(0, 4).join(':') : address.toString()
}
