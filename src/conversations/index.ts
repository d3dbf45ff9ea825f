/** Conversations: turns kept for a user, continued by id and read back. */
export { type ConversationService, createConversations, type PastTurn } from './service'
