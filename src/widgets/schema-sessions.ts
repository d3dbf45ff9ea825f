import { Attachment } from '../completions/schema'
import { form } from '../kernel/form'
import { defineId, type Id } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import {
  JsonObject,
  namedObject,
  nullable,
  oneOf,
  pageOf,
  type Static,
  Timestamp,
  type TSchema,
  t,
} from '../kernel/schema'
import { MessageId } from '../skills/conversations/schema'
import { WidgetId } from './schema'

export const WidgetSessionId = defineId('widget session')
export type WidgetSessionId = Id<'widget session'>

const STATUSES = ['ai', 'requested', 'human'] as const
const TakeoverStatus = oneOf(STATUSES)
const SessionStatus = oneOf(['open', 'closed'] as const)
const Operator = t.Object({ id: t.String(), name: t.String() })

export const NoteId = defineId('widget note')
export type NoteId = Id<'widget note'>
export const WidgetNote = namedObject('WidgetNote', {
  id: NoteId.schema,
  author: Operator,
  content: t.String(),
  created_at: Timestamp,
})
export type WidgetNote = Static<typeof WidgetNote>

/** Identity of a visitor. `verified` only if the owner's own server has signed it (docs/attacks.md M4). */
export const VisitorIdentity = namedObject('VisitorIdentity', {
  name: nullable(t.String()),
  email: nullable(t.String()),
  external_id: nullable(t.String()),
  verified: t.Boolean({ description: 'True if your server signed it; false if only the page sent it' }),
})
export type VisitorIdentity = Static<typeof VisitorIdentity>
const Context = t.Record(
  t.String({ pattern: '^[\\s\\S]{1,64}$' }),
  t.Union([t.String({ maxLength: 500 }), t.Number(), t.Boolean(), t.Null()]),
  {
    ...{ maxProperties: 20, additionalProperties: false },
    description: 'Details about the visit from the page, shown to operators',
  },
)
export type VisitContext = Static<typeof Context>

export const WidgetMessage = namedObject('WidgetMessage', {
  id: MessageId.schema,
  role: oneOf(['user', 'assistant', 'operator', 'system'] as const),
  content: t.String(),
  artifacts: t.Array(JsonObject),
  created_at: Timestamp,
})
export type WidgetMessage = Static<typeof WidgetMessage>

const notify = <E extends string, D extends TSchema>(event: E, data: D) => t.Object({ event: t.Literal(event), data })

/** The events for a visitor's page (docs/api.md 15.3). */
export const ChatEvent = t.Union(
  [
    t.Object({
      event: t.Literal('message'),
      id: t.Integer({ description: 'For Last-Event-ID' }),
      data: WidgetMessage,
    }),
    notify(
      'takeover',
      t.Object({
        takeover_status: TakeoverStatus,
        operator: nullable(t.Object({ name: t.String() })),
        usual_wait_s: t.Optional(t.Integer({ description: 'Usual wait for a person' })),
      }),
    ),
    notify('typing', t.Object({ role: t.String() })),
    notify('closed', t.Object({})),
  ],
  { $id: 'WidgetEvent' },
)
export type ChatEvent = Static<typeof ChatEvent>

const session = {
  session_id: WidgetSessionId.schema,
  config_id: WidgetId.schema,
  status: SessionStatus,
  takeover_status: TakeoverStatus,
  operator: nullable(Operator),
  visitor: t.Object({
    id: t.String(),
    ip_hash: t.String(),
    user_agent: nullable(t.String()),
    origin: nullable(t.String()),
    page_url: nullable(t.String()),
    identity: nullable(VisitorIdentity),
    context: nullable(JsonObject),
  }),
  message_count: t.Integer(),
  created_at: Timestamp,
  last_message_at: nullable(Timestamp),
  conversation_id: nullable(t.String({ description: 'Cost of the answers of the AI; null before the first' })),
  reason: nullable(t.String({ description: 'Why the visitor asked for a person' })),
  rating: nullable(t.Integer()),
  visitor_left_at: nullable(
    t.String({
      format: 'date-time',
      description: 'When the visitor closed the page while waiting for a person; null if they are still there',
    }),
  ),
}
export const WidgetSession = t.Object(session, { $id: 'WidgetSession' })
export type WidgetSession = Static<typeof WidgetSession>
export const WidgetSessionPage = pageOf('conversations', WidgetSession)
export const WidgetSessionQuery = t.Object({
  status: t.Optional(SessionStatus),
  takeover_status: t.Optional(TakeoverStatus),
  ...PageQuery.properties,
})
export type WidgetSessionQuery = Static<typeof WidgetSessionQuery>

const TAKEOVER_STATES = ['waiting', 'mine', 'all', 'closed'] as const
/** Filters for the conversations of all widgets. */
export const TakeoverQuery = t.Object({
  state: oneOf(TAKEOVER_STATES, { default: 'all', description: '`all` are the open ones' }),
  config_id: t.Optional(WidgetId.schema),
  q: t.Optional(t.String({ minLength: 2, maxLength: 200, description: 'Words in a message' })),
  ...PageQuery.properties,
})
export type TakeoverQuery = Static<typeof TakeoverQuery>
const Waiting = namedObject('WaitingSession', {
  ...session,
  config_name: t.String(),
  waiting_since: nullable(Timestamp),
})
export const TakeoverPage = pageOf('takeovers', Waiting)

