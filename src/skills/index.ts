/** Skills with their review, and the conversations and memories they run in. */
export { createMemory, type MemoryService, saveMemory } from './conversations/memory'
export { type ConversationService, conversationRepository, createConversations } from './conversations/service'
export { skillHookDue } from './events'
export { type SkillManifest, storedMembers, storedTool, warningsOf, withDefaults } from './manifest'
export { type Activation, NO_SKILLS, quotesOf } from './runtime'
export { createSkills, type SkillService } from './service'
export { SCHEDULE_JOB, type ScheduleDue, type Triggered } from './service/triggers'
