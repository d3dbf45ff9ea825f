import { LRUCache } from 'lru-cache'
import type { Live } from '../cluster'
import type { Progress } from '../completions'
import type { KeyCaller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import type { KeyId } from '../kernel/ids'
import type { Store, Tx } from '../kernel/store'
import { ReaderLeft } from '../kernel/stream'
import { shorten, storable } from '../kernel/text'
import { cannotAnswer, isClosed, isOthers } from './errors'
import { createIdentities, isAnother } from './identity'
import type { createBotCheck, createLimits } from './limits'
import { subjectOf } from './operators'
import type { createPictures, Stored } from './pictures'
import { operatorOf, presentMessage } from './present'
import { sessionRepository as rows } from './repository'
import { asksForPerson, type RequestHandoff } from './request-handoff'
import type { PublicWidget } from './schema'
import {
  type Feedback,
  type HumanWanted,
  type Identified,
  type IdentityInput,
  type NewWidgetSession,
  type Recorded,
  type Replied,
  type TakeoverState,
  type Typed,
  type VisitContext,
  type VisitorMessage,
  type VisitorView,
  WidgetSessionId,
  type WidgetSessionMade,
} from './schema-sessions'
import type { MessageRow, SessionRow, WidgetRow } from './table'
import { CHAT, type Transcript } from './transcript'
import type { createTurns } from './turns'
import { addressHash, newSessionToken, originOfPage, type VisitorAuth, type VisitorRequest } from './visitor-auth'

type ReceiveMessageDeps = {
  clock: Clock
  transcript: Transcript
  ask: RequestHandoff
  limits: ReturnType<typeof createLimits>
  pictures: ReturnType<typeof createPictures>
}

type Saying = { widget: WidgetRow; session: SessionRow; content: string; drafts: readonly Stored[] }

/** A message that is stored, and what the visitor is told instead of an answer. */
type Heard = { message: MessageRow; session: SessionRow; fence: number; notify: MessageRow | null }

type IdentifyingDeps = {
  store: Store
  clock: Clock
  masterKey: Uint8Array
  visitorAuth: VisitorAuth
  transcript: Transcript
}

const storableValues = (context: VisitContext): VisitContext =>
  Object.fromEntries(
    Object.entries(context).map(([name, value]) => [
      storable(name),
      typeof value === 'string' ? storable(value) : value,
    ]),
  )

/** A visitor's writing is told at most this often. */
const EVERY_MS = 2_000

const MAX_TYPING = 2_000

type Deps = Parameters<typeof createTyping>[0] & {
  store: Store
  clock: Clock
  masterKey: Uint8Array
  visitorAuth: VisitorAuth
  transcript: Transcript
  ask: RequestHandoff
  limits: ReturnType<typeof createLimits>
  bots: ReturnType<typeof createBotCheck>
  turns: ReturnType<typeof createTurns>
  pictures: ReturnType<typeof createPictures>
  keyOf(id: KeyId): Promise<KeyCaller | null>
}

/** What a streamed answer consists of: the parts of the completion, and the stored reply before its end. */
export type Shown = Progress | { type: 'reply'; replied: Replied }
type Show = (shown: Shown) => void | Promise<void>
export type Answering = { now: Replied } | { stream(show: Show): Promise<void> }

const PAGE_CHARS = 2_048

/** What visitors do (contract 15.3). */
export function createVisitorSide(deps: Deps) {
  const { store, clock, masterKey, visitorAuth, transcript, ask, limits, bots, turns, pictures, keyOf } = deps
  const hear = createReceiveMessage(deps)
  const identify = createIdentifying(deps)
  const typing = createTyping(deps)
  return {
    describe,
    shown: presentPublic,
    begin,
    read,
    say,
    typing,
    identify,
    requestHuman,
    feedback,
    enter: visitorAuth.session,
  }

  async function describe(visitorRequest: VisitorRequest): Promise<PublicWidget> {
    const { widget } = await visitorAuth.enter(visitorRequest)
    return presentPublic(widget)
  }

  async function presentPublic({ id, name, appearance, behavior, security, api_key_id }: WidgetRow) {
    const { welcomeMessage, placeholder, maxPromptLength, enableFileUpload, enableVoice, suggestedPrompts } = behavior
    // A key that has come down to free shows the mark again.
    const hideBranding = appearance.hideBranding && (await keyOf(api_key_id))?.tier !== 'free'
    return {
      id,
      name,
      status: 'active' as const,
      appearance: { ...appearance, hideBranding },
      behavior: { welcomeMessage, placeholder, maxPromptLength, enableFileUpload, enableVoice, suggestedPrompts },
      security: {
        requireTurnstile: security.requireTurnstile,
        turnstileSiteKey: bots.siteKey,
        turnstileScript: security.requireTurnstile ? bots.script : null,
      },
    }
  }

  /** Begins a chat. Throws 403 for the page or the bot check, 429. */
  async function begin(
    visitorRequest: VisitorRequest,
    input: NonNullable<NewWidgetSession> = {},
  ): Promise<WidgetSessionMade> {
    const { visitor_id, page_url, turnstile_token, preview_token } = input
    const { widget, isOwn } = await visitorAuth.enter(visitorRequest, preview_token)
    const ip = addressHash(masterKey, widget.id, visitorRequest.ip)
    if (preview_token === undefined) await limits.assertMayBegin(store.read, widget, ip)
    if (widget.security.requireTurnstile && preview_token === undefined)
      await bots.assertHuman(turnstile_token, visitorRequest.ip)
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
      transcript.tell(tx, row, { what: 'begun' })
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

  async function read(visitorRequest: VisitorRequest, sessionId: string, after?: string): Promise<VisitorView> {
    const { session } = await visitorAuth.session(visitorRequest, sessionId)
    const from = after ? (await rows.message(store.read, session.id, after))?.seq : undefined
    const messages = await rows.messages(store.read, session.id, from ?? 0)
    const operator = operatorOf(session)
    return {
      session_id: session.id,
      status: session.status,
      takeover_status: session.takeover_status,
      operator: operator && { name: operator.name },
      messages: await pictures.shown(session, messages),
    }
  }

  /**
   * Stores what a visitor says, and has the AI answer unless a person has the chat. Throws 400, 409 when closed, 429;
   * what the completion throws comes after the message was stored.
   */
  async function say(visitorRequest: VisitorRequest, sessionId: string, input: VisitorMessage): Promise<Answering> {
    const { widget, session } = await visitorAuth.session(visitorRequest, sessionId)
    const content = storable(input.content)
    limits.assertFits(widget, content)
    const images = pictures.read(widget, input.attachments ?? [])
    const drafts = await pictures.receive(images)
    const heard = await store
      .write((tx) => hear(tx, { widget, session, content, drafts }))
      .catch((error) => pictures.discarded(drafts, error))
    const replied = (reply: MessageRow | null, status: Replied['takeover_status']): Replied => ({
      message: presentMessage(heard.message),
      reply: reply && presentMessage(reply),
      takeover_status: status,
    })
    const { takeover_status: current } = heard.session
    if (heard.notify)
      return {
        now: {
          ...replied(heard.notify, current),
          ...(widget.intents.action === 'redirect' && widget.intents.url ? { redirect_url: widget.intents.url } : {}),
        },
      }
    if (current === 'human') return { now: replied(null, 'human') }
    const caller = await keyOf(widget.api_key_id)
    if (!caller) {
      await store.write((tx) => rows.changeMessage(tx, heard.message.id, { failed: true }))
      throw cannotAnswer.with({ retryAfterS: 300 })
    }
    const { fence: fencingToken, message } = heard
    const { requestId, route } = visitorRequest
    const turn = { widget, session: heard.session, message, fence: fencingToken, caller, images, requestId, route }
    const ended = async (reply: MessageRow | null) => {
      if (reply) return replied(reply, current)
      return replied(null, (await transcript.chats.read(store.read, session.id)).status)
    }
    if (!input.stream) return { now: await ended(await turns.answer(turn, null)) }
    return {
      async stream(show) {
        let end: Progress | null = null
        const reply = await turns.answer(turn, async (progress) => {
          // The answer is finished and kept for a visitor who has left: they may come back.
          if (progress.type === 'ended') end = progress
          else await Promise.resolve(show(progress)).catch(unlessLeft)
        })
        await show({ type: 'reply', replied: await ended(reply) })
        if (end && reply) await show(end)
      },
    }
  }

  async function requestHuman(
    visitorRequest: VisitorRequest,
    sessionId: string,
    { reason }: NonNullable<HumanWanted> = {},
  ) {
    const { widget, session } = await visitorAuth.session(visitorRequest, sessionId)
    return store.write(async (tx): Promise<TakeoverState> => {
      await transcript.chats.lock(tx, subjectOf(session))
      const row = await rows.lock(tx, session.id)
      if (row?.status !== 'open') throw isClosed()
      const text = reason === undefined ? null : storable(reason)
      const { status } = await ask(tx, { widget, session: row, reason: text, message: null })
      return { session_id: session.id, takeover_status: status }
    })
  }

  async function feedback(
    visitorRequest: VisitorRequest,
    sessionId: string,
    { rating, comment }: Feedback,
  ): Promise<Recorded> {
    const { session } = await visitorAuth.session(visitorRequest, sessionId)
    const text = comment === undefined ? null : storable(comment)
    await store.write((tx) => transcript.changed(tx, session.id, { rating, comment: text }))
    return { recorded: true }
  }
}

function unlessLeft(error: unknown): void {
  if (!(error instanceof ReaderLeft)) throw error
}

/** Tells the people who answer that a visitor writes. Nothing is stored, and nobody is told while the AI answers. */
function createTyping({ clock, live, visitorAuth }: { clock: Clock; live: Live; visitorAuth: VisitorAuth }) {
  const notifiedAt = new LRUCache<string, number>({ max: MAX_TYPING })
  return async function typing(visitorRequest: VisitorRequest, sessionId: string): Promise<Typed> {
    const { session } = await visitorAuth.session(visitorRequest, sessionId)
    const { id, config_id: widget, takeover_status } = session
    const [now, last] = [clock.monotonic(), notifiedAt.get(id)]
    const isNews = last === undefined || now - last >= EVERY_MS
    if (takeover_status !== 'ai' && isNews) {
      notifiedAt.set(id, now)
      live.tell(CHAT, id, { what: 'typing', role: 'user', widget })
    }
    return { typing: true }
  }
}

/** What a page says about its visitor comes in. */
function createIdentifying(deps: IdentifyingDeps) {
  const { store, visitorAuth, transcript } = deps
  const readIdentity = createIdentities(deps)

  /**
   * Keeps who the visitor is and what their page says about the visit; what is left out of an order with a context alone
   * stays. Throws 401 for a signature that does not hold, and 409 where the chat is of another proven person.
   */
  return async function identify(
    visitorRequest: VisitorRequest,
    sessionId: string,
    input: NonNullable<IdentityInput> = {},
  ): Promise<Identified> {
    const { widget, session } = await visitorAuth.session(visitorRequest, sessionId)
    const { context, ...message } = input
    const names = Object.keys(message).length > 0 || context === undefined
    const identity = names ? readIdentity(widget, message) : null
    return store.write(async (tx) => {
      const row = await rows.lock(tx, session.id)
      if (row?.status !== 'open') throw isClosed()
      if (isAnother(row.identity, identity)) throw isOthers()
      const now = names ? identity : row.identity
      await transcript.changed(tx, row.id, {
        identity: now,
        ...(context === undefined ? {} : { context: storableValues(context) }),
      })
      transcript.tell(tx, row, { what: 'visitor' })
      return { session_id: row.id, verified: now?.verified ?? false }
    })
  }
}

/** What a visitor says comes in: in one unit it is counted, stored, and read for whether it asks for a person. */
function createReceiveMessage({ clock, transcript, ask, limits, pictures }: ReceiveMessageDeps) {
  return async function hear(tx: Tx, { widget, session: known, content, drafts }: Saying): Promise<Heard> {
    const { id, ip_hash } = known
    const takeover = await transcript.chats.lock(tx, subjectOf(known))
    const session = await rows.lock(tx, id)
    if (session?.status !== 'open') throw isClosed()
    const { fence: fencingToken } = takeover
    const [last] = await rows.last(tx, id, 1)
    if (last?.failed && last.content === content && takeover.status !== 'human') {
      await rows.changeMessage(tx, last.id, { failed: false })
      return { message: last, session, fence: fencingToken, notify: null }
    }
    await limits.assertMaySay(tx, widget, session, ip_hash, content)
    const artifacts = await pictures.keep(tx, widget, drafts)
    const first = session.first_asked_at === null ? { first_asked_at: clock.now() } : {}
    const message = { role: 'user' as const, content, artifacts, ip_hash }
    const written = await transcript.write(tx, session, message, { asked: session.asked + 1, ...first })
    const isRequestHandoff = takeover.status === 'ai' && asksForPerson(content, widget.intents)
    if (!isRequestHandoff) return { ...written, fence: fencingToken, notify: null }
    return { ...(await request(tx, widget, written)), message: written.message, fence: fencingToken }
  }

  /** What the owner wants done where a visitor asks for a person. */
  async function request(
    tx: Tx,
    widget: WidgetRow,
    { session, message: reply }: { session: SessionRow; message: MessageRow },
  ) {
    const { action, message } = widget.intents
    const isForPeople = action === 'takeover' || action === 'webhook'
    if (isForPeople) await ask(tx, { widget, session, reason: 'The visitor asked for a person.', message: reply })
    const words = message || (isForPeople ? 'You asked for a person. Someone will be with you soon.' : '')
    const now = (await rows.lock(tx, session.id))!
    if (!words && action !== 'redirect') return { session: now, notify: null }
    const { message: notice, session: after } = await transcript.write(tx, now, {
      role: 'system',
      content: words || 'Please continue here.',
    })
    return { session: after, notify: notice }
  }
}
