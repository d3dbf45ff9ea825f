import { hmacHex, randomBase62, sha256Hex, timingSafeEqual } from '../kernel/crypto'
import { invalidInput, notFound, quoted } from '../kernel/errors'
import { OutboundFailure } from '../kernel/outbound'
import type { Reader, Tx } from '../kernel/store'
import { charactersIn, hasAtMost, isBlank } from '../kernel/text'
import type { Deps } from './deps'
import { tooFast, widgetErrors } from './errors'
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

/** What a browser reports about the calling page. Pages cannot forge it, only programs can. */
type Page = {
  origin: string | null
  /** The request's own host, as in the Host header. */
  host: string | null
  /** `Sec-Fetch-Site`. */
  fetchSite: string | null
}

/** True for the frame's own page, which this server serves. Its policy controls who may frame it. */
function isOwnPage({ origin, host, fetchSite }: Page, own: string): boolean {
  if (origin === null) return fetchSite === 'same-origin'
  if (origin === own) return true
  return host !== null && URL.parse(origin)?.host === host
}

/**
 * The value of `frame-ancestors` for a widget's page, from the origins that may show it (docs/api.md 15.3). Without
 * any, no page may frame it (docs/attacks.md M1). Only this server may frame a preview.
 */
export function frameAncestors(allowed: readonly string[], preview = false): string {
  if (preview) return "'self'"
  return allowed.length ? allowed.join(' ') : "'none'"
}

/** Origins in the form that browsers send. Throws 400 naming the invalid one. */
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

/** The origin of the visitor's page. Null if it is not a web address. */
export function originOfPage(url: string | null | undefined): string | null {
  const parsed = url ? URL.parse(url) : null
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.origin : null
}

const SESSION = 'svc_wt_'
const PREVIEW = 'svc_wp_'
const SECRET_CHARS = 43
const PREVIEW_MS = 15 * 60_000

/** A visitor's token, and the hash to store. */
export function newSessionToken(): { token: string; hash: string } {
  const token = `${SESSION}${randomBase62(SECRET_CHARS)}`
  return { token, hash: sha256Hex(token) }
}

/** The bearer token of a header. Null for anything else, such as an account's key. */
export function bearerOf(header: string | null): string | null {
  const match = header?.match(/^Bearer (svc_wt_[0-9A-Za-z]{43})$/)
  return match ? match[1]! : null
}

const previewSignature = (masterKey: Uint8Array, id: string, until: number): string =>
  hmacHex(masterKey, `widget-preview ${id} ${until}`).slice(0, 48)

/** A token that shows a widget to everyone who has it, for 15 minutes. Signed, and stored nowhere. */
export function makePreview({ masterKey, clock }: Deps, id: string): { token: string; until: number } {
  const until = clock.now() + PREVIEW_MS
  return { token: `${PREVIEW}${until.toString(36)}_${previewSignature(masterKey, id, until)}`, until }
}

/** True for an unexpired preview token of this widget. */
function fitsPreview({ masterKey, clock }: Deps, token: string, id: string): boolean {
  const [, time = '', signature = ''] = token.match(/^svc_wp_([0-9a-z]{1,12})_([0-9a-f]{48})$/) ?? []
  const until = Number.parseInt(time, 36)
  const isValid = Number.isSafeInteger(until) && until > clock.now()
  return isValid && timingSafeEqual(signature, previewSignature(masterKey, id, until))
}

/** Identifies an address for limits without storing it. */
export const addressHash = (masterKey: Uint8Array, widgetId: string, ip: string): string =>
  hmacHex(masterKey, `widget-address ${widgetId} ${ip}`).slice(0, 32)

/** The parts of a visitor's request that identify the sender. */
export type VisitorRequest = {
  id: string
  page: Page
  ip: string
  userAgent: string | null
  /** The widget token. Null without one, and for other credentials. */
  token: string | null
  /** True for a read, which may lack an Origin header, because browsers omit it within one origin. */
  reads: boolean
  requestId: string
  route: string
  signal: AbortSignal
  /** Called when the token is valid, so that the connection no longer counts as a stranger's. */
  known(): void
  /** Allows this origin's pages to read the answer. */
  readable(origin: string): void
}

