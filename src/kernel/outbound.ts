import { lookup as systemLookup } from 'node:dns/promises'
import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import { type AddressRule, createAddressRule } from './addresses'
import {
  dial,
  keepConnections,
  lookupBy,
  OutboundFailure,
  type PublicRequest,
  type PublicResponse,
  type Resolved,
  Stale,
  send,
} from './outbound-send'
import { hostOf, readPublicUrl, type UrlRules, urlBlocked } from './outbound-url'

export { OutboundFailure, type OutboundKind, type PublicRequest, type PublicResponse } from './outbound-send'

/** Resolves a host name to all of its addresses. */
export type Resolve = (host: string) => Promise<Resolved[]>

export type OutboundOptions = {
  /** CIDRs exempt from the address guard (`SVC_EGRESS_ALLOW`). */
  allow?: readonly string[]
  /** CIDRs refused in addition to all addresses that are not public. */
  deny?: readonly string[]
  /** Hosts this server answers on, with or without a port. */
  ownHosts?: readonly string[]
  httpsOnly?: boolean
  resolve?: Resolve
}

export type Outbound = ReturnType<typeof createOutbound>

const DNS_TIMEOUT_MS = 3_000

/**
 * The only way to call addresses that a user or a model chose (design 1.8). `node:https` connects to the very IP
 * address that our `lookup` checked, so a name that resolves differently a moment later gains nothing (J13). No
 * redirects, no decompression; connections are kept only for requests that say so.
 */
export function createOutbound(options: OutboundOptions = {}) {
  const addresses = createAddressRule(options)
  const rules: UrlRules = {
    addresses,
    ownHosts: new Set(options.ownHosts ?? []),
    httpsOnly: options.httpsOnly ?? false,
    localNames: Boolean(options.allow?.length),
  }
  const resolve = options.resolve ?? ((host) => systemLookup(host, { all: true }))
  const connections = keepConnections()

  /** Checks an address when it is saved, without resolving its name. Throws 400 `url_blocked`. */
  const readUrl = (text: string): URL => readPublicUrl(text, rules)

  return {
    readUrl,

    /** Like {@link readUrl}, and checks every IP address its name has now. Throws 400 `url_blocked`. */
    async assertPublicUrl(text: string): Promise<void> {
      const url = readUrl(text)
      if (ipaddr.isValid(hostOf(url))) return
      const found = await resolveWithin(resolve, hostOf(url)).catch(() => [])
      if (found.some(({ address }) => !addresses.permits(address)))
        throw urlBlocked(text, 'its host name resolves to a private address')
    },

    /**
     * Sends one request and returns the answer, whatever its status. Throws 400 `url_blocked` when the address is not
     * public, an {@link OutboundFailure} when no complete answer came.
     */
    async fetchPublic(text: string, request: PublicRequest): Promise<PublicResponse> {
      const url = readUrl(text)
      const deadline = AbortSignal.timeout(request.timeoutMs)
      const find = () => resolveChecked(text, hostOf(url), addresses, resolve)
      const fresh = { lookup: lookupBy(find), agent: false as const }
      if (!request.repeatable) return send(url, request, deadline, fresh)
      // Checked before a kept connection is looked for, which is then one to these very addresses.
      const found = ipaddr.isValid(hostOf(url)) ? [] : await find()
      const pinned = connections.optionsFor(
        url,
        found.map(({ address }) => address),
      )
      try {
        return await send(url, request, deadline, { ...pinned, lookup: lookupBy(async () => found) })
      } catch (error) {
        if (!(error instanceof Stale)) throw error
        return send(url, request, deadline, fresh)
      }
    },

    /**
     * Opens a connection to `host:port` for a program that speaks for a user, such as a browser: to an address that was
     * checked. Throws 400 `url_blocked`, or the error of the network.
     */
    async dialPublic(authority: string): Promise<Socket> {
      const text = `https://${authority}/`
      const url = readUrl(text)
      const host = hostOf(url)
      const [found] = ipaddr.isValid(host) ? [{ address: host }] : await resolveChecked(text, host, addresses, resolve)
      return dial(found!.address, Number(url.port || 443))
    },
  }
}

/** `fetch` for addresses from the operator's configuration: no address guard, connections reused, no redirects. */
export const trustedFetch = (url: string, init: RequestInit): Promise<Response> =>
  fetch(url, { redirect: 'manual', ...init, timeout: false } as RequestInit)

/** All addresses of a host. Throws 400 `url_blocked` when any one of them is refused. */
async function resolveChecked(text: string, host: string, rule: AddressRule, resolve: Resolve): Promise<Resolved[]> {
  const found = await resolveWithin(resolve, host)
  if (found.every(({ address }) => rule.permits(address))) return found
  throw urlBlocked(text, 'its host name resolves to a private address')
}

async function resolveWithin(resolve: Resolve, host: string): Promise<Resolved[]> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new OutboundFailure('dns', 'the host name lookup took too long')),
    DNS_TIMEOUT_MS,
  )
  try {
    const found = await Promise.race([resolve(host), late])
    if (found.length === 0) throw new OutboundFailure('dns', 'the host name has no address')
    return found
  } catch (error) {
    if (error instanceof OutboundFailure) throw error
    throw new OutboundFailure('dns', 'the host name could not be resolved', { cause: error })
  } finally {
    clearTimeout(timer)
  }
}
