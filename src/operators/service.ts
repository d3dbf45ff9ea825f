import { createOperatorAccess } from './access'
import { createAuditVerbs } from './audit'
import type { createBackup } from './backup'
import { createBackups } from './backups'
import { createBookVerbs } from './books'
import { createCacheVerbs } from './cache'
import { createCreditVerbs } from './credits'
import { createEngineVerbs } from './engines'
import { createKeyVerbs } from './keys'
import { createLimitVerbs } from './limits'
import { createMemberVerbs } from './members'
import { createOrgVerbs } from './orgs'
import { createReconcileVerbs } from './reconcile'
import { createSkillVerbs } from './skills'
import { createStatus } from './status'
import { createStream } from './stream'
import { createTrace } from './trace'
import { createUsageVerbs } from './usage'
import { createUserVerbs } from './users'
import { createVerify } from './verify'

type Deps = Parameters<typeof createKeyVerbs>[0] &
  Parameters<typeof createCreditVerbs>[0] &
  Parameters<typeof createBookVerbs>[0] &
  Parameters<typeof createReconcileVerbs>[0] &
  Parameters<typeof createAuditVerbs>[0] &
  Parameters<typeof createEngineVerbs>[0] &
  Parameters<typeof createLimitVerbs>[0] &
  Parameters<typeof createOperatorAccess>[0] &
  Parameters<typeof createBackups>[0] &
  Parameters<typeof createTrace>[0] &
  Parameters<typeof createStatus>[0] &
  Parameters<typeof createOrgVerbs>[0] &
  Parameters<typeof createCacheVerbs>[0] &
  Parameters<typeof createUsageVerbs>[0] &
  Parameters<typeof createUserVerbs>[0] &
  Parameters<typeof createSkillVerbs>[0] &
  Parameters<typeof createVerify>[0] &
  Omit<Parameters<typeof createStream>[0], 'status' | 'isStill'> & {
    backup: ReturnType<typeof createBackup>
  }

export type OperatorService = ReturnType<typeof createOperators>

/** All operations of the operator API; each uses the service of the room that owns the rule. */
export function createOperators(deps: Deps) {
  const status = createStatus(deps)
  const access = createOperatorAccess(deps)
  return {
    keys: createKeyVerbs(deps),
    limits: createLimitVerbs(deps),
    access,
    credits: createCreditVerbs(deps),
    books: createBookVerbs(deps),
    reconciliation: createReconcileVerbs(deps),
    audit: createAuditVerbs(deps),
    engines: createEngineVerbs(deps),
    orgs: createOrgVerbs(deps),
    members: createMemberVerbs(deps),
    cache: createCacheVerbs(deps),
    usage: createUsageVerbs(deps),
    users: createUserVerbs(deps),
    status,
    stream: createStream({ ...deps, status, isStill: access.isStill }),
    verify: createVerify(deps),
    /** Submissions of skills (dx 2.11), decided in the skills room. */
    submissions: deps.skills.operator,
    skills: createSkillVerbs(deps),
    backup: deps.backup,
    backups: createBackups(deps),
    trace: createTrace(deps),
  }
}