/** Throws 404 for a missing or disabled widget. */
async function active({ store }: Deps, id: string): Promise<WidgetRow> {
  const row = WidgetId.is(id) ? await rows.widget(store.read, id) : undefined
  if (row?.status !== 'active') throw notFound('widget')
  return row
}

async function allowedOf({ keyOf }: Deps, { security, api_key_id }: WidgetRow): Promise<readonly string[]> {
  if (security.allowedOrigins.length) return security.allowedOrigins
  return (await keyOf(api_key_id))?.allowedOrigins ?? []
}

/** Checks access before there is a chat. Throws 404, 403 `origin_not_allowed`, and 401 for an expired preview. */
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
    if (!fitsPreview(deps, preview, widget.id)) throw widgetErrors.badPreview()
    // Compares the whole origin exactly (docs/attacks.md M2). `null` or no origin is not a page. An empty list allows
    // no page.
  } else if (!isOwn && (from === null || from === 'null' || !(await allowedOf(deps, widget)).includes(from)))
    throw widgetErrors.originRefused(from)
  if (from) visitorRequest.readable(from)
  return { widget, isOwn }
}

/** Checks access with a chat's token. Throws 404, 401 `invalid_token`, 403 for another page than the token's. */
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
    throw widgetErrors.badToken()
  if (!isBound) throw widgetErrors.originRefused(visitorRequest.page.origin)
  visitorRequest.known()
  return { widget, session: found }
}

function isBoundTo({ origin }: Deps, { page, reads }: VisitorRequest, { token_origin: bound }: SessionRow): boolean {
  if (reads && page.origin === null) return true
  return bound === null ? isOwnPage(page, origin()) : page.origin === bound
}

/** The pages that may frame a widget's page, for its `frame-ancestors`. Throws like `enterWidget`. */
export async function frameOf(
  deps: Deps,
  id: string,
  preview?: string,
): Promise<{ widget: WidgetRow; ancestors: string }> {
  const widget = await active(deps, id)
  if (preview !== undefined && !fitsPreview(deps, preview, widget.id)) throw widgetErrors.badPreview()
  const allowed = preview === undefined ? await allowedOf(deps, widget) : []
  return { widget, ancestors: frameAncestors(allowed, preview !== undefined) }
}

export async function assertMayStart(
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

/** Throws 429. This transaction has locked the chat. */
export async function assertMaySend(
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

/** True if the visitor would repeat the same text for the third time in a row. */
async function repeats(tx: Tx, { id }: SessionRow, content: string): Promise<boolean> {
  const messages = (await rows.last(tx, id, 2 * STRICT.alike)).filter(({ role }) => role === 'user')
  const before = messages.slice(0, STRICT.alike - 1)
  return before.length === STRICT.alike - 1 && before.every((one) => one.content.trim() === content.trim())
}

/**
 * Verifies that a visitor passed the bot check, by Turnstile's protocol, which other services also support. Throws 403
 * `bot_check_failed`, also if the service does not answer.
 */
export async function assertHuman({ outbound, settings }: Deps, token: string | undefined, ip: string): Promise<void> {
  if (!token) throw widgetErrors.botRefused('no turnstile_token was sent')
  if (!settings.turnstileSecret) throw widgetErrors.botRefused('it is not set up on this server')
  const body = new URLSearchParams({ secret: settings.turnstileSecret, response: token, remoteip: ip }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const request = { method: 'POST' as const, headers, body, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS }
  const answer = await outbound.fetchPublic(settings.turnstileUrl, request).catch((error: unknown) => {
    if (error instanceof OutboundFailure) throw widgetErrors.botRefused('it could not be reached')
    throw error
  })
  if (!isPassed(answer.body)) throw widgetErrors.botRefused('it rejected the token')
}

function isPassed(body: Uint8Array): boolean {
  try {
    return (JSON.parse(Buffer.from(body).toString('utf8')) as { success?: unknown }).success === true
  } catch {
    return false
  }
}
