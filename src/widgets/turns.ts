import { type CompletionRequest, DEFAULT_ITERATIONS, type Progress } from '../completions'
import type { Mode } from '../completions/schema'
import { storeAnswer } from '../idempotency'
import { type Call, type Caller, type KeyCaller, ownerOf } from '../kernel/caller'
import { AppError } from '../kernel/errors'
import { centsToMicro, microToCents } from '../kernel/money'
import type { Tx } from '../kernel/store'
import type { ConversationService } from '../skills'
import { ConversationId } from '../skills/conversations/schema'
import type { Deps } from './deps'
import { cannotAnswer, nothingRequested } from './errors'
import { isForVisitors, personaOf } from './groups'
import { sessionRepository as rows } from './repository'
import type { Drafted } from './schema-sessions'
import type { MessageRow, SessionRow, WidgetRow } from './table'
import { CHAT, markChat, subjectOf, writeMessage } from './transcript'

type Image = CompletionRequest['images'][number]['attachment']
export type Turn = {
  widget: WidgetRow
  session: SessionRow
  message: MessageRow
  /** Of the takeover when the message came: an answer under an older one is never shown. */
  fence: number
  caller: KeyCaller
  images: readonly Image[]
  requestId: string
  route: string
}
type About = Pick<Turn, 'widget' | 'session' | 'message' | 'images'>
type Show = (progress: Progress) => void | Promise<void>
type Alongside = NonNullable<CompletionRequest['alongside']>

/** Messages that an answer sees: 20 turns (contract 22.6). */
const HISTORY = 40
/** The most that one answer to a visitor may cost. */
const MAX_MICRO = centsToMicro(100)

/** A person has taken over, or the chat has ended, while the AI was answering. */
class Superseded extends Error {
  override name = 'Superseded'
}

/**
 * The stored answer, or null when a person took over before it was done: then it is stopped, charged to nobody and not
 * shown (I36). `show` makes it a stream. Throws what completions throw; the message is then marked as not answered.
 */
export async function answerTurn(deps: Deps, turn: Turn, show: Show | null): Promise<MessageRow | null> {
  const { live, limiter, stopping, completions, store } = deps
  const stop = new AbortController()
  const unhear = live.hear(CHAT, turn.session.id, (heard) => {
    if (heard?.what === 'closed' || heard?.status === 'human') stop.abort(new Superseded())
  })
  let reply: MessageRow | null = null
  const alongside: Alongside = async (tx, run, { content, artifacts, resolvedMode, ...message }, broken) => {
    const session = await stillOurs(deps, tx, turn)
    const tools = message.toolsUsed.map(({ name, status, description }) => ({ toolName: name, status, description }))
    const about = { mode: run.request.mode, resolvedMode, model: message.model, tools, artifacts }
    const status = broken === undefined ? ('complete' as const) : ('interrupted' as const)
    const rest = { followUps: message.followUps, costMicro: run.costMicro, status }
    const stored = await keepTurn(deps, tx, turn, session, {
      prompt: turn.message.content,
      answer: content,
      ...about,
      ...rest,
    })
    const more = { cost_micro: session.cost_micro + run.costMicro, conversation_id: stored }
    // A visitor is shown no empty answer.
    if (broken !== undefined && content === '') {
      await markChat(deps, tx, session.id, more)
      return
    }
    const written = await writeMessage(deps, tx, session, { role: 'assistant', content, artifacts }, more)
    reply = written.message
  }
  try {
    await limiter.admitRequest(turn.caller)
    const signal = AbortSignal.any([stop.signal, stopping])
    const call: Call = { caller: turn.caller, requestId: turn.requestId, route: turn.route, signal }
    const request = await requestOf(deps, call, turn, alongside)
    if (show) await completions.pipeline.stream(call, request, show)
    else await completions.pipeline.complete(call, request)
    return reply
  } catch (error) {
    if (error instanceof Superseded || stop.signal.aborted) return null
    await store.write((tx) => rows.changeMessage(tx, turn.message.id, { failed: true }))
    // What concerns the widget's owner and not its visitors: credit, the key, its rights.
    throw error instanceof AppError && ['unpaid', 'forbidden', 'unauthenticated'].includes(error.kind)
      ? cannotAnswer.with({ retryAfterS: 30, cause: error })
      : error
  } finally {
    unhear()
  }
}

