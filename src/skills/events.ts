import { defineEvent, defineInternalEvent } from '../events'
import type { Call } from '../kernel/caller'
import type { UserId } from '../kernel/ids'
import type { SkillId, SubmissionId } from './schema'
import type { SubmissionStatus, Tier } from './schema-skill'

/** Public data of installation events (docs/api.md 14.2). */
export type InstallFacts = { skill_id: SkillId; slug: string; version: string; user_id: UserId }
export const skillInstalled = defineEvent<InstallFacts>('skill.installed')
export const skillUninstalled = defineEvent<InstallFacts>('skill.uninstalled')

/** Public data of submission events. */
export type SubmissionFacts = {
  submission_id: SubmissionId
  skill_id: SkillId
  slug: string
  version: string
  status: SubmissionStatus
  review_tier: Tier
  auto_approved: boolean
  reason: string | null
}
export const skillSubmitted = defineEvent<SubmissionFacts>('skill.submitted')
export const skillApproved = defineEvent<SubmissionFacts>('skill.approved')
export const skillRejected = defineEvent<SubmissionFacts>('skill.rejected')
export const skillSuspended = defineEvent<SubmissionFacts>('skill.suspended')

/** A skill with a hook prompt was installed or removed; the prompt must be run once (docs/api.md 8.1). */
export type HookDue = {
  call: Call
  skill: { id: SkillId; slug: string }
  cause: 'install' | 'uninstall'
  prompt: string
}
export const skillHookDue = defineInternalEvent<HookDue>('skill.hook_due')
