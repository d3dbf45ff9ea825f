/** Conversations: turns stored for a user, continued by id and read back; and the user's memories. */
export { createMemory, type MemoryService } from './memory/service'
export { type ConversationService, createConversations } from './service'
export { saveMemory } from './tools'
