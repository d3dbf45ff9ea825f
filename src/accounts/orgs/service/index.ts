import { orgRepository as rows } from '../repository'
import { verifyOrgs } from '../verify'
import { createAccess } from './access'
import type { OrgDeps } from './deps'
import { createInvitations } from './invitations'
import { createLifecycle } from './lifecycle'
import { createMembers } from './members'
import { operateOrgs } from './operate'
import { createPeople } from './people'
import { createVisits } from './visits'

export type OrgService = ReturnType<typeof createOrgs>

/** Users, organizations, memberships and permissions. */
export function createOrgs(deps: OrgDeps) {
  const members = createMembers(deps)
  return {
    ...createPeople(deps),
    ...createAccess(),
    ...createLifecycle(deps),
    ...operateOrgs(deps),
    ...createVisits(deps),
    members,
    invitations: createInvitations({ ...deps, members }),
    ownerOf: rows.ownerOf,
    makeActive: rows.activate,
    lock: rows.lock,
    lockOwner: rows.lockOwner,
    verify: verifyOrgs,
  }
}
