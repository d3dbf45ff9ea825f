/** Skills with their review, and the conversations and memories they run in. */
export { createMemory, type MemoryService, saveMemory } from './conversations/memory'
export { type ConversationService, createConversations, type NewMessage } from './conversations/service'
export { conversationRepository, type MessageAbout, type MessageRow } from './conversations/table'
export { skillHookDue } from './events'
export { pruneManifest, type SkillManifest, storedTool, warningsOf, withDefaults } from './manifest'
export { type Activation, NO_SKILLS, quotesOf } from './runtime'
export { createSkills, type SkillService } from './service'
export { SCHEDULE_JOB, type ScheduleDue, type Triggered } from './service/triggers'
