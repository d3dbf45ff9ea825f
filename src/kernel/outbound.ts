import { lookup as systemLookup } from 'node:dns/promises'
import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import { defineError, quoted } from './errors'
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

type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number]

type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * Addresses in public ranges that lead to internal hosts: IPv4-compatible ones (`::127.0.0.1`) and the metadata service
 * of one large cloud. The library we use classifies them as public.
 */
const NEVER = ['::/96', '168.63.129.16/32']

type AddressRule = {
  /** True if a connection requested by a user or a model may go to this IP address. */
  permits(address: string): boolean
}

const inside = (address: Address, [network, bits]: Cidr): boolean =>
  address.kind() === network.kind() && address.match(network, bits)

/**
 * Ports of other protocols that an HTTP request could misuse: mail, remote shells, file shares, databases, queues,
 * caches, debuggers, container engines. No web address needs them.
 */
const REFUSED_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 445, 465, 512, 513, 514, 515, 526, 530, 531,
  532, 540, 548, 554, 556, 563, 587, 601, 636, 873, 989, 990, 993, 995, 1433, 1521, 1719, 1720, 1723, 2049, 2375, 2376,
  2379, 2380, 3306, 3389, 3659, 4045, 4190, 5060, 5061, 5432, 5672, 5900, 6000, 6379, 6443, 6566, 6665, 6666, 6667,
  6668, 6669, 6679, 6697, 9092, 9200, 9222, 9229, 9300, 10080, 10250, 11211, 27017,
])

export const isRefusedPort = (port: number): boolean => REFUSED_PORTS.has(port)

const MAX_URL_CHARS = 2048

/** 400 `url_blocked` (docs/api.md 1.5): this server does not call the address on behalf of a user. */
const urlBlocked = defineError(
  'url_blocked',
  (url: string, why: string) => `The address ${quoted(url)} cannot be called: ${why}. Use a public https address.`,
)

export type UrlRules = {
  addresses: AddressRule
  /** Host names of this server, so that it never calls itself (docs/attacks.md J19, J31). */
  ownHosts: ReadonlySet<string>
  /** Production: rejects plain http (docs/attacks.md J23). */
  httpsOnly: boolean
  /** Allows local names (`localhost`, `box.lan`). Their addresses are still checked. */
  localNames: boolean
}

/** An address as browsers read it: a blank in the name of a file is encoded, and a fragment is not sent. */
export const encodedUrl = (url: string): string => url.trim().replaceAll(' ', '%20').split('#')[0]!

/** The host without the brackets of an IPv6 address. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

export { OutboundFailure, type OutboundKind, type PublicRequest, type PublicResponse } from './outbound-send'

/** Resolves a host name to all of its addresses. */
export type Resolve = (host: string) => Promise<Resolved[]>

export type OutboundOptions = {
  /** CIDRs exempt from the address guard (`SVC_EGRESS_ALLOW`). */
  allow?: readonly string[]
  /** CIDRs rejected in addition to all addresses that are not public. */
  deny?: readonly string[]
  /** Hosts of this server, with or without a port. */
  ownHosts?: readonly string[]
  httpsOnly?: boolean
  resolve?: Resolve
}

export type Outbound = ReturnType<typeof createOutbound>

const DNS_TIMEOUT_MS = 3_000

