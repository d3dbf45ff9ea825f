/** Conversations: turns kept for a user, continued by id and read back; and what a user wants remembered. */
export { createMemory, type MemoryService } from './memory/service'
export { type ConversationService, createConversations, type PastTurn } from './service'
export { saveMemory } from './tools'