export const After = t.Object({
  after: t.Optional(t.String({ maxLength: 64, description: 'Only messages after this one' })),
})
export type After = Static<typeof After>
export const WidgetTranscript = t.Object({
  ...session,
  messages: t.Array(WidgetMessage),
  notes: t.Array(WidgetNote, { description: 'Notes between operators; visitors never see them' }),
})
export type WidgetTranscript = Static<typeof WidgetTranscript>

export const TakeoverInput = t.Optional(
  t.Object({
    operator_name: t.Optional(t.String({ minLength: 1, maxLength: 80 })),
    message: t.Optional(t.String({ minLength: 1, maxLength: 4_000, description: 'Message to the visitor' })),
    force: t.Optional(t.Boolean({ description: 'Take it from another operator' })),
  }),
)
export type TakeoverInput = Static<typeof TakeoverInput>
export const TakenOver = t.Object({
  session_id: WidgetSessionId.schema,
  takeover_status: t.Literal('human'),
  operator: Operator,
  taken_over_at: Timestamp,
})
export type TakenOver = Static<typeof TakenOver>
export const OperatorMessage = t.Object({ content: t.String({ minLength: 1, maxLength: 4_000 }) })
export type OperatorMessage = Static<typeof OperatorMessage>
export const StoredReply = t.Object({ message: WidgetMessage })
export type StoredReply = Static<typeof StoredReply>
export const NewNote = namedObject('NewWidgetNote', { content: t.String({ minLength: 1, maxLength: 4_000 }) })
export type NewNote = Static<typeof NewNote>
export const Noted = t.Object({ note: WidgetNote })
export type Noted = Static<typeof Noted>
export const Handover = namedObject('WidgetHandover', {
  to: t.String({
    minLength: 1,
    maxLength: 254,
    description: 'E-mail address or id of a member of the team of the widget',
  }),
  note: t.Optional(t.String({ minLength: 1, maxLength: 4_000, description: 'Note for them' })),
})
export type Handover = Static<typeof Handover>
export const Drafted = t.Object({
  draft: t.String({ description: 'The draft; it is not sent' }),
  cost_cents: t.Number({ description: "Charged to the widget's key" }),
})
export type Drafted = Static<typeof Drafted>
export const TakeoverState = t.Object({ session_id: WidgetSessionId.schema, takeover_status: TakeoverStatus })
export type TakeoverState = Static<typeof TakeoverState>
export const Typed = t.Object({ typing: t.Literal(true) })
export type Typed = Static<typeof Typed>

export const NewWidgetSession = t.Optional(
  t.Object({
    visitor_id: t.Optional(
      t.String({
        pattern: form('^[\\w.:-]{1,64}$', 'at most 64 letters, digits and _ . : -'),
        description: 'Random id that the page stores',
      }),
    ),
    page_url: t.Optional(t.String({ maxLength: 2_048 })),
    turnstile_token: t.Optional(t.String({ maxLength: 4_096 })),
    preview_token: t.Optional(t.String({ maxLength: 512 })),
  }),
)
export type NewWidgetSession = Static<typeof NewWidgetSession>
export const WidgetSessionMade = t.Object({
  session_id: WidgetSessionId.schema,
  token: t.String({ description: 'Shown once; bound to this session and origin' }),
  expires_at: Timestamp,
  takeover_status: TakeoverStatus,
  visitor_id: t.String(),
  welcome_message: nullable(t.String()),
})
export type WidgetSessionMade = Static<typeof WidgetSessionMade>
export const IdentityInput = t.Optional(
  t.Object({
    name: t.Optional(t.String({ maxLength: 120 })),
    email: t.Optional(t.String({ maxLength: 254 })),
    external_id: t.Optional(t.String({ maxLength: 128, description: 'Your id for this visitor' })),
    hash: t.Optional(t.String({ maxLength: 200, description: '`<unix seconds>.<hex>`, made by your server' })),
    context: t.Optional(Context),
  }),
)
export type IdentityInput = Static<typeof IdentityInput>
export const Identified = t.Object({ session_id: WidgetSessionId.schema, verified: t.Boolean() })
export type Identified = Static<typeof Identified>
export const VisitorView = t.Object({
  session_id: WidgetSessionId.schema,
  status: SessionStatus,
  takeover_status: TakeoverStatus,
  operator: nullable(t.Object({ name: t.String() })),
  messages: t.Array(WidgetMessage),
})
export type VisitorView = Static<typeof VisitorView>
export const VisitorMessage = t.Object({
  content: t.String({ minLength: 1, maxLength: 10_000 }),
  stream: t.Optional(t.Boolean()),
  attachments: t.Optional(t.Array(Attachment, { maxItems: 3 })),
})
export type VisitorMessage = Static<typeof VisitorMessage>
export const Replied = t.Object({
  message: WidgetMessage,
  reply: nullable(WidgetMessage),
  takeover_status: TakeoverStatus,
  redirect_url: t.Optional(t.String({ description: 'Target address of the intent `redirect`' })),
})
export type Replied = Static<typeof Replied>
export const HumanWanted = t.Optional(t.Object({ reason: t.Optional(t.String({ maxLength: 500 })) }))
export type HumanWanted = Static<typeof HumanWanted>
export const Feedback = t.Object({
  rating: t.Integer({ minimum: 1, maximum: 5 }),
  comment: t.Optional(t.String({ maxLength: 2_000 })),
})
export type Feedback = Static<typeof Feedback>
export const Recorded = t.Object({ recorded: t.Literal(true) })
export type Recorded = Static<typeof Recorded>
