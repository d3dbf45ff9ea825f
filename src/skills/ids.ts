import { defineId, type Id } from '../kernel/ids'

export const SkillId = defineId('skill')
export type SkillId = Id<'skill'>
export const VersionId = defineId('skill version')
export type VersionId = Id<'skill version'>
export const SubmissionId = defineId('submission')
export type SubmissionId = Id<'submission'>
export const InstallationId = defineId('installation')
export type InstallationId = Id<'installation'>
export const SkillReviewId = defineId('skill review')
export type SkillReviewId = Id<'skill review'>

export const VISIBILITIES = ['private', 'org', 'public'] as const
export type Visibility = (typeof VISIBILITIES)[number]