/**
 * The only way to call addresses that a user or a model chose (docs/design.md 1.8). `node:https` connects to the very
 * IP address that our `lookup` checked, so a name that resolves differently a moment later gains nothing
 * (docs/attacks.md J13). No redirects, no decompression. Connections are kept only for `repeatable` requests.
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

    /** Like {@link readUrl}, and checks every IP address that its name currently has. Throws 400 `url_blocked`. */
    async assertPublicUrl(text: string): Promise<void> {
      const url = readUrl(text)
      if (ipaddr.isValid(hostOf(url))) return
      const found = await resolveWithin(resolve, hostOf(url)).catch(() => [])
      if (found.some(({ address }) => !addresses.permits(address)))
        throw urlBlocked(text, 'its host name resolves to a private address')
    },

    /**
     * Sends one request and returns the answer, whatever its status. Throws 400 `url_blocked` when the address is not
     * public, an {@link OutboundFailure} when no complete answer arrives.
     */
    async fetchPublic(text: string, request: PublicRequest): Promise<PublicResponse> {
      const url = readUrl(text)
      const deadline = AbortSignal.timeout(request.timeoutMs)
      const find = () => resolveChecked(text, hostOf(url), addresses, resolve)
      const fresh = { lookup: lookupBy(find), agent: false as const }
      if (!request.repeatable) return send(url, request, deadline, fresh)
      // Addresses are checked first. Only a kept connection to exactly these addresses is reused.
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
     * Opens a connection to `host:port` for a program that acts for a user, such as a browser. Connects to a checked
     * address. Throws 400 `url_blocked`, or the network error.
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

let unanswered = 0
/** Bun would end a request after five minutes. */
const NO_DETOURS = { redirect: 'manual', timeout: false } as const
let turn: Promise<void> | null = null

/**
 * `fetch` for addresses from the operator's configuration: no address guard, connections reused, no redirects. Under
 * load, requests of one turn of the event loop are sent together, because a request sent alone wakes the sending
 * thread. Writes its own settings into `init`, which therefore belongs to one call.
 */
export async function trustedFetch(url: string, init: RequestInit): Promise<Response> {
  if (unanswered++) {
    turn ??= new Promise((resolve) => {
      setImmediate(() => {
        turn = null
        resolve()
      })
    })
    await turn
  }
  try {
    return await fetch(url, Object.assign(init, NO_DETOURS))
  } finally {
    unanswered--
  }
}

/** All addresses of a host. Throws 400 `url_blocked` when any one of them is forbidden. */
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

/**
 * Parses an address chosen by a user or a model, and rejects what its text alone shows to be unsafe: scheme, userinfo,
 * port, length, control characters, host forms of this machine (docs/attacks.md J1–J20). Names are resolved and checked
 * later, when the connection is made.
 * @throws AppError 400 `url_blocked`
 */
export function readPublicUrl(given: string, rules: UrlRules): URL {
  // Addresses are copied with the blanks and line ends around them.
  const text = given.trim()
  const refuse = (why: string) => urlBlocked(text, why)
  if (text.length > MAX_URL_CHARS) throw refuse(`it is longer than ${MAX_URL_CHARS} characters`)
  // The URL parser silently drops tabs and line breaks, so the raw text is checked first.
  if (/[\p{Cc}\s\\]/u.test(text)) throw refuse('it contains spaces, backslashes or control characters')
  if (!/^https?:\/\/[^/]/i.test(text)) throw refuse('it does not begin with http:// or https:// and a host')

  const url = URL.parse(text)
  if (!url) throw refuse('it is not a valid address')
  if (url.username || url.password) throw refuse('it contains a user name or password')
  if (url.hash) throw refuse('it contains a fragment (#…), which is never sent')
  if (rules.httpsOnly && url.protocol !== 'https:') throw refuse('this server calls https addresses only')
  if (url.port && isRefusedPort(Number(url.port))) throw refuse(`port ${url.port} is not allowed`)

  const host = hostOf(url)
  if (rules.ownHosts.has(url.host) || rules.ownHosts.has(host)) throw refuse('it is an address of this server itself')
  if (ipaddr.isValid(host)) {
    if (!rules.addresses.permits(host)) throw refuse('it is not a public address')
  } else if (!rules.localNames) {
    // A public name has a dot, not at its end, and is outside the zones for this machine or a private network.
    const isPublic =
      host.includes('.') && !host.endsWith('.') && !/\.(localhost|local|internal|intranet|lan|home\.arpa)$/i.test(host)
    if (!isPublic) throw refuse('it is not a public host name')
  }
  return url
}

/**
 * Only global unicast addresses pass, minus `deny`. A CIDR in `allow` is exempt from both (`SVC_EGRESS_ALLOW`, for
 * development and tests).
 * @throws Error naming the entry that is not a CIDR or an address
 */
export function createAddressRule(options: { allow?: readonly string[]; deny?: readonly string[] } = {}): AddressRule {
  const allow = (options.allow ?? []).map(readCidr)
  const deny = [...NEVER, ...(options.deny ?? [])].map(readCidr)
  return {
    permits(text) {
      if (!ipaddr.isValid(text)) return false
      const address = ipaddr.parse(text)
      if (allow.some((cidr) => inside(address, cidr))) return true
      return address.range() === 'unicast' && !deny.some((cidr) => inside(address, cidr))
    },
  }
}

/**
 * Creates a list of networks with a membership test for addresses.
 * @throws Error naming the entry that is not a CIDR or an address
 */
export function createAddressList(entries: readonly string[]) {
  const networks = entries.map(readCidr)
  /** Parses an IPv4-mapped IPv6 address as its IPv4 address. */
  const parse = (text: string): Address | null => (ipaddr.isValid(text) ? ipaddr.process(text) : null)
  return {
    /** The address in its canonical form. Null for a text that is not an address. */
    read: (text: string): string | null => parse(text)?.toString() ?? null,
    has(text: string): boolean {
      const address = parse(text)
      return address !== null && networks.some((cidr) => inside(address, cidr))
    },
  }
}

/** One entry of a list of networks: `10.0.0.0/8`, `fd00::/8`, or a single address. */
function readCidr(text: string): Cidr {
  const entry = text.trim()
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry)
  if (!ipaddr.isValid(entry)) throw new Error(`${JSON.stringify(entry)} is not an address or a CIDR such as 10.0.0.0/8`)
  const address = ipaddr.parse(entry)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}
