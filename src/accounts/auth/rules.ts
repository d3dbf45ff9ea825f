import type { TenantCaller } from '../../kernel/caller'
import { type AppError, invalidInput, quoted } from '../../kernel/errors'
import { charactersIn } from '../../kernel/text'
import type { KeyLookup } from '../keys/lookup'
import { authErrors, invalidSession } from './errors'
import type { Sessions } from './sessions'

/** Headers that browsers add themselves and that pages cannot forge. */
export type BrowserHeaders = {
  method: string
  /** Null when the credential came in the cookie. */
  authorization: string | null
  origin: string | null
  /** `Sec-Fetch-Site`. */
  fetchSite: string | null
  host: string | null
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])

type Deps = { keys: Pick<KeyLookup, 'find'>; sessions: Pick<Sessions, 'find'> }

/** The two headers that may carry a credential; never the query, the body or another cookie (docs/attacks.md A7). */
export type CredentialHeaders = { authorization: string | null; cookie: string | null }

export type Credential =
  | { type: 'key'; token: string }
  | { type: 'session'; token: string }
  | { type: 'none'; refusal: AppError }

const KEY_START = 'svc_sk_'
export const SESSION_LABEL = 'svc_ds_'
/** Fast path for nearly every request: a well-formed key that needs no error message. */
const USUAL_KEY = /^Bearer (svc_sk_\w+)$/
const SESSION_COOKIE = 'svc_session'

const LINE_BREAK_AT_END = /(?:[\r\n]|\\n|\\r|%0a|%0d)$/i
/** Prefix of another service's key, such as `sk-proj-`, which the error quotes (docs/operating.md 4.3). */
const FOREIGN_START = /^[a-z]{2,5}[-_](?:[a-z]{2,8}[-_])?/

/** Reads the credential by its form alone, so a rejection reveals nothing about the database. */
function readCredential({ authorization, cookie }: CredentialHeaders): Credential {
  const usual = USUAL_KEY.exec(authorization ?? '')?.[1]
  if (usual) return { type: 'key', token: usual }
  const header = authorization?.trim()
  if (!header) return sessionOfCookie(cookie) ?? refused(authErrors.noCredential())
  const token = /^bearer[ \t]+(.+)$/is.exec(header)?.[1]
  if (token === undefined) return refused(authErrors.notBearer())
  if (LINE_BREAK_AT_END.test(authorization ?? '') || LINE_BREAK_AT_END.test(token))
    return refused(authErrors.lineBreakInKey())
  if (/[,\s]/.test(token)) return refused(authErrors.severalCredentials())
  if (token.startsWith(SESSION_LABEL)) return { type: 'session', token }
  if (token.startsWith(KEY_START)) return { type: 'key', token }
  if (/^svc_[a-z]+_/.test(token)) return refused(authErrors.otherToken())
  const start = FOREIGN_START.exec(token)?.[0]
  return refused(start ? authErrors.foreignKey(start) : authErrors.notAKey())
}

const refused = (refusal: AppError): Credential => ({ type: 'none', refusal })

function sessionOfCookie(cookie: string | null): Credential | null {
  for (const pair of cookie?.split(';') ?? []) {
    const [name, value] = pair.trim().split('=', 2)
    if (name === SESSION_COOKIE && value) return { type: 'session', token: value }
  }
  return null
}

/**
 * The cookie has no Max-Age, so it ends with the browser. The server ends the session 12 hours after its last use.
 * `SameSite=Strict` keeps other sites from making the browser send it, even by a link (docs/operating.md 5.3).
 */
export const sessionCookie = (token: string, secure: boolean): string =>
  `${SESSION_COOKIE}=${token}; Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`

export const endedCookie = (secure: boolean): string => `${sessionCookie('', secure)}; Max-Age=0`

const PASSWORD = { min: 8, max: 200 }

/** A password has 8 to 200 characters, and is neither the address nor its first part. Throws 400 naming `field`. */
export function assertNewPassword(password: string, email: string, field: string): void {
  const length = charactersIn(password)
  if (length < PASSWORD.min || length > PASSWORD.max) {
    throw invalidInput(field, `A password has ${PASSWORD.min} to ${PASSWORD.max} characters; this one has ${length}.`)
  }
  const [candidate, address] = [password, email].map((text) => text.normalize('NFKC').trim().toLowerCase())
  if (candidate === address || candidate === address!.split('@')[0]) {
    throw invalidInput(field, 'The password is your e-mail address or the first part of it. Choose another.')
  }
}

/**
 * Finds the caller of a request from its headers; synchronous when the credential is cached. Throws 401
 * `invalid_api_key`, or `invalid_session` for a session token (docs/api.md 1.2).
 */
export function createAuthenticator({ keys, sessions }: Deps) {
  return (headers: CredentialHeaders): TenantCaller | Promise<TenantCaller> => {
    const credential = readCredential(headers)
    if (credential.type === 'key') return orThrow(keys.find(credential.token), authErrors.unknownKey)
    if (credential.type === 'session') return orThrow(sessions.find(credential.token), invalidSession)
    throw credential.refusal
  }
}

function orThrow<C extends TenantCaller>(found: C | null | Promise<C | null>, refuse: () => AppError): C | Promise<C> {
  if (found instanceof Promise) return found.then((caller) => orThrow(caller, refuse))
  if (!found) throw refuse()
  return found
}

/**
 * Throws 403 `origin_not_allowed` for a page outside the key's `allowed_origins` (docs/api.md 20; calls without
 * `Origin` pass). Does the same for a change that another site requests with the session cookie.
 */
export function assertOrigin(caller: TenantCaller, headers: BrowserHeaders, ownOrigin: string | null): void {
  const { origin } = headers
  if (caller.type === 'key') {
    const allowed = caller.allowedOrigins
    if (origin && allowed.length && !allowed.includes(origin)) throw authErrors.originNotAllowed(quoted(origin))
    return
  }
  const cameByCookie = !headers.authorization
  // Browsers send at least one of the two with a change. Without both, the caller is a program that has the cookie.
  const cameFromPage = origin !== null || headers.fetchSite !== null
  if (cameByCookie && cameFromPage) assertOwnPage(headers, ownOrigin)
}

/** Throws 403 `origin_not_allowed` for a change requested by another site's page, for example to sign somebody in. */
export function assertOwnPage(headers: BrowserHeaders, ownOrigin: string | null): void {
  if (!READS.has(headers.method) && !isSameOrigin(headers, ownOrigin)) throw authErrors.crossSiteRequest()
}

/** Decides by `Sec-Fetch-Site` when the browser sends it, else by `Origin`. False when both are missing. */
function isSameOrigin({ origin, fetchSite, host }: BrowserHeaders, ownOrigin: string | null): boolean {
  if (fetchSite !== null) return fetchSite === 'same-origin'
  if (origin === null) return false
  return origin === ownOrigin || (host !== null && URL.parse(origin)?.host === host)
}
