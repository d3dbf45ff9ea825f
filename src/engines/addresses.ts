import type { Clock } from '../kernel/clock'
import { trustedFetch } from '../kernel/outbound'
import type { Driver } from './engine'

/** Finds the address of an upstream's API if the configured one is wrong. Null if none is found. */
export type AddressCheck = (signal: AbortSignal) => Promise<string | null>

/** How long not to search again after a search found nothing. */
const AGAIN_MS = 600_000

type Deps = {
  /** Makes a driver of the upstream for another address. */
  at(baseUrl: string): Pick<Driver, 'probe'>
  headers: Record<string, string>
  clock: Clock
}

/**
 * Looks for a working address of an upstream that lists no models at `base`: the address without a route at its end, or
 * with `/v1`. Requests only the list of models, which is free, and only from the same server. Never throws.
 */
export function createAddressCheck(base: string, { at, headers, clock }: Deps): AddressCheck {
  let foundNone = Number.NEGATIVE_INFINITY
  return async (signal) => {
    if (clock.monotonic() - foundNone < AGAIN_MS) return null
    for (const address of (await answersChats(base, headers, signal)) ? [] : candidatesOf(base)) {
      const listed = await at(address)
        .probe(signal)
        .catch(() => [])
      if (listed.length) {
        // Leaves out user and password.
        const { origin, pathname } = URL.parse(address)!
        return origin + trimmed(pathname)
      }
      if (signal.aborted) return null
    }
    foundNone = clock.monotonic()
    return null
  }
}

/** Status codes of an existing POST route for a GET. A server that answers every path would send 200. */
const NO_GET = new Set([400, 401, 403, 405, 415, 422])

/** Whether the chat route exists, although no models are listed next to it. */
async function answersChats(base: string, headers: Record<string, string>, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await trustedFetch(`${trimmed(base)}/chat/completions`, { headers, signal })
    await response.body?.cancel()
    return NO_GET.has(response.status)
  } catch {
    return false
  }
}

/** A route that people copy together with the address. */
const ROUTE = /\/(?:chat\/completions|completions|responses|messages|embeddings|models|images\/generations)$/

/** Addresses that a wrong one may stand for, likeliest first. */
export function candidatesOf(base: string): string[] {
  const url = URL.parse(base)
  if (!url) return []
  const own = trimmed(url.pathname)
  const bare = trimmed(own.replace(ROUTE, ''))
  const versioned = [`${bare}/v1`, `${trimmed(bare.replace(/\/api$/, ''))}/v1`, '/v1']
  const paths = [bare, ...(/\/v\d[a-z\d]*$/.test(bare) ? [] : versioned)]
  const others = [...new Set(paths)].filter((path) => path !== own)
  return others.map((path) => {
    Object.assign(url, { pathname: path, search: '', hash: '' })
    return url.href
  })
}

const trimmed = (path: string): string => path.replace(/(?<!\/)\/+$/, '')

export const addressAdvice = (address: string): string => `its API is not at this address; use ${address}`
