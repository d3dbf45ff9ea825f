import type { Progress } from '../completions'
import { iso } from '../kernel/clock'
import { ReaderLeft } from '../kernel/stream'
import { shorten, storable } from '../kernel/text'
import type { Deps } from './deps'
import { isClosed, widgetErrors } from './errors'
import { discardPictures, readPictures, receivePictures, shownMessages } from './pictures'
import { operatorOf, presentMessage, sessionRepository as rows } from './repository'
import { receiveMessage, requestPerson } from './request-handoff'
import type { PublicWidget } from './schema'
import {
  type Feedback,
  type HumanWanted,
  type NewWidgetSession,
  type Recorded,
  type Replied,
  type TakeoverState,
  type Typed,
  type VisitorMessage,
  type VisitorView,
  WidgetSessionId,
  type WidgetSessionMade,
} from './schema-sessions'
import type { MessageRow, SessionRow, WidgetRow } from './table'
import { answerTurn, CHAT, markChat, publishChat, subjectOf } from './transcript'
import {
  addressHash,
  assertFits,
  assertHuman,
  assertMayStart,
  enterChat,
  enterWidget,
  newSessionToken,
  originOfPage,
  type VisitorRequest,
} from './visitor-auth'

/** Minimum time between two typing notices of a visitor. */
const EVERY_MS = 2_000

/** The items of a streamed answer: the parts of the completion, and the stored reply before its end. */
export type StreamedReply = Progress | { type: 'reply'; replied: Replied }
type Show = (shown: StreamedReply) => void | Promise<void>
export type Answering = { now: Replied } | { stream(show: Show): Promise<void> }

const PAGE_CHARS = 2_048

export async function describeWidget(deps: Deps, visitorRequest: VisitorRequest): Promise<PublicWidget> {
  const { widget } = await enterWidget(deps, visitorRequest)
  return presentPublic(deps, widget)
}

export async function presentPublic(
  { keyOf, settings }: Deps,
  { id, name, appearance, behavior, security, api_key_id }: WidgetRow,
) {
  const { welcomeMessage, placeholder, maxPromptLength, enableFileUpload, enableVoice, suggestedPrompts } = behavior
  // If the key falls back to the free tier, the branding is shown again.
  const hideBranding = appearance.hideBranding && (await keyOf(api_key_id))?.tier !== 'free'
  return {
    id,
    name,
    status: 'active' as const,
    appearance: { ...appearance, hideBranding },
    behavior: { welcomeMessage, placeholder, maxPromptLength, enableFileUpload, enableVoice, suggestedPrompts },
    security: {
      requireTurnstile: security.requireTurnstile,
      turnstileSiteKey: settings.turnstileSiteKey || null,
      turnstileScript: security.requireTurnstile ? settings.turnstileScript : null,
    },
  }
}

/** Starts a chat. Throws 403 for the page or the bot check, 429. */
export async function beginChat(
  deps: Deps,
  visitorRequest: VisitorRequest,
  input: NonNullable<NewWidgetSession> = {},
): Promise<WidgetSessionMade> {
  const { masterKey, store, clock } = deps
  const { visitor_id, page_url, turnstile_token, preview_token } = input
  const { widget, isOwn } = await enterWidget(deps, visitorRequest, preview_token)
  const ip = addressHash(masterKey, widget.id, visitorRequest.ip)
  if (preview_token === undefined) await assertMayStart(deps, store.read, widget, ip)
  if (widget.security.requireTurnstile && preview_token === undefined)
    await assertHuman(deps, turnstile_token, visitorRequest.ip)
  const { token, hash } = newSessionToken()
  const now = clock.now()
  const page = storable(page_url ?? '').slice(0, PAGE_CHARS) || null
  const row: SessionRow = {
    id: WidgetSessionId.create(),
    config_id: widget.id,
    owner: widget.owner,
    token_hash: hash,
    token_origin: isOwn ? null : visitorRequest.page.origin,
    status: 'open',
    takeover_status: 'ai',
    operator_id: null,
    operator_name: null,
    reason: null,
    takeovers: 0,
    visitor_id: visitor_id ?? WidgetSessionId.create(),
    ip_hash: ip,
    user_agent: visitorRequest.userAgent && shorten(storable(visitorRequest.userAgent), 300),
    origin: isOwn ? (originOfPage(page) ?? visitorRequest.page.origin) : visitorRequest.page.origin,
    page_url: page,
    identity: null,
    context: null,
    message_count: 0,
    asked: 0,
    first_asked_at: null,
    first_response_ms: null,
    cost_micro: 0,
    waited_ms: null,
    left_at: null,
    conversation_id: null,
    rating: null,
    comment: null,
    created_at: now,
    last_message_at: now,
    changed_at: now,
    expires_at: now + widget.security.sessionTtlMinutes * 60_000,
  }
  await store.write(async (tx) => {
    await rows.insert(tx, row)
    publishChat(deps, tx, row, { what: 'begun' })
  })
  return {
    session_id: row.id,
    token,
    expires_at: iso(row.expires_at),
    takeover_status: 'ai',
    visitor_id: row.visitor_id,
    welcome_message: widget.behavior.welcomeMessage || null,
  }
}

