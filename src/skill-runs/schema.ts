import { defineId, type Id } from '../kernel/ids'

export const SkillRunId = defineId('skill run')
export type SkillRunId = Id<'skill run'>

/** The hook that caused a run. */
export type RunCause = 'install' | 'uninstall'
/** State of a run; a skipped run never began. */
export type RunStatus = 'running' | 'completed' | 'failed' | 'skipped_credits' | 'skipped_cap'
