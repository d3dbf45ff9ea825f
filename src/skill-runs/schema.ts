import { defineId, type Id } from '../kernel/ids'

export const SkillRunId = defineId('skill run')
export type SkillRunId = Id<'skill run'>

/** What set a skill going. */
export type RunCause = 'install' | 'uninstall'
/** How far it came; a skipped one was never begun. */
export type RunStatus = 'running' | 'completed' | 'failed' | 'skipped_credits' | 'skipped_cap'
