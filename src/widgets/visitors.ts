import type { Progress } from '../completions'
import type { KeyCaller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import type { KeyId } from '../kernel/ids'
import type { Store } from '../kernel/store'
import { ReaderLeft } from '../kernel/stream'
import { shorten, storable } from '../kernel/text'
import type { Asking } from './asking'
import type { createBotCheck } from './bot-check'
import type { Desk } from './desk'
import type { Door, Knock } from './door'
import { cannotAnswer, isClosed } from './errors'
import { createHearing } from './hearing'
import { createIdentifying } from './identifying'
import type { createLimits } from './limits'
import { subjectOf } from './operators'
import { originOfPage } from './origins'
import type { createPictures } from './pictures'
import { operatorOf, presentMessage } from './present'
import { sessionRepository as rows } from './repository'
import type { PublicWidget } from './schema'
import {
  type Feedback,
  type HumanWanted,
  type NewWidgetSession,
  type Recorded,
  type Replied,
  type Standing,
  type VisitorMessage,
  type VisitorView,
  WidgetSessionId,
  type WidgetSessionMade,
} from './schema-sessions'
import type { MessageRow, SessionRow, WidgetRow } from './table'
import { addressHash, newSessionToken } from './tokens'
import type { createTurns } from './turns'
import { createTyping } from './typing'

type Deps = Parameters<typeof createTyping>[0] & {
  store: Store
  clock: Clock
  masterKey: Uint8Array
  door: Door
  desk: Desk
  ask: Asking
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
  const { store, clock, masterKey, door, desk, ask, limits, bots, turns, pictures, keyOf } = deps
  const hear = createHearing(deps)
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
    enter: door.session,
  }

  async function describe(knock: Knock): Promise<PublicWidget> {
    const { widget } = await door.enter(knock)
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
  async function begin(knock: Knock, order: NonNullable<NewWidgetSession> = {}): Promise<WidgetSessionMade> {
    const { visitor_id, page_url, turnstile_token, preview_token } = order
    const { widget, isOwn } = await door.enter(knock, preview_token)
    const ip = addressHash(masterKey, widget.id, knock.ip)
    if (preview_token === undefined) await limits.assertMayBegin(store.read, widget, ip)
    if (widget.security.requireTurnstile && preview_token === undefined)
      await bots.assertHuman(turnstile_token, knock.ip)
    const { token, hash } = newSessionToken()
    const now = clock.now()
    const page = storable(page_url ?? '').slice(0, PAGE_CHARS) || null
    const row: SessionRow = {
      id: WidgetSessionId.create(),
      config_id: widget.id,
      owner: widget.owner,
      token_hash: hash,
      token_origin: isOwn ? null : knock.page.origin,
      status: 'open',
      takeover_status: 'ai',
      operator_id: null,
      operator_name: null,
      reason: null,
      takeovers: 0,
      visitor_id: visitor_id ?? WidgetSessionId.create(),
      ip_hash: ip,
      user_agent: knock.userAgent && shorten(storable(knock.userAgent), 300),
      origin: isOwn ? (originOfPage(page) ?? knock.page.origin) : knock.page.origin,
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
      desk.tell(tx, row, { what: 'begun' })
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

  async function read(knock: Knock, sessionId: string, after?: string): Promise<VisitorView> {
    const { session } = await door.session(knock, sessionId)
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
  async function say(knock: Knock, sessionId: string, order: VisitorMessage): Promise<Answering> {
    const { widget, session } = await door.session(knock, sessionId)
    const content = storable(order.content)
    limits.assertFits(widget, content)
    const images = pictures.read(widget, order.attachments ?? [])
    const drafts = await pictures.receive(images)
    const heard = await store
      .write((tx) => hear(tx, { widget, session, content, drafts }))
      .catch((error) => pictures.discarded(drafts, error))
    const replied = (reply: MessageRow | null, status: Replied['takeover_status']): Replied => ({
      message: presentMessage(heard.message),
      reply: reply && presentMessage(reply),
      takeover_status: status,
    })
    const { takeover_status: standing } = heard.session
    if (heard.told) return { now: { ...replied(heard.told, standing), ...redirectOf(widget) } }
    if (standing === 'human') return { now: replied(null, 'human') }
    const caller = await keyOf(widget.api_key_id)
    if (!caller) {
      await store.write((tx) => rows.changeMessage(tx, heard.message.id, { failed: true }))
      throw cannotAnswer.with({ retryAfterS: 300 })
    }
    const { fence, message } = heard
    const { requestId, route } = knock
    const turn = { widget, session: heard.session, message, fence, caller, images, requestId, route }
    const ended = async (reply: MessageRow | null) => {
      if (reply) return replied(reply, standing)
      return replied(null, (await desk.chats.read(store.read, session.id)).status)
    }
    if (!order.stream) return { now: await ended(await turns.answer(turn, null)) }
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

  async function requestHuman(knock: Knock, sessionId: string, { reason }: NonNullable<HumanWanted> = {}) {
    const { widget, session } = await door.session(knock, sessionId)
    return store.write(async (tx): Promise<Standing> => {
      await desk.chats.lock(tx, subjectOf(session))
      const row = await rows.lock(tx, session.id)
      if (row?.status !== 'open') throw isClosed()
      const said = reason === undefined ? null : storable(reason)
      const { status } = await ask(tx, { widget, session: row, reason: said, message: null })
      return { session_id: session.id, takeover_status: status }
    })
  }

  async function feedback(knock: Knock, sessionId: string, { rating, comment }: Feedback): Promise<Recorded> {
    const { session } = await door.session(knock, sessionId)
    const said = comment === undefined ? null : storable(comment)
    await store.write((tx) => desk.changed(tx, session.id, { rating, comment: said }))
    return { recorded: true }
  }
}

const redirectOf = ({ intents }: WidgetRow): { redirect_url?: string } =>
  intents.action === 'redirect' && intents.url ? { redirect_url: intents.url } : {}

function unlessLeft(error: unknown): void {
  if (!(error instanceof ReaderLeft)) throw error
}
