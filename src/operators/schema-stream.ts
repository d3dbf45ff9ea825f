import type { OperatorRole } from '../kernel/caller'
import { JsonObject, oneOf, type Static, Timestamp, t } from '../kernel/schema'

const TOPICS = [
  'overview',
  'jobs',
  'deliveries',
  'takeovers',
  'submissions',
  'browser',
  'keys',
  'audit',
  'logs',
] as const
export type TopicName = (typeof TOPICS)[number]

/** The members of a topic with texts written by people, or links. `role` may see them besides `support`. */
export const TOPIC_WORDS: Record<TopicName, { members: readonly string[]; role?: OperatorRole }> = {
  overview: { members: [] },
  jobs: { members: ['text', 'asked', 'error'] },
  deliveries: { members: ['url', 'description'] },
  takeovers: { members: ['said', 'reason', 'page_url', 'user_agent', 'words'] },
  submissions: { members: ['reason'], role: 'reviewer' },
  browser: { members: ['url', 'title', 'wanted'] },
  keys: { members: ['why'], role: 'billing' },
  audit: { members: ['metadata'] },
  logs: { members: [] },
}

const Topic = oneOf(TOPICS)

export const StreamQuery = t.Object({
  topics: t.Union([Topic, t.Array(Topic, { minItems: 1, maxItems: 20 })], {
    description: 'Topics, separated by commas',
  }),
  most: t.Optional(
    t.Integer({
      minimum: 200,
      maximum: 2_000,
      description: 'Number of rows of jobs, deliveries, keys, audit and logs; default 200',
    }),
  ),
})
export type StreamQuery = Static<typeof StreamQuery>

/** The current state of a topic. Rows have ids. */
const TopicSnapshot = t.Object({
  topic: Topic,
  facts: JsonObject,
  rows: t.Array(JsonObject),
  at: Timestamp,
})
/** Answer of `GET /ops/v1/snapshot`. */
export const Snapshots = t.Object({ topics: t.Array(TopicSnapshot) })
export type Snapshots = Static<typeof Snapshots>

/**
 * Events of `GET /ops/v1/stream`. `seq` increases by one with each event of a topic, so a gap means a missed event.
 * `order` lists the ids of all rows. When any fact has changed, `facts` contains all of them.
 */
export type StreamEvent =
  /** The first event: who the reader is, and the holder id that marks chats as theirs. */
  | { type: 'hello'; operator: string; role: string; version: string; holder: string }
  | ({ type: 'snapshot'; seq: number } & Static<typeof TopicSnapshot>)
  | {
      type: 'delta'
      seq: number
      topic: TopicName
      facts?: Record<string, unknown>
      changed: readonly Record<string, unknown>[]
      order?: readonly string[]
      at: string
    }
  /** One source does not respond. The others continue. */
  | { type: 'failed'; seq: number; topic: TopicName; message: string; at: string }
