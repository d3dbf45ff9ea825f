import { nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'
import { BrowserSessionId } from './schema'

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

/** What was done in a session (contract 28.3). */
export const Recording = t.Object(
  {
    session_id: BrowserSessionId.schema,
    started_at: Timestamp,
    ended_at: nullable(Timestamp),
    actions: t.Array(RecordedAction),
    player_url: t.String(),
  },
  { $id: 'BrowserRecording' },
)
export type Recording = Static<typeof Recording>
