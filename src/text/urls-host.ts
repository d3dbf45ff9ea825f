import TOP_LEVEL from 'tlds'

/**
 * The host of a URL by the WHATWG rules: without credentials, other scripts in punycode, numbers as IPv4 addresses,
 * IPv6 in brackets. Null for an invalid URL.
 */
export function hostOf(address: string): string | null {
  return URL.parse(address)?.hostname.replace(/\.$/, '') || null
}

/** The host of an authority. Parsed as https, because the rules parse hosts for few schemes only. */
export const hostIn = (authority: string): string | null => hostOf(`https://${authority}`)

/** Top-level domains that cannot be registered but are used for hosts. */
const RESERVED = ['example', 'onion', 'internal', 'local', 'localhost']
const ENDINGS = new Set([...TOP_LEVEL.map((ending) => hostIn(ending) ?? ending), ...RESERVED])

/** Whether a host ends with a known top-level domain. */
export const isNamed = (host: string): boolean =>
  host.includes('.') && ENDINGS.has(host.slice(host.lastIndexOf('.') + 1))

export const isNumbered = (host: string): boolean => host.startsWith('[') || /^\d+(?:\.\d+){3}$/.test(host)
