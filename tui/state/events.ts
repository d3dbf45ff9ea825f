import type { StreamEvent, TopicName } from '../../src/operators/schema'
import type { Screen } from './model'

/** What may happen to the model. */
export type Event =
  | { type: 'key'; key: string; text: string }
  | { type: 'pasted'; text: string }
  | { type: 'ticked'; now: number }
  | { type: 'resized'; columns: number; rows: number }
  | { type: 'streamed'; events: readonly StreamEvent[] }
  | { type: 'polled'; topics: readonly { topic: TopicName; facts: object; rows: object[]; at: string }[] }
  | { type: 'linked'; state: 'live' | 'polling' }
  | { type: 'lost'; problem: string; tries: number; nextTryAt: number }
  | { type: 'read'; name: string; value: unknown; problem: string | null }
  | { type: 'ran'; argv: readonly string[]; exitCode: number; out: string; err: string; as: RunAs }
  | { type: 'said'; text: string }
  | { type: 'went'; screen: Screen }

/** What becomes of a command's output. */
type RunAs = 'shown' | 'told' | 'secret' | 'reply' | 'draft'

/** What the program does after a change of the model. */
export type Effect =
  | { type: 'quit' }
  | { type: 'suspend' }
  | { type: 'reconnect' }
  | { type: 'copy'; text: string }
  | { type: 'bell' }
  | { type: 'read'; name: string; path: string }
  /** As `read`, for the row on which the cursor comes to rest. */
  | { type: 'look'; path: string }
  | { type: 'run'; argv: readonly string[]; as: RunAs; write: boolean }
  | { type: 'save'; text: string }
  | { type: 'profile'; name: string }
