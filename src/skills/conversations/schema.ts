import { defineId, type Id } from '../../kernel/ids'
import { PageQuery } from '../../kernel/page'
import {
  deletionMembers,
  JsonObject,
  namedObject,
  nullable,
  oneOf,
  pageOf,
  type Static,
  Timestamp,
  t,
} from '../../kernel/schema'

export const ConversationId = defineId('conversation')
export type ConversationId = Id<'conversation'>
export const MessageId = defineId('message', 'msg')
export type MessageId = Id<'message'>

const summary = {
  id: ConversationId.schema,
  title: nullable(t.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  messageCount: t.Integer(),
  lastMessage: t.Optional(t.String({ description: 'Beginning of the last message' })),
}

const ROLES = ['user', 'assistant', 'system', 'tool'] as const
export type Role = (typeof ROLES)[number]

/** A message (docs/api.md 17). Only answers have `mode` and the members after it. */
export const Message = namedObject('Message', {
  id: t.String(),
  role: oneOf(ROLES),
  content: t.String(),
  createdAt: Timestamp,
  mode: t.Optional(t.String()),
  resolvedMode: t.Optional(t.String()),
  model: t.Optional(t.Object({ id: t.String(), label: t.String(), engine: t.Optional(t.String()) })),
  tools: t.Optional(t.Array(JsonObject)),
  artifacts: t.Optional(t.Array(JsonObject)),
  followUps: t.Optional(t.Array(t.Object({ label: t.String(), prompt: t.String() }))),
  status: t.Optional(t.String()),
  errorMessage: t.Optional(t.String()),
  costCents: t.Optional(t.Number()),
})
export type Message = Static<typeof Message>

export const ConversationSummary = t.Object(summary, { $id: 'ConversationSummary' })
export type ConversationSummary = Static<typeof ConversationSummary>

export const Conversation = namedObject('Conversation', { ...summary, messages: t.Array(Message) })
export type Conversation = Static<typeof Conversation>

export const ConversationPage = pageOf('conversations', ConversationSummary)
export type ConversationPage = Static<typeof ConversationPage>
/** A conversation in the format of the OpenAI Conversations API (docs/api.md 29.8). */
const notedMembers = {
  id: ConversationId.schema,
  object: t.Literal('conversation'),
  created_at: t.Integer({ description: 'Unix time in seconds' }),
  metadata: t.Record(t.String(), t.String(), { description: 'What the client noted' }),
}
export const NotedConversation = t.Object(notedMembers, { $id: 'NotedConversation' })
export type NotedConversation = Static<typeof NotedConversation>

export const ConversationReply = t.Object({ ...notedMembers, conversation: Conversation })
export const ConversationSummaryReply = t.Object({ conversation: ConversationSummary })
export const ConversationDeleted = t.Object({
  id: ConversationId.schema,
  object: t.Literal('conversation.deleted'),
  deleted: t.Literal(true),
})
export type ConversationDeleted = Static<typeof ConversationDeleted>
export const Deleted = t.Object({ deleted: t.Literal(true) })

export const ConversationQuery = t.Object({
  ...PageQuery.properties,
  q: t.Optional(t.String({ maxLength: 200, description: 'Words to find in the title or the last message' })),
  since: t.Optional(t.String({ format: 'date-time', description: 'Only those updated since' })),
})
export type ConversationQuery = Static<typeof ConversationQuery>

export const RenameConversation = t.Object({ title: t.String({ minLength: 1, maxLength: 200 }) })
export type RenameConversation = Static<typeof RenameConversation>

export const MemoryId = defineId('memory')
export type MemoryId = Id<'memory'>

/** Who stored the memory: an API call, or an engine through `save_memory`. */
const MEMORY_SOURCES = ['api', 'assistant'] as const
export type MemorySource = (typeof MEMORY_SOURCES)[number]

export const Memory = namedObject('Memory', {
  id: MemoryId.schema,
  content: t.String(),
  source: oneOf(MEMORY_SOURCES),
  createdAt: Timestamp,
})
export type Memory = Static<typeof Memory>

export const MemoryPage = pageOf('memories', Memory)
export const MemoryReply = t.Object({ memory: Memory })
export const MAX_MEMORY_CHARS = 1_000
export const NewMemory = t.Object({ content: t.String({ minLength: 1, maxLength: MAX_MEMORY_CHARS }) })
export type NewMemory = Static<typeof NewMemory>

/** A turn as the pipeline stores it: the prompt, and the answer with its mode, model, tools and cost. */
export type Turn = {
  prompt: string
  answer: string
  mode: string
  resolvedMode: string
  model: { id: string; label: string; engine: string }
  tools: Record<string, unknown>[]
  artifacts: Record<string, unknown>[]
  followUps: { label: string; prompt: string }[]
  costMicro: number
  status: 'complete' | 'interrupted'
}

/** A conversation as operators see it, without the title and messages of its owner. */
export const OverseenConversation = namedObject('OverseenConversation', {
  id: ConversationId.schema,
  owner: t.String({ description: 'org:ID or user:ID' }),
  messageCount: t.Integer(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type OverseenConversation = Static<typeof OverseenConversation>

export const OverseenReply = t.Object({ conversation: OverseenConversation })
export const OverseenPage = pageOf('conversations', OverseenConversation)
export type OverseenPage = Static<typeof OverseenPage>

export const OverseenQuery = t.Object({
  ...PageQuery.properties,
  key: t.Optional(t.String({ maxLength: 200, description: 'Those that this key adds to: its organization or person' })),
  since: t.Optional(t.String({ format: 'date-time', description: 'Only those updated since' })),
})
export type OverseenQuery = Static<typeof OverseenQuery>

export const ConversationPurge = t.Object({
  owner: t.String({ description: 'The organization or user whose conversations go' }),
  ...deletionMembers('Only those last updated before'),
})
export type ConversationPurge = Static<typeof ConversationPurge>

export const ConversationsPurged = t.Object({
  object: t.Literal('conversation_purge'),
  conversations: t.Integer(),
})
export type ConversationsPurged = Static<typeof ConversationsPurged>
