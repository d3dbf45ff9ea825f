/** Hooks: a pattern of events, and the skill that runs for them, within a cooldown and limits (contract 11.1). */
export { createHooks } from './service'
