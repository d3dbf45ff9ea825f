/** Skill runs: skills that run by themselves, for an event, a schedule or an installation, and within limits. */

export { registerPrompts } from './prompts'
export { MOST_FAILURES } from './rules'
export { createSkillRuns, type NewRun, type SkillRuns } from './service'
export type { SkillRunRow } from './table'
export { eventPrompt, registerTriggers } from './triggers'
