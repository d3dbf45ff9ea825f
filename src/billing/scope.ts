import { mayDo, type OrgService } from '../accounts'
import type { OwnerScope, TenantCaller } from '../kernel/caller'
import { defineError, orgRequired } from '../kernel/errors'
import type { Reader } from '../kernel/store'

export type BillingScope = 'user' | 'org'

const personalKeyRequired = defineError(
  'forbidden',
  () =>
    "This key belongs to an organization and pays from the organization's credit. Use a personal key for your own credit.",
)

/**
 * The owner a billing call is about (docs/api.md 18.2): the active org when the caller may manage its billing, else the
 * user. An org key always means its org, never a person.
 * Throws 400 `org_required`, 403 `forbidden`.
 */
export async function payingOwner(
  orgs: Pick<OrgService, 'roleOf' | 'assertPermission'>,
  reader: Reader,
  caller: TenantCaller,
  wanted?: BillingScope,
): Promise<OwnerScope> {
  const { userId, activeOrgId } = caller
  const isOrgKey = caller.orgId !== null
  if (wanted === 'user' && isOrgKey) throw personalKeyRequired()
  if (wanted === 'user' || (activeOrgId === null && wanted === undefined)) return `user:${userId}`
  if (activeOrgId === null) throw orgRequired()
  if (wanted === undefined && !isOrgKey) {
    const role = await orgs.roleOf(reader, activeOrgId, userId)
    return mayDo(role, 'manageBilling') ? `org:${activeOrgId}` : `user:${userId}`
  }
  await orgs.assertPermission(reader, caller, 'manageBilling', activeOrgId)
  return `org:${activeOrgId}`
}

export const scopeOf = (owner: OwnerScope): BillingScope => (owner.startsWith('org:') ? 'org' : 'user')
