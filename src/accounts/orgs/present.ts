import type { Caller, TenantCaller } from '../../kernel/caller'
import { iso, isoOrNull } from '../../kernel/clock'
import type { Reader } from '../../kernel/store'
import { type OrgAndRole, orgForCaller } from './access'
import { type MemberWithAccount, orgRepository as rows } from './repository'
import { mayDo } from './rules'
import type { Member, OperatorOrg, Org, Role } from './schema'

/** Orgs as the caller sees them: members see their role, operators the operator-only fields. */
export async function presentAll(
  reader: Reader,
  by: Caller['type'],
  found: readonly OrgAndRole[],
): Promise<(Org | OperatorOrg)[]> {
  const isOperator = by === 'operator'
  const ids = found.map(({ org }) => org.id)
  const counts = await rows.memberCounts(reader, ids)
  return found.map(({ org, role }) => ({
    id: org.id,
    object: 'organization',
    name: org.name,
    slug: org.slug,
    type: org.type,
    ...(isOperator ? {} : { role }),
    member_count: counts.get(org.id) ?? 0,
    ...(isOperator
      ? {
          plan_note: org.plan_note,
          suspended_at: isoOrNull(org.suspended_at),
          deleted_at: isoOrNull(org.deleted_at),
        }
      : {}),
    created: iso(org.created_at),
    updated: iso(org.updated_at),
  })) as (Org | OperatorOrg)[]
}

/** The org as one of its members sees it. Throws 404. */
export async function view(reader: Reader, caller: TenantCaller, id: string): Promise<Org> {
  const [org] = await presentAll(reader, caller.type, [await orgForCaller(reader, caller, id)])
  return org as Org
}

/** A member. Only callers with `manageMembers` see when they were last seen, and how many keys they have. */
export const presentMember = (
  { user_id, name, email, role, joined_at, last_seen_at, active_keys }: MemberWithAccount,
  caller: Role,
): Member => {
  const seesActivity = mayDo(caller, 'manageMembers')
  return {
    user_id,
    name,
    email,
    role,
    joined_at: iso(joined_at),
    last_seen_at: seesActivity ? isoOrNull(last_seen_at) : null,
    active_keys: seesActivity ? active_keys : null,
  }
}
