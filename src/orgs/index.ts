/** Orgs: users, organizations, memberships and what each role may do. */
export { accessChanged, accountSwitched, memberJoined, memberLeft, orgDeleted } from './events'
export { actingUserOf, findOwner, type Owner } from './owner'
export { mayDo, normalizeEmail, teamOf } from './rules'
export { createOrgs, type OrgService } from './service'
export type { OrgRow, UserRow } from './table'
