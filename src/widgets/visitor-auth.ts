import { hmacHex, randomBase62, sha256Hex, timingSafeEqual } from '../kernel/crypto'
import { invalidInput, notFound, quoted } from '../kernel/errors'
import { OutboundFailure } from '../kernel/outbound'
import type { Reader, Tx } from '../kernel/store'
import { charactersIn, hasAtMost, isBlank } from '../kernel/text'
import type { Deps } from './deps'
import { badPreview, badToken, botRefused, originRefused, tooFast } from './errors'
import { sessionRepository as rows } from './repository'
import { WidgetId } from './schema'
import { WidgetSessionId } from './schema-sessions'
import type { SessionRow, WidgetRow } from './table'

const HOUR_MS = 3_600_000

const MINUTE_MS = 60_000

/** `strictAbuse` (docs/api.md 15.3). */
const STRICT = { max: 10, windowMs: 30_000, alike: 3 }

const MAX_BYTES = 16 * 1024

const TIMEOUT_MS = 5_000

/** What a browser says of the page that calls; it cannot be forged by pages, only by programs. */
type Page = {
  origin: string | null
  /** The request's own host, as in the Host header. */
  host: string | null
  /** `Sec-Fetch-Site`. */
  fetchSite: string | null
}

/** The frame's own page: it is served from here, and who may frame it is said by its policy. */
function isOwnPage({ origin, host, fetchSite }: Page, own: string): boolean {
  if (origin === null) return fetchSite === 'same-origin'
  if (origin === own) return true
  return host !== null && URL.parse(origin)?.host === host
}

/**
 * The value of `frame-ancestors` for the page of a widget, from the origins that may show it (docs/api.md 15.3): none
 * where none is listed (docs/attacks.md M1). A preview is framed by this server only.
 */
export function frameAncestors(allowed: readonly string[], preview = false): string {
  if (preview) return "'self'"
  return allowed.length ? allowed.join(' ') : "'none'"
}

/** Origins as browsers send them. Throws 400 naming the invalid one. */
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

const SESSION = 'svc_wt_'
const PREVIEW = 'svc_wp_'
const SECRET_CHARS = 43
const PREVIEW_MS = 15 * 60_000

/** A visitor's token and what is stored of it. */
export function newSessionToken(): { token: string; hash: string } {
  const token = `${SESSION}${randomBase62(SECRET_CHARS)}`
  return { token, hash: sha256Hex(token) }
}

/** The bearer token of a header; null for anything else, such as a key of an account. */
export function bearerOf(header: string | null): string | null {
  const match = header?.match(/^Bearer (svc_wt_[0-9A-Za-z]{43})$/)
  return match ? match[1]! : null
}

const previewSignature = (masterKey: Uint8Array, id: string, until: number): string =>
  hmacHex(masterKey, `widget-preview ${id} ${until}`).slice(0, 48)

/** A token that shows a widget to everyone who has it, for 15 minutes: signed, and stored nowhere. */
export function makePreview({ masterKey, clock }: Deps, id: string): { token: string; until: number } {
  const until = clock.now() + PREVIEW_MS
  return { token: `${PREVIEW}${until.toString(36)}_${previewSignature(masterKey, id, until)}`, until }
}

/** Whether it is a preview of this widget, and its time is not over. */
function fitsPreview({ masterKey, clock }: Deps, token: string, id: string): boolean {
  const [, time = '', signature = ''] = token.match(/^svc_wp_([0-9a-z]{1,12})_([0-9a-f]{48})$/) ?? []
  const until = Number.parseInt(time, 36)
  const isValid = Number.isSafeInteger(until) && until > clock.now()
  return isValid && timingSafeEqual(signature, previewSignature(masterKey, id, until))
}

/** Who an address is, for limits, without storing it. */
export const addressHash = (masterKey: Uint8Array, widgetId: string, ip: string): string =>
  hmacHex(masterKey, `widget-address ${widgetId} ${ip}`).slice(0, 32)

/** A visitor's request, as far as it says who asks. */
export type VisitorRequest = {
  id: string
  page: Page
  ip: string
  userAgent: string | null
  /** The widget token; null for none, and for other credentials. */
  token: string | null
  /** A reading request may come without an Origin, as browsers leave it out within one origin. */
  reads: boolean
  requestId: string
  route: string
  signal: AbortSignal
  /** The token is good: this is no stranger's connection any more. */
  known(): void
  /** Lets this origin's pages read the answer. */
  readable(origin: string): void
}

/** Throws 404 for a widget that is not there or disabled. */
async function active({ store }: Deps, id: string): Promise<WidgetRow> {
  const row = WidgetId.is(id) ? await rows.widget(store.read, id) : undefined
  if (row?.status !== 'active') throw notFound('widget')
  return row
}

async function allowedOf({ keyOf }: Deps, { security, api_key_id }: WidgetRow): Promise<readonly string[]> {
  if (security.allowedOrigins.length) return security.allowedOrigins
  return (await keyOf(api_key_id))?.allowedOrigins ?? []
}

/** Before there is a chat. Throws 404, 403 `origin_not_allowed`, and 401 for a preview that is over. */
export async function enterWidget(
  deps: Deps,
  visitorRequest: VisitorRequest,
  preview?: string,
): Promise<{ widget: WidgetRow; isOwn: boolean }> {
  const { origin } = deps
  const widget = await active(deps, visitorRequest.id)
  const isOwn = isOwnPage(visitorRequest.page, origin())
  const { origin: from } = visitorRequest.page
  if (preview !== undefined) {
    if (!fitsPreview(deps, preview, widget.id)) throw badPreview()
    // Exact match of the whole origin (docs/attacks.md M2). `null` and none are no page, and no list allows none.
  } else if (!isOwn && (from === null || from === 'null' || !(await allowedOf(deps, widget)).includes(from)))
    throw originRefused(from)
  if (from) visitorRequest.readable(from)
  return { widget, isOwn }
}

