import type { TenantCaller } from '../../kernel/caller'
import { quoted } from '../../kernel/errors'
import { crossSiteRequest, originNotAllowed } from './errors'

/** Headers that browsers add themselves and that pages cannot forge. */
export type BrowserHeaders = {
  method: string
  /** Null when the credential came as the cookie. */
  authorization: string | null
  origin: string | null
  /** `Sec-Fetch-Site`. */
  fetchSite: string | null
  host: string | null
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Throws 403 `origin_not_allowed` for a page outside the key's `allowed_origins` (contract 20; calls without `Origin`
 * pass), and for a change that another site requests with the session cookie.
 */
export function assertOrigin(caller: TenantCaller, headers: BrowserHeaders, ownOrigin: string | null): void {
  const { origin } = headers
  if (caller.type === 'key') {
    const allowed = caller.allowedOrigins
    if (origin && allowed.length && !allowed.includes(origin)) throw originNotAllowed(quoted(origin))
    return
  }
  const cameByCookie = !headers.authorization
  if (cameByCookie) assertOwnPage(headers, ownOrigin)
}

/** Throws 403 `origin_not_allowed` for a change that a page of another site asks for, such as to sign somebody in. */
export function assertOwnPage(headers: BrowserHeaders, ownOrigin: string | null): void {
  if (!READS.has(headers.method) && !isSameOrigin(headers, ownOrigin)) throw crossSiteRequest()
}

/** Decides by `Sec-Fetch-Site` when the browser sends it, else by `Origin`. Without either the answer is no. */
function isSameOrigin({ origin, fetchSite, host }: BrowserHeaders, ownOrigin: string | null): boolean {
  if (fetchSite !== null) return fetchSite === 'same-origin'
  if (origin === null) return false
  return origin === ownOrigin || (host !== null && URL.parse(origin)?.host === host)
}
