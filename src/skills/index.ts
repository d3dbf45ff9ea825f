/** Skills: manifests, their review and publication, installing them, and what is active in a run. */
export { skillSettings } from './config'
export { reviewFailed } from './errors'
export {
  type HookDue,
  type InstallFacts,
  type SubmissionFacts,
  skillApproved,
  skillHookDue,
  skillInstalled,
  skillRejected,
  skillSubmitted,
  skillSuspended,
  skillUninstalled,
} from './events'
export { keptMembers, warningsOf } from './kept'
export { Manifest, type SkillManifest, withDefaults } from './manifest'
export { type Activation, NO_SKILLS } from './runtime/active'
export { quotesOf } from './runtime/knowledge'
export { createSkills, type SkillService } from './service'
export type { Outcome } from './service/submit'