export async function readOwnChat(
  deps: Deps,
  visitorRequest: VisitorRequest,
  sessionId: string,
  after?: string,
): Promise<VisitorView> {
  const { store } = deps
  const { session } = await enterChat(deps, visitorRequest, sessionId)
  const from = after ? (await rows.message(store.read, session.id, after))?.seq : undefined
  const messages = await rows.messages(store.read, session.id, from ?? 0)
  const operator = operatorOf(session)
  return {
    session_id: session.id,
    status: session.status,
    takeover_status: session.takeover_status,
    operator: operator && { name: operator.name },
    messages: await shownMessages(deps, session, messages),
  }
}

/**
 * Stores a visitor's message and lets the AI answer, unless a person has the chat. Throws 400, 409 when closed, 429.
 * Errors of the completion come after the message was stored.
 */
export async function sendToWidget(
  deps: Deps,
  visitorRequest: VisitorRequest,
  sessionId: string,
  input: VisitorMessage,
): Promise<Answering> {
  const { store, keyOf, chats } = deps
  const { widget, session } = await enterChat(deps, visitorRequest, sessionId)
  const content = storable(input.content)
  assertFits(widget, content)
  const images = readPictures(widget, input.attachments ?? [])
  const drafts = await receivePictures(deps, images)
  const heard = await store
    .write((tx) => receiveMessage(deps, tx, { widget, session, content, drafts }))
    .catch((error) => discardPictures(deps, drafts, error))
  const replied = (reply: MessageRow | null, status: Replied['takeover_status']): Replied => ({
    message: presentMessage(heard.message),
    reply: reply && presentMessage(reply),
    takeover_status: status,
  })
  const { takeover_status: current } = heard.session
  if (heard.notice)
    return {
      now: {
        ...replied(heard.notice, current),
        ...(widget.intents.action === 'redirect' && widget.intents.url ? { redirect_url: widget.intents.url } : {}),
      },
    }
  if (current === 'human') return { now: replied(null, 'human') }
  const caller = await keyOf(widget.api_key_id)
  if (!caller) {
    await store.write((tx) => rows.changeMessage(tx, heard.message.id, { failed: true }))
    throw widgetErrors.cannotAnswer.with({ retryAfterS: 300 })
  }
  const { fence: fencingToken, message } = heard
  const { requestId, route } = visitorRequest
  const turn = { widget, session: heard.session, message, fence: fencingToken, caller, images, requestId, route }
  const ended = async (reply: MessageRow | null) => {
    if (reply) return replied(reply, current)
    return replied(null, (await chats.read(store.read, session.id)).status)
  }
  if (!input.stream) return { now: await ended(await answerTurn(deps, turn, null)) }
  return {
    async stream(show) {
      let end: Progress | null = null
      const reply = await answerTurn(deps, turn, async (progress) => {
        // If the visitor has left, the answer is still completed and stored, because they may come back.
        if (progress.type === 'ended') end = progress
        else await Promise.resolve(show(progress)).catch(unlessLeft)
      })
      await show({ type: 'reply', replied: await ended(reply) })
      if (end && reply) await show(end)
    },
  }
}

export async function requestHuman(
  deps: Deps,
  visitorRequest: VisitorRequest,
  sessionId: string,
  { reason }: NonNullable<HumanWanted> = {},
) {
  const { store, chats } = deps
  const { widget, session } = await enterChat(deps, visitorRequest, sessionId)
  return store.write(async (tx): Promise<TakeoverState> => {
    await chats.lock(tx, subjectOf(session))
    const row = await rows.lock(tx, session.id)
    if (row?.status !== 'open') throw isClosed()
    const text = reason === undefined ? null : storable(reason)
    const { status } = await requestPerson(deps, tx, { widget, session: row, reason: text, message: null })
    return { session_id: session.id, takeover_status: status }
  })
}

export async function rateChat(
  deps: Deps,
  visitorRequest: VisitorRequest,
  sessionId: string,
  { rating, comment }: Feedback,
): Promise<Recorded> {
  const { store } = deps
  const { session } = await enterChat(deps, visitorRequest, sessionId)
  const text = comment === undefined ? null : storable(comment)
  await store.write((tx) => markChat(deps, tx, session.id, { rating, comment: text }))
  return { recorded: true }
}

function unlessLeft(error: unknown): void {
  if (!(error instanceof ReaderLeft)) throw error
}

/** Notifies the people who answer that a visitor is typing. Stores nothing. Not while the AI answers. */
export async function typeInChat(deps: Deps, visitorRequest: VisitorRequest, sessionId: string): Promise<Typed> {
  const { clock, live, typingShownAt } = deps
  const { session } = await enterChat(deps, visitorRequest, sessionId)
  const { id, config_id: widget, takeover_status } = session
  const [now, last] = [clock.monotonic(), typingShownAt.get(id)]
  const isNews = last === undefined || now - last >= EVERY_MS
  if (takeover_status !== 'ai' && isNews) {
    typingShownAt.set(id, now)
    live.publish(CHAT, id, { what: 'typing', role: 'user', widget })
  }
  return { typing: true }
}
