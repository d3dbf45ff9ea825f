import { type Call, type Caller, type OwnerScope, ownerOf, type TenantCaller } from '../kernel/caller'
import type { OrgId, UserId } from '../kernel/ids'
import type { Reader } from '../kernel/store'
import type { AnyNoun } from './declaration'
import type { ResourceDeps } from './deps'
import {
  chosenTeamNeedsPermission,
  keyIsBound,
  personalFromOrgKey,
  teamNeedsOrg,
  teamNeedsPermission,
  teamOfPerson,
} from './errors'
import type { OwnedRow, OwnedScope, Reach } from './rows'

/** Whose a new one is, and who makes it. */
export type Place = Pick<OwnedRow, 'owner' | 'org_id' | 'user_id'>

/** Whose, where an operator names it. */
export type Whose = { owner?: string | undefined }

/** The account that a caller acts for, or the owner that an operator names. Throws 404. */
export const accountOf = async (
  { store, orgs }: Pick<ResourceDeps, 'store' | 'orgs'>,
  { caller }: Call<Caller>,
  { owner }: Whose,
): Promise<OwnerScope> =>
  caller.type === 'operator' ? (await orgs.findOwner(store.read, owner)).scope : ownerOf(caller)

/** Whose rows a caller sees, where new ones go, and which they may change. An operator's reach is everyone. */
export function createReach({ orgs, bindings }: Pick<ResourceDeps, 'orgs' | 'bindings'>, noun: AnyNoun) {
  return { reachOf, placeOf, assertMayMake, assertMayChange }

  /** An organization's key sees what is its organization's. `owner` narrows an operator's reach, and no one else's. */
  async function reachOf(reader: Reader, caller: Caller, owner?: string): Promise<Reach> {
    if (caller.type === 'operator') {
      return owner === undefined ? 'everyone' : [(await orgs.findOwner(reader, owner)).scope]
    }
    if (noun.owned === 'account') {
      const seen = noun.reach === 'active org' && caller.type === 'session' ? caller.activeOrgId : null
      return seen ? [ownerOf(caller), `org:${seen}`] : [ownerOf(caller)]
    }
    if (noun.owned === 'team') return [placeOfTeam(caller).owner]
    if (caller.orgId) return [`org:${caller.orgId}`]
    const active = caller.activeOrgId ? [caller.activeOrgId] : []
    const own = noun.reach === 'every org' ? await orgs.orgIdsWith(reader, caller.userId, 'viewUsage') : active
    return [`user:${caller.userId}`, ...own.map((id): OwnerScope => `org:${id}`)]
  }

  /**
   * By default what an organization's key makes is its team's, because it acts for it. Throws 400 `org_required`, 403
   * for a personal one of such a key; for an operator 404 for the owner, 400 for a team's of a person.
   */
  async function placeOf(reader: Reader, caller: Caller, wanted?: OwnedScope, owner?: string): Promise<Place> {
    if (caller.type === 'operator') {
      const named = await orgs.findOwner(reader, owner)
      const userId = orgs.actingUserOf(named)
      if ((wanted ?? (named.orgId ? 'team' : 'personal')) === 'personal') return personal(userId)
      if (!named.orgId) throw teamOfPerson(named.name)
      return team(named.orgId, userId)
    }
    if (noun.owned === 'account') return caller.orgId ? team(caller.orgId, caller.userId) : personal(caller.userId)
    if (noun.owned === 'team') return placeOfTeam(caller)
    if ((wanted ?? (caller.orgId ? 'team' : 'personal')) === 'personal') {
      if (caller.orgId) throw personalFromOrgKey(noun.title)
      return personal(caller.userId)
    }
    if (!caller.activeOrgId) throw teamNeedsOrg()
    return team(caller.activeOrgId, caller.userId)
  }

  /** Throws 403 unless the caller's role may make and change what is the team's. */
  async function assertMayMake(reader: Reader, caller: Caller, { org_id }: Pick<OwnedRow, 'org_id'>): Promise<void> {
    if (!org_id || caller.type === 'operator') return
    const role = await orgs.roleOf(reader, org_id, caller.userId)
    if (orgs.mayDo(role, noun.permission)) return
    const refusal = noun.owned === 'either' ? chosenTeamNeedsPermission : teamNeedsPermission
    throw refusal(noun.title, noun.permission, role)
  }

  /** Throws as `assertMayMake`, and for a key that it contains. A default contains no key in this sense (contract 12). */
  async function assertMayChange(reader: Reader, caller: Caller, row: OwnedRow): Promise<void> {
    await assertMayMake(reader, caller, row)
    if (caller.type !== 'key' || !noun.boundTo?.contains) return
    const bound = (await bindings.of(reader, caller.keyId)) as Record<string, unknown> | null
    if (bound?.[noun.boundTo.column] === row.id) throw keyIsBound(noun.title)
  }
}

const personal = (userId: UserId): Place => ({ owner: `user:${userId}`, org_id: null, user_id: userId })
const team = (orgId: OrgId, userId: UserId): Place => ({ owner: `org:${orgId}`, org_id: orgId, user_id: userId })
const placeOfTeam = ({ activeOrgId, userId }: TenantCaller): Place =>
  activeOrgId ? team(activeOrgId, userId) : personal(userId)
