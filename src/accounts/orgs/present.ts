import { iso } from '../../kernel/clock'
import type { MemberWithAccount } from './member-rows'
import { invitationStatus } from './rules'
import type { Invitation, Member, Org, Role } from './schema'
import type { InvitationRow, OrgRow } from './table'

/** An org as one of its members sees it. */
export const presentOrg = (org: OrgRow, role: Role, memberCount: number): Org => ({
  id: org.id,
  object: 'organization',
  name: org.name,
  slug: org.slug,
  type: org.type,
  role,
  member_count: memberCount,
  created: iso(org.created_at),
  updated: iso(org.updated_at),
})

export const presentMember = ({ user_id, name, email, role, joined_at }: MemberWithAccount): Member => ({
  user_id,
  name,
  email,
  role,
  joined_at: iso(joined_at),
})

export const presentInvitation = (row: InvitationRow, now: number): Invitation => ({
  id: row.id,
  email: row.email,
  role: row.role,
  status: invitationStatus(row, now),
  expires_at: iso(row.expires_at),
})
