import type { Call, OperatorCaller } from '../kernel/caller'
import { createOperatorAccess } from './access'
import { createAuditVerbs } from './audit'
import type { createBackup } from './backup'
import { createCreditVerbs } from './credits'
import { createEngineVerbs } from './engines'
import { createKeyVerbs } from './keys'
import { createLimitVerbs } from './limits'
import { createStatus } from './status'
import { createVerify } from './verify'

type Deps = Parameters<typeof createKeyVerbs>[0] &
  Parameters<typeof createCreditVerbs>[0] &
  Parameters<typeof createAuditVerbs>[0] &
  Parameters<typeof createEngineVerbs>[0] &
  Parameters<typeof createLimitVerbs>[0] &
  Parameters<typeof createOperatorAccess>[0] &
  Parameters<typeof createStatus>[0] &
  Parameters<typeof createVerify>[0] & { backup: ReturnType<typeof createBackup> }

export type OperatorService = ReturnType<typeof createOperators>
export type OperatorCall = Call<OperatorCaller>

/** Everything the operator plane can do; each verb goes through the room that owns the rule. */
export const createOperators = (deps: Deps) => ({
  keys: createKeyVerbs(deps),
  limits: createLimitVerbs(deps),
  access: createOperatorAccess(deps),
  credits: createCreditVerbs(deps),
  audit: createAuditVerbs(deps),
  engines: createEngineVerbs(deps),
  status: createStatus(deps),
  verify: createVerify(deps),
  backup: deps.backup,
})
