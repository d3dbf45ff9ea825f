import type { Clock } from '../kernel/clock'
import { trustedFetch } from '../kernel/outbound'
import type { Driver } from './engine'

/** The address at which an upstream has its API, where its own is not the one; null where none is found. */
export type Fit = (signal: AbortSignal) => Promise<string | null>

/** A server that lists no models anywhere is not searched again for so long. */
const AGAIN_MS = 600_000

type Deps = {
  /** How the upstream is asked at another address. */
  at(baseUrl: string): Pick<Driver, 'probe'>
  headers: Record<string, string>
  clock: Clock
}

/**
 * Looks for the address that would work, for an upstream that lists no models at `base`: the same without a route at
 * its end, or with `/v1`. It asks for models only, which costs nothing, and the same server only. Never throws.
 */
export function createFit(base: string, { at, headers, clock }: Deps): Fit {
  let foundNone = Number.NEGATIVE_INFINITY
  return async (signal) => {
    if (clock.monotonic() - foundNone < AGAIN_MS) return null
    for (const address of (await answersChats(base, headers, signal)) ? [] : candidatesOf(base)) {
      const listed = await at(address)
        .probe(signal)
        .catch(() => [])
      if (listed.length) {
        // Without user and password.
        const { origin, pathname } = URL.parse(address)!
        return origin + trimmed(pathname)
      }
      if (signal.aborted) return null
    }
    foundNone = clock.monotonic()
    return null
  }
}

/** What a route of calls answers to a GET, where it is there. A page that answers everything says 200. */
const NO_GET = new Set([400, 401, 403, 405, 415, 422])

/** Whether the route of chats is where it is asked for, though no models are listed beside it. */
async function answersChats(base: string, headers: Record<string, string>, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await trustedFetch(`${trimmed(base)}/chat/completions`, { headers, signal })
    await response.body?.cancel()
    return NO_GET.has(response.status)
  } catch {
    return false
  }
}

/** What people copy with an address: the route of a call. */
const ROUTE = /\/(?:chat\/completions|completions|responses|messages|embeddings|models|images\/generations)$/

/** Addresses that may be meant by one that does not fit, likeliest first. */
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

export const sayFit = (address: string): string => `its API is not at this address; use ${address}`