/** What the AI would say now, to a person of the widget: nothing of it is kept in the chat. Throws 409, and as `answer`. */
export async function draftAnswer(
  deps: Deps,
  by: Call<Caller>,
  widget: WidgetRow,
  session: SessionRow,
): Promise<Drafted> {
  const { store, keyOf, limiter, stopping, completions } = deps
  const messages = await rows.last(store.read, session.id, HISTORY + 1)
  const message = messages.find(({ role }) => role === 'user')
  if (!message) throw nothingRequested()
  const caller = await keyOf(widget.api_key_id)
  if (!caller) throw cannotAnswer.with({ retryAfterS: 300 })
  await limiter.admitRequest(caller)
  const call: Call = { ...by, caller, once: undefined, signal: AbortSignal.any([by.signal, stopping]) }
  let drafted: Drafted | null = null
  const alongside: Alongside = async (tx, run, { content }) => {
    drafted = { draft: content, cost_cents: microToCents(run.costMicro) }
    await storeAnswer(tx, by, drafted)
  }
  await completions.pipeline.complete(
    call,
    await requestOf(deps, call, { widget, session, message, images: [] }, alongside),
  )
  return drafted!
}

/** Throws unless the AI still has it, as when the message came. Locks it until the answer is stored. */
async function stillOurs({ chats }: Deps, tx: Tx, { session, fence: fencingToken }: Turn): Promise<SessionRow> {
  const now = await chats.lock(tx, subjectOf(session))
  if (now.status === 'human' || now.fence !== fencingToken) throw new Superseded()
  const row = await rows.lock(tx, session.id)
  if (row?.status !== 'open') throw new Superseded()
  return row
}

/** The owner reads the AI's turns among their conversations, too. */
async function keepTurn(
  { conversations }: Deps,
  tx: Tx,
  { caller }: Turn,
  { conversation_id: id }: SessionRow,
  turn: Parameters<ConversationService['start']>[3],
): Promise<string> {
  if (id !== null) return conversations.append(tx, ownerOf(caller), id as ConversationId, turn)
  return conversations.start(tx, ownerOf(caller), ConversationId.create(), turn)
}

async function requestOf(
  { store, skills }: Deps,
  call: Call,
  { widget, session, message, images }: About,
  alongside: Alongside,
) {
  const { behavior } = widget
  const before = (await rows.last(store.read, session.id, HISTORY + 1))
    .filter(({ seq, role }) => seq < message.seq && role !== 'system')
    .reverse()
  return {
    prompt: message.content,
    mode: (isForVisitors(behavior.mode) ? behavior.mode : 'auto') as Mode,
    engine: null,
    overrides: {},
    voice: {
      persona: personaOf(behavior.persona),
      personality: null,
      style: null,
      branding: false,
      componentLibrary: 'svc',
    },
    usesSoul: true,
    context: before.map(({ role, content }) => ({ role: role === 'user' ? 'user' : 'assistant', content })),
    after: [],
    images: images.map((attachment, at) => ({ attachment, path: `attachments[${at}].data`, turn: null })),
    temperature: undefined,
    // Strangers reach no memories, tools and jobs of the owner, and no skills that the widget does not name.
    sealed: true,
    forVisitors: true,
    active: await skills.onlyNamed(call, { slugs: behavior.skills, prompt: message.content }),
    skills: [],
    tools: [],
    conversation: 'none',
    bounds: { costMicro: MAX_MICRO, toolCalls: 20 },
    maxIterations: DEFAULT_ITERATIONS,
    functions: null,
    json: false,
    checkJson: null,
    metadata: { channel: 'widget', widget_id: widget.id, session_id: session.id },
    cache: 'off',
    wantsFollowUps: false,
    shape: null,
    warnings: [],
    present: () => ({}),
    alongside,
  } satisfies CompletionRequest as CompletionRequest
}
