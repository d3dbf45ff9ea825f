/** Skills: manifests, their review and publication, installing them, and what is active in a run. */

export { skillHookDue } from './events'
export { keptMembers, keptTool, warningsOf } from './kept'
export { type SkillManifest, withDefaults } from './manifest'
export { type Activation, NO_SKILLS } from './runtime/compose'
export { quotesOf } from './runtime/knowledge'
export { createSkills, type SkillService } from './service'
export { SCHEDULE_JOB, type ScheduleDue, type Triggered } from './service/triggers'
