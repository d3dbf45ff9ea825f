import { defineId } from '../kernel/ids'
import { JsonObject, namedObject, nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'

export const BrowserSessionId = defineId('browser session', 'bb_sess')
export type BrowserSessionId = Static<typeof BrowserSessionId.schema>

export type SessionState = 'active' | 'ended'
/**
 * Why a session ended: by call, cap, idle time or credit, because its key or user lost access, or because its browser
 * or its server went away.
 */
const END_REASONS = ['call', 'cap', 'idle', 'credits', 'access', 'browser', 'lost', 'shutdown'] as const
export type EndReason = (typeof END_REASONS)[number]

const BROWSER_TOOLS = [
  'browser_navigate',
  'browser_act',
  'browser_extract',
  'browser_observe',
  'browser_screenshot',
] as const
export type BrowserTool = (typeof BROWSER_TOOLS)[number]

export const NewSession = namedObject('NewBrowserSession', {
  url: t.Optional(nullable(t.String({ description: 'Public http or https address to open first' }))),
  keep_alive: t.Optional(t.Boolean({ default: false, description: 'Do not end the session when it is idle' })),
  proxies: t.Optional(t.Boolean({ default: false, description: 'Use the proxy of the server; charged per MB' })),
  region: t.Optional(t.String({ maxLength: 64, default: 'us-west-2' })),
  record: t.Optional(t.Boolean({ default: true, description: 'Record the steps, to view them afterwards' })),
})
export type NewSession = Static<typeof NewSession>

const handle = {
  session_id: BrowserSessionId.schema,
  live_view_url: nullable(t.String({ description: 'The read-only live view; null once the session has ended' })),
  live_view_version: t.Integer({
    minimum: 1,
    description: 'Increases with each new target; use it as the key of the frame',
  }),
  embed_url: nullable(
    t.String({ description: 'The live view, for an iframe; anyone with this address can take control' }),
  ),
  embed_token_expires_at: Timestamp,
  region: t.String(),
  keep_alive: t.Boolean(),
  started_at: Timestamp,
  expires_at: Timestamp,
}

export const SessionHandle = t.Object(handle, { $id: 'BrowserSessionHandle' })
export type SessionHandle = Static<typeof SessionHandle>

export const SessionSnapshot = namedObject('BrowserSession', {
  object: t.Literal('browser_session'),
  ...handle,
  current_url: nullable(t.String()),
  current_title: nullable(t.String()),
  favicon_url: nullable(t.String()),
  last_active_at: Timestamp,
  proxies: t.Boolean(),
  status: oneOf(['active', 'ended'] as const),
  ended_reason: nullable(oneOf(END_REASONS)),
})
export type SessionSnapshot = Static<typeof SessionSnapshot>

export const SessionList = t.Object({ sessions: t.Array(SessionSnapshot) })

const LivePage = t.Object({ id: t.String(), url: t.String(), title: t.String(), favicon_url: nullable(t.String()) })

export const LiveView = namedObject('BrowserLiveView', {
  session_id: BrowserSessionId.schema,
  live_view_url: nullable(t.String()),
  live_view_version: t.Integer({ minimum: 1 }),
  pages: t.Array(LivePage),
})
export type LiveView = Static<typeof LiveView>

export const SessionEnd = namedObject('BrowserSessionEnd', {
  session_id: BrowserSessionId.schema,
  duration_seconds: t.Integer(),
  proxy_bytes: t.Integer(),
  cost_cents: t.Number(),
})
export type SessionEnd = Static<typeof SessionEnd>

export const ActionInput = namedObject('BrowserActionOrder', {
  tool: oneOf(BROWSER_TOOLS),
  arguments: t.Optional(JsonObject),
})
export type ActionInput = Static<typeof ActionInput>

export const ActionResult = namedObject('BrowserActionResult', {
  session_id: BrowserSessionId.schema,
  tool: oneOf(BROWSER_TOOLS),
  status: oneOf(['success', 'error'] as const),
  result: t.Unknown({ description: 'Result of the tool; after an error `{message}`' }),
  live_view_version: t.Integer({ minimum: 1 }),
  cost_cents: t.Number({ description: 'Cost of the engine that was asked; the time is charged with the session' }),
})
export type ActionResult = Static<typeof ActionResult>

/** `force=1` requests a fresh live view. */
export const ForceQuery = t.Object({ force: t.Optional(t.String({ maxLength: 8 })) })

const ACTORS = ['agent', 'person', 'api'] as const
export type Actor = (typeof ACTORS)[number]

const RecordedAction = t.Object({
  at: Timestamp,
  by: oneOf(ACTORS),
  tool: t.String(),
  input: t.String(),
  target: nullable(t.Object({ role: t.String(), name: t.String() })),
  ok: t.Boolean(),
  result: t.String(),
  url: t.String(),
  frame_url: nullable(t.String()),
})

/** The recorded actions of a session (docs/api.md 28.3). */
export const Recording = namedObject('BrowserRecording', {
  session_id: BrowserSessionId.schema,
  started_at: Timestamp,
  ended_at: nullable(Timestamp),
  actions: t.Array(RecordedAction),
  player_url: t.String(),
})
export type Recording = Static<typeof Recording>

/** A session as operators see it. Its links are null, because operators must request one, which is recorded. */
export const OverseenSession = t.Object({
  ...SessionSnapshot.properties,
  owner: t.String(),
  user_id: t.String(),
  api_key_id: nullable(t.String()),
  node: t.String({ description: 'The process that runs its browser' }),
  viewers: t.Integer({ minimum: 0, description: 'Number of viewers' }),
})
export type OverseenSession = Static<typeof OverseenSession>

export const OverseenList = t.Object({ sessions: t.Array(OverseenSession) })
export type OverseenList = Static<typeof OverseenList>

export const LinkInput = t.Object({
  control: t.Optional(t.Boolean({ default: false })),
  ttl_seconds: t.Optional(t.Integer({ minimum: 60, maximum: 3_600, default: 3_600 })),
})
export type LinkInput = Static<typeof LinkInput>

export const SessionLink = t.Object({
  session_id: BrowserSessionId.schema,
  url: t.String(),
  rights: oneOf(['view', 'control'] as const),
  expires_at: Timestamp,
})
export type SessionLink = Static<typeof SessionLink>
