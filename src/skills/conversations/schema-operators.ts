import { PageQuery } from '../../kernel/page'
import { deletionMembers, pageOf, type Static, Timestamp, t } from '../../kernel/schema'
import { ConversationId } from './schema'

/** A conversation as operators see it: what it is about is its owner's. */
export const OverseenConversation = t.Object(
  {
    id: ConversationId.schema,
    owner: t.String({ description: 'org:ID or user:ID' }),
    messageCount: t.Integer(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { $id: 'OverseenConversation' },
)
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
