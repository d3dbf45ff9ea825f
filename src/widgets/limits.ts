import { charactersIn, hasAtMost } from '../kernel/characters'
import { invalidInput } from '../kernel/errors'
import { OutboundFailure } from '../kernel/outbound'
import type { Reader, Tx } from '../kernel/store'
import { isBlank } from '../kernel/text'
import type { Deps } from './deps'
import { botRefused, tooFast } from './errors'
import { sessionRepository as rows } from './repository'
import type { SessionRow, WidgetRow } from './table'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** `strictAbuse` (contract 15.3). */
const STRICT = { max: 10, windowMs: 30_000, alike: 3 }

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

const MAX_BYTES = 16 * 1024
const TIMEOUT_MS = 5_000

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
