import { invalidInput, quoted } from '../kernel/errors'

/** What a browser says of the page that calls; it cannot be forged by pages, only by programs. */
export type Page = {
  origin: string | null
  /** The request's own host, as in the Host header. */
  host: string | null
  /** `Sec-Fetch-Site`. */
  fetchSite: string | null
}

/** The frame's own page: it is served from here, and who may frame it is said by its policy. */
export function isOwnPage({ origin, host, fetchSite }: Page, own: string): boolean {
  if (origin === null) return fetchSite === 'same-origin'
  if (origin === own) return true
  return host !== null && URL.parse(origin)?.host === host
}

/** Exact match of the whole origin (M2). `null` and none are no page, and no list allows none. */
export const isAllowed = ({ origin }: Page, allowed: readonly string[]): boolean =>
  origin !== null && origin !== 'null' && allowed.includes(origin)

/**
 * The value of `frame-ancestors` for the page of a widget, from the origins that may show it (contract 15.3): none where
 * none is listed (M1). A preview is framed by this server only.
 */
export function frameAncestors(allowed: readonly string[], preview = false): string {
  if (preview) return "'self'"
  return allowed.length ? allowed.join(' ') : "'none'"
}

/** Origins as browsers send them. Throws 400 naming the one that is none. */
export function readOrigins(values: readonly string[]): string[] {
  return [...new Set(values.map((value, at) => readOrigin(value, `security.allowedOrigins[${at}]`)))]
}

function readOrigin(value: string, path: string): string {
  const url = URL.parse(value)
  const isBare = url && url.pathname === '/' && !`${url.search}${url.hash}${url.username}${url.password}`
  if (url && isBare && /^https?:$/.test(url.protocol) && /^[\w.:[\]-]+$/.test(url.host)) return url.origin
  throw invalidInput(
    path,
    `"${path}" is "${quoted(value)}"; an origin is a scheme and a host, such as https://shop.example.`,
  )
}

/** The origin of the page that the visitor is on; null for what is no web address. */
export function originOfPage(url: string | null | undefined): string | null {
  const parsed = url ? URL.parse(url) : null
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.origin : null
}
