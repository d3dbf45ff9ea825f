import { charactersIn } from '../../kernel/characters'
import { type AppError, invalidInput } from '../../kernel/errors'
import { foreignKey, lineBreakInKey, noCredential, notAKey, notBearer, otherToken, severalCredentials } from './errors'

/** The two headers that may carry a credential; never the query, the body or another cookie (A7). */
export type CredentialHeaders = { authorization: string | null; cookie: string | null }

export type Credential =
  | { type: 'key'; token: string }
  | { type: 'session'; token: string }
  | { type: 'none'; refusal: AppError }

const KEY_START = 'svc_sk_'
export const SESSION_LABEL = 'svc_ds_'
/** What nearly every request brings: a key of ours without anything to explain about it. */
const USUAL_KEY = /^Bearer (svc_sk_\w+)$/
const SESSION_COOKIE = 'svc_session'

const LINE_BREAK_AT_END = /(?:[\r\n]|\\n|\\r|%0a|%0d)$/i
/** Prefix of another service's key, such as `sk-proj-`; quoted in the error, so that the mix-up is obvious (dx 4.3). */
const FOREIGN_START = /^[a-z]{2,5}[-_](?:[a-z]{2,8}[-_])?/

/** Reads the credential by its form alone, so a refusal reveals nothing about the database. */
export function readCredential({ authorization, cookie }: CredentialHeaders): Credential {
  const usual = USUAL_KEY.exec(authorization ?? '')?.[1]
  if (usual) return { type: 'key', token: usual }
  const header = authorization?.trim()
  if (!header) return sessionOfCookie(cookie) ?? refused(noCredential())
  const token = /^bearer[ \t]+(.+)$/is.exec(header)?.[1]
  if (token === undefined) return refused(notBearer())
  if (LINE_BREAK_AT_END.test(authorization ?? '') || LINE_BREAK_AT_END.test(token)) return refused(lineBreakInKey())
  if (/[,\s]/.test(token)) return refused(severalCredentials())
  if (token.startsWith(SESSION_LABEL)) return { type: 'session', token }
  if (token.startsWith(KEY_START)) return { type: 'key', token }
  return refused(refusalOf(token))
}

function refusalOf(token: string): AppError {
  if (/^svc_[a-z]+_/.test(token)) return otherToken()
  const start = FOREIGN_START.exec(token)?.[0]
  return start ? foreignKey(start) : notAKey()
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
 * The cookie has no Max-Age, so it ends with the browser; the server ends the session 12 hours after its last use. No
 * other site can have the browser send it, also not by a link (dx 5.3).
 */
export const sessionCookie = (token: string, secure: boolean): string =>
  `${SESSION_COOKIE}=${token}; Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`

export const endedCookie = (secure: boolean): string => `${sessionCookie('', secure)}; Max-Age=0`

const PASSWORD = { min: 8, max: 200 }

/**
 * Any 8 to 200 characters make a password, but not the account's e-mail address or its first part (console 9.6). Throws
 * 400 that names `field`.
 */
export function assertNewPassword(password: string, email: string, field: string): void {
  const length = charactersIn(password)
  if (length < PASSWORD.min || length > PASSWORD.max) {
    throw invalidInput(field, `A password has ${PASSWORD.min} to ${PASSWORD.max} characters; this one has ${length}.`)
  }
  const [message, address] = [password, email].map((text) => text.normalize('NFKC').trim().toLowerCase())
  if (message === address || message === address!.split('@')[0]) {
    throw invalidInput(field, 'The password is your e-mail address or the first part of it. Choose another.')
  }
}
