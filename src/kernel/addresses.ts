import ipaddr from 'ipaddr.js'

type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number]
type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * Addresses in public ranges that lead to internal hosts: IPv4-compatible ones (`::127.0.0.1`) and the metadata service
 * of one large cloud. The library we use calls them public.
 */
const NEVER = ['::/96', '168.63.129.16/32']

export type AddressRule = {
  /** True when a connection that a user or a model asked for may go to this IP address. */
  permits(address: string): boolean
}

/**
 * Only global unicast addresses pass, minus `deny`; a CIDR in `allow` is exempt from all of it
 * (`SVC_EGRESS_ALLOW`, for development and tests).
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
 * Creates a list of networks that can be asked whether it contains an address.
 * @throws Error naming the entry that is not a CIDR or an address
 */
export function createAddressList(entries: readonly string[]) {
  const networks = entries.map(readCidr)
  /** An IPv4-mapped IPv6 address is read as its IPv4 address. */
  const parse = (text: string): Address | null => (ipaddr.isValid(text) ? ipaddr.process(text) : null)
  return {
    /** The address in its canonical form; null for a text that is not an address. */
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
