import ipaddr from 'ipaddr.js'
import { type AddressRule, isRefusedPort } from './addresses'
import { defineError, quoted } from './errors'

const MAX_URL_CHARS = 2048

/** 400 `url_blocked` (contract 1.5): this server does not call the address on behalf of a user. */
export const urlBlocked = defineError(
  'invalid',
  'url_blocked',
  (url: string, why: string) => `The address ${quoted(url)} cannot be called: ${why}. Use a public https address.`,
)

export type UrlRules = {
  addresses: AddressRule
  /** Host names this server answers on, so that it never calls itself (J19, J31). */
  ownHosts: ReadonlySet<string>
  /** Production: plain http is refused (J23). */
  httpsOnly: boolean
  /** Allows local names (`localhost`, `box.lan`); the addresses they resolve to are still checked. */
  localNames: boolean
}

/**
 * Parses an address that a user or a model chose and refuses what its text alone shows to be unsafe: scheme, userinfo,
 * port, length, control characters, host forms of this machine (catalogue J1–J20). Names are resolved and checked
 * later, when the connection is made.
 * @throws AppError 400 `url_blocked`
 */
export function readPublicUrl(text: string, rules: UrlRules): URL {
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
  } else if (!rules.localNames && !isPublicName(host)) {
    throw refuse('it is not a public host name')
  }
  return url
}

/** The host without the brackets of an IPv6 address. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

/** A name with a dot, not at its end, outside the zones for this machine or a private network. */
const isPublicName = (host: string): boolean =>
  host.includes('.') && !host.endsWith('.') && !/\.(localhost|local|internal|intranet|lan|home\.arpa)$/i.test(host)
