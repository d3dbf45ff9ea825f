import { type OwnerScope, ownerOf, type TenantCaller } from '../kernel/caller'
import type { OrgId } from '../kernel/ids'
import type { PlatformRole } from '../orgs/schema'
import type { SkillManifest } from './manifest'
import type { VersionId, Visibility } from './schema'
import type { Decision, SubmissionStatus, Tier } from './schema-review'
import { searchable } from './search'
import type { SkillRow } from './table'

/** A caller as skills see one: whose things they have, and whose members they are. */
export type Viewer = { owner: OwnerScope; orgIds: readonly OrgId[] }

export const isOwn = ({ owner }: Pick<SkillRow, 'owner'>, viewer: Viewer): boolean => owner === viewer.owner

/** Who sees a skill: its owner always; once approved, everyone or the members of its org. A suspended one nobody else. */
export function maySee(row: SkillRow, viewer: Viewer): boolean {
  if (isOwn(row, viewer)) return true
  if (row.status !== 'approved' || row.live_version_id === null) return false
  if (row.visibility === 'public') return true
  return row.visibility === 'org' && row.org_scope_id !== null && viewer.orgIds.includes(row.org_scope_id)
}

/** An operator took it off the store: those who have it keep it, and a new version does not bring it back. */
export const isDelisted = ({ visibility, status, live_version_id, listed }: SkillRow): boolean =>
  visibility === 'public' && status === 'approved' && live_version_id !== null && !listed

/** The version a viewer runs: the approved one; its owner, the newest that may be tried. Null: none. */
export function runnableVersion(row: SkillRow, viewer: Viewer): VersionId | null {
  if (row.status === 'suspended' || !maySee(row, viewer)) return null
  return isOwn(row, viewer) ? (row.draft_version_id ?? row.live_version_id) : row.live_version_id
}

/** What lists and search read of a version, taken over by the skill when the version counts. */
export const facesOf = ({ name, slug, description, category, keywords, version }: SkillManifest) => ({
  name,
  description,
  category,
  keywords,
  version,
  search_text: searchable([name, slug.replaceAll('-', ' '), slug, description, keywords.join(' ')].join(' ')),
})

/** The moves of contract 8.2 that a decision makes. */
export const MOVES: Record<Decision, { from: SubmissionStatus; to: SubmissionStatus }> = {
  approve: { from: 'pending_review', to: 'approved' },
  reject: { from: 'pending_review', to: 'rejected' },
  suspend: { from: 'approved', to: 'suspended' },
  reinstate: { from: 'suspended', to: 'approved' },
}

/** Whether a platform role decides on submissions of a tier; the security tier needs more than a reviewer. */
export const mayDecide = (role: PlatformRole | null, tier: Tier): boolean =>
  role !== null && (tier !== 'security' || role !== 'reviewer')

export const isListed = (visibility: Visibility): boolean => visibility === 'public'

/** Whether the caller acts for the org of an org's key, where a role decides what they may do. */
export const orgOf = (caller: TenantCaller): OrgId | null => caller.orgId

export { ownerOf }
