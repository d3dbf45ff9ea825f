import TOP_LEVEL from 'tlds'

/**
 * The host an address leads to as the WHATWG rules read it: credentials aside, letters of other scripts in their own
 * encoding, numbers as addresses, IPv6 in its brackets. Null where they read none.
 */
export function hostOf(address: string): string | null {
  return URL.parse(address)?.hostname.replace(/\.$/, '') || null
}

/** The same of what stands between the slashes and the path, whatever the scheme: browsers know the rules of few. */
export const hostIn = (authority: string): string | null => hostOf(`https://${authority}`)

/** Endings that nobody registers below, and that stand for hosts of somebody all the same. */
const RESERVED = ['example', 'onion', 'internal', 'local', 'localhost']
const ENDINGS = new Set([...TOP_LEVEL.map((ending) => hostIn(ending) ?? ending), ...RESERVED])

const endingOf = (host: string): string => host.slice(host.lastIndexOf('.') + 1)

/** Whether a host ends as the domain name system has it. */
export const isNamed = (host: string): boolean => host.includes('.') && ENDINGS.has(endingOf(host))

export const isNumbered = (host: string): boolean => host.startsWith('[') || /^\d+(?:\.\d+){3}$/.test(host)
