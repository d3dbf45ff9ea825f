import type { PlatformRole } from '../accounts/orgs/schema'
import type { OwnerScope } from '../kernel/caller'
import type { OrgId } from '../kernel/ids'
import type { SkillManifest } from './manifest'
import type { VersionId } from './schema'
import type { Decision, SubmissionStatus, Tier } from './schema-skill'
import { searchable } from './search'
import type { SkillRow } from './table'

/** The caller's identity for visibility checks: owner scope and org memberships. */
export type Viewer = { owner: OwnerScope; orgIds: readonly OrgId[] }

export const isOwn = ({ owner }: Pick<SkillRow, 'owner'>, viewer: Viewer): boolean => owner === viewer.owner

/** Owners always see their skills. Others see approved, live skills that are public or belong to their organization. */
export function maySee(row: SkillRow, viewer: Viewer): boolean {
  if (isOwn(row, viewer)) return true
  if (row.status !== 'approved' || row.live_version_id === null) return false
  if (row.visibility === 'public') return true
  return row.visibility === 'org' && row.org_scope_id !== null && viewer.orgIds.includes(row.org_scope_id)
}

/** Whether an operator removed the skill from the store. Installations keep it, and new versions remain unlisted. */
export const isDelisted = ({ visibility, status, live_version_id, listed }: SkillRow): boolean =>
  visibility === 'public' && status === 'approved' && live_version_id !== null && !listed

/** The version a viewer runs: the newest draft for the owner, else the approved one. Null if none, or if suspended. */
export function runnableVersion(row: SkillRow, viewer: Viewer): VersionId | null {
  if (row.status === 'suspended' || !maySee(row, viewer)) return null
  return isOwn(row, viewer) ? (row.draft_version_id ?? row.live_version_id) : row.live_version_id
}

/** The skill columns copied from the current version for lists and search. */
export const listColumnsOf = ({ name, slug, description, category, keywords, version }: SkillManifest) => ({
  name,
  description,
  category,
  keywords,
  version,
  search_text: searchable([name, slug.replaceAll('-', ' '), slug, description, keywords.join(' ')].join(' ')),
})

/** The state changes of docs/api.md 8.2 that each decision makes. */
export const MOVES: Record<Decision, { from: SubmissionStatus; to: SubmissionStatus }> = {
  approve: { from: 'pending_review', to: 'approved' },
  reject: { from: 'pending_review', to: 'rejected' },
  suspend: { from: 'approved', to: 'suspended' },
  reinstate: { from: 'suspended', to: 'approved' },
}

/** Whether a platform role may decide on a tier; plain reviewers may not decide on the security tier. */
export const mayDecide = (role: PlatformRole | null, tier: Tier): boolean =>
  role !== null && (tier !== 'security' || role !== 'reviewer')
