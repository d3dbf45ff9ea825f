import type { OwnerScope } from '../../kernel/caller'
import { defineTable, type Row } from '../../kernel/store'
import type { ConversationId, MemoryId, MemorySource, MessageId, Role } from './schema'

export const conversations = defineTable((k) =>
  k.table(
    'conversations',
    {
      id: k.text('id').$type<ConversationId>().primaryKey(),
      owner: k.text('owner').$type<OwnerScope>().notNull(),
      title: k.text('title'),
      last_message: k.text('last_message'),
      message_count: k.int('message_count').notNull().default(0),
      created_at: k.ms('created_at').notNull(),
      updated_at: k.ms('updated_at').notNull(),
    },
    (t) => [k.index('conversations_by_owner').on(t.owner, t.updated_at, t.id)],
  ),
)
export type ConversationRow = Row<typeof conversations>

/** What only answers have: mode, model, tools, artifacts, follow-ups, cost. */
export type MessageAbout = {
  mode: string
  resolvedMode: string
  model: { id: string; label: string; engine: string }
  tools: Record<string, unknown>[]
  artifacts: Record<string, unknown>[]
  followUps: { label: string; prompt: string }[]
  costMicro: number
  status: string
}

export const messages = defineTable((k) =>
  k.table(
    'messages',
    {
      id: k.text('id').$type<MessageId>().primaryKey(),
      conversation_id: k.text('conversation_id').$type<ConversationId>().notNull(),
      seq: k.int('seq').notNull(),
      role: k.text('role').$type<Role>().notNull(),
      content: k.text('content').notNull(),
      about: k.json<MessageAbout | null>('about'),
      created_at: k.ms('created_at').notNull(),
    },
    (t) => [k.uniqueIndex('messages_by_conversation').on(t.conversation_id, t.seq)],
  ),
)
export type MessageRow = Row<typeof messages>

/** Memories of a user or an org, whichever channel stored them (contract 22.6). */
export const memories = defineTable((k) =>
  k.table(
    'memories',
    {
      id: k.text('id').$type<MemoryId>().primaryKey(),
      owner: k.text('owner').$type<OwnerScope>().notNull(),
      content: k.text('content').notNull(),
      source: k.text('source').$type<MemorySource>().notNull(),
      created_at: k.ms('created_at').notNull(),
    },
    (t) => [k.index('memories_by_owner').on(t.owner, t.created_at, t.id)],
  ),
)
export type MemoryRow = Row<typeof memories>
