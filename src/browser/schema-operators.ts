import { nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'
import { BrowserSessionId, SessionSnapshot } from './schema'

/** A session as operators see it. Its links are null: they ask for one, and that is recorded. */
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
