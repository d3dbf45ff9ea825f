import { orgRepository as rows } from '../repository'
import { createAccess } from './access'
import type { OrgDeps } from './deps'
import { createInvitations } from './invitations'
import { createLifecycle } from './lifecycle'
import { createMembers } from './members'
import { operateOrgs } from './operate'
import { createPeople } from './people'
import { createVisits } from './visits'

export type { Standing } from './access'
export type OrgService = ReturnType<typeof createOrgs>

/** People, organizations, who belongs where and who may do what. */
export function createOrgs(deps: OrgDeps) {
  const visits = createVisits(deps)
  const members = createMembers(deps)
  return {
    ...createPeople(deps),
    ...createAccess(),
    ...createLifecycle(deps),
    ...operateOrgs(deps),
    ...visits,
    members,
    invitations: createInvitations({ ...deps, members, getOrg: visits.get }),
    ownerOf: rows.ownerOf,
    makeActive: rows.activate,
    lock: rows.lock,
  }
}