/** With a chat's token. Throws 404, 401 `invalid_token`, 403 for a page other than the one it was given to. */
export async function enterChat(
  deps: Deps,
  visitorRequest: VisitorRequest,
  sessionId: string,
): Promise<{ widget: WidgetRow; session: SessionRow }> {
  const { store, clock } = deps
  const widget = await active(deps, visitorRequest.id)
  const found = WidgetSessionId.is(sessionId) ? await rows.find(store.read, widget.id, sessionId) : undefined
  const isBound = found && isBoundTo(deps, visitorRequest, found)
  if (isBound && visitorRequest.page.origin) visitorRequest.readable(visitorRequest.page.origin)
  const { token } = visitorRequest
  if (
    !found ||
    token === null ||
    !timingSafeEqual(sha256Hex(token), found.token_hash) ||
    found.expires_at <= clock.now()
  )
    throw badToken()
  if (!isBound) throw originRefused(visitorRequest.page.origin)
  visitorRequest.known()
  return { widget, session: found }
}

function isBoundTo({ origin }: Deps, { page, reads }: VisitorRequest, { token_origin: bound }: SessionRow): boolean {
  if (reads && page.origin === null) return true
  return bound === null ? isOwnPage(page, origin()) : page.origin === bound
}

/** Who may frame the page of a widget, for its `frame-ancestors`. Throws as `enter`. */
export async function frameOf(
  deps: Deps,
  id: string,
  preview?: string,
): Promise<{ widget: WidgetRow; ancestors: string }> {
  const widget = await active(deps, id)
  if (preview !== undefined && !fitsPreview(deps, preview, widget.id)) throw badPreview()
  const allowed = preview === undefined ? await allowedOf(deps, widget) : []
  return { widget, ancestors: frameAncestors(allowed, preview !== undefined) }
}

export async function assertMayBegin(
  { clock, settings }: Deps,
  reader: Reader,
  { id }: WidgetRow,
  ip: string,
): Promise<void> {
  const begun = await rows.begunSince(reader, id, ip, clock.now() - HOUR_MS)
  if (begun >= settings.widgetSessionsPerHour) throw tooFast(600, 'Too many chats were started from this address.')
}

/** Throws 400 for a message that is empty or too long for this widget. */
export function assertFits({ behavior }: WidgetRow, content: string): void {
  if (isBlank(content)) throw invalidInput('content', '"content" is empty. Send a message.')
  const max = behavior.maxPromptLength
  if (!hasAtMost(content, max))
    throw invalidInput('content', `"content" has ${charactersIn(content)} characters; this widget allows ${max}.`)
}

/** Throws 429. The chat is locked by this unit. */
export async function assertMaySay(
  { settings, clock }: Deps,
  tx: Tx,
  widget: WidgetRow,
  session: SessionRow,
  ip: string,
  content: string,
) {
  const { maxMessagesPerSession: max } = widget.security
  if (session.asked >= max)
    throw tooFast(HOUR_MS / 1_000, `This chat has had ${max} messages, which is the maximum. Start a new one.`)
  const slow = { max: settings.widgetMessagesPerMinute, windowMs: MINUTE_MS }
  const windows = widget.behavior.strictAbuse ? [STRICT, slow] : [slow]
  for (const { max: limit, windowMs } of windows) {
    const { sent, first } = await rows.sentSince(tx, widget.id, ip, clock.now() - windowMs)
    if (sent < limit) continue
    const wait = Math.max(1, Math.ceil((first + windowMs - clock.now()) / 1_000))
    throw tooFast(wait, 'You sent too many messages at once.')
  }
  if (widget.behavior.strictAbuse && (await repeats(tx, session, content)))
    throw tooFast(STRICT.windowMs / 1_000, 'You sent the same message several times in a row.')
}

/** Whether it would be the third of the same words in a row by the visitor. */
async function repeats(tx: Tx, { id }: SessionRow, content: string): Promise<boolean> {
  const messages = (await rows.last(tx, id, 2 * STRICT.alike)).filter(({ role }) => role === 'user')
  const before = messages.slice(0, STRICT.alike - 1)
  return before.length === STRICT.alike - 1 && before.every((one) => one.content.trim() === content.trim())
}

/**
 * Asks whether a visitor passed the bot check. The protocol is Turnstile's, which others speak too. Throws 403
 * `bot_check_failed`; without an answer nobody is let in.
 */
export async function assertHuman({ outbound, settings }: Deps, token: string | undefined, ip: string): Promise<void> {
  if (!token) throw botRefused('no turnstile_token was sent')
  if (!settings.turnstileSecret) throw botRefused('it is not set up on this server')
  const body = new URLSearchParams({ secret: settings.turnstileSecret, response: token, remoteip: ip }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const request = { method: 'POST' as const, headers, body, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS }
  const answer = await outbound.fetchPublic(settings.turnstileUrl, request).catch((error: unknown) => {
    if (error instanceof OutboundFailure) throw botRefused('it could not be reached')
    throw error
  })
  if (!isPassed(answer.body)) throw botRefused('it rejected the token')
}

function isPassed(body: Uint8Array): boolean {
  try {
    return (JSON.parse(Buffer.from(body).toString('utf8')) as { success?: unknown }).success === true
  } catch {
    return false
  }
}
