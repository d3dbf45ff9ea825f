import { defineEvent } from '../events'
import type { UserId } from '../kernel/ids'
import type { SkillId, SubmissionId } from './schema'
import type { SubmissionStatus, Tier } from './schema-review'

/** What the outside may know of an installation (contract 14.2). */
export type InstallFacts = { skill_id: SkillId; slug: string; version: string; user_id: UserId }
export const skillInstalled = defineEvent<InstallFacts>('skill.installed')
export const skillUninstalled = defineEvent<InstallFacts>('skill.uninstalled')

/** What the outside may know of a submission. */
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
