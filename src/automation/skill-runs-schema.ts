import { defineId, type Id } from '../kernel/ids'

export const SkillRunId = defineId('skill run')
export type SkillRunId = Id<'skill run'>

/** What caused a run: a prompt of its manifest, a hook of `/hooks`, or its own trigger. */
export type RunCause = 'install' | 'uninstall' | 'hook' | 'event' | 'schedule'
/** State of a run; a skipped run never began. */
export const RUN_STATUSES = [
  'running',
  'completed',
  'failed',
  'skipped_cooldown',
  'skipped_credits',
  'skipped_cap',
] as const
export type RunStatus = (typeof RUN_STATUSES)[number]
