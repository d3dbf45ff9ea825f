import type { Command } from './command'
import { auditCommands } from './commands/audit'
import { exportAudit } from './commands/audit-export'
import { createBackup } from './commands/backup'
import { cacheCommands } from './commands/cache'
import { canvasCommands } from './commands/canvases'
import { configCommands } from './commands/config'
import { creditCommands } from './commands/credits'
import { bookCommands } from './commands/credits-books'
import { deliveryCommands } from './commands/deliveries'
import { doctor } from './commands/doctor'
import { engineCommands } from './commands/engines'
import { eventCommands } from './commands/events'
import { guardrailCommands } from './commands/guardrails'
import { help } from './commands/help'
import { jobCommands } from './commands/jobs'
import { keyCommands } from './commands/keys'
import { bindKey } from './commands/keys-bind'
import { limitCommands } from './commands/limits'
import { listCommands } from './commands/list'
import { memberCommands } from './commands/members'
import { migrateCommands } from './commands/migrate'
import { operatorCommands } from './commands/operators'
import { orgCommands } from './commands/orgs-delete'
import { policyCommands } from './commands/policies'
import { profileCommands } from './commands/profiles'
import { routingCommands } from './commands/routing'
import { serve } from './commands/serve'
import { skillReadCommands } from './commands/skills'
import { skillChangeCommands } from './commands/skills-change'
import { skillFileCommands } from './commands/skills-files'
import { status } from './commands/status'
import { submissionCommands } from './commands/submissions'
import { diffSubmission } from './commands/submissions-diff'
import { submissionWorkCommands } from './commands/submissions-work'
import { tierCommands } from './commands/tiers'
import { tryPrompt } from './commands/try'
import { usageCommands } from './commands/usage'
import { userCommands } from './commands/users'
import { verify } from './commands/verify'
import { version } from './commands/version'
import { webhookCommands } from './commands/webhooks'
import { webhookLookCommands } from './commands/webhooks-look'
import { webhookSignCommands } from './commands/webhooks-sign'
import { workflowCommands } from './commands/workflows'
import { workflowRunCommands } from './commands/workflows-runs'

/** Every command, in the order of help. Help, parsing, the machine-readable list and tests are derived from it. */
export const commands: readonly Command[] = [
  serve,
  status,
  doctor,
  tryPrompt,
  verify,
  ...keyCommands,
  bindKey,
  ...limitCommands,
  ...tierCommands,
  ...operatorCommands,
  ...orgCommands,
  ...memberCommands,
  ...userCommands,
  ...usageCommands,
  ...creditCommands,
  ...bookCommands,
  ...auditCommands,
  ...routingCommands,
  ...guardrailCommands,
  ...policyCommands,
  exportAudit,
  ...skillReadCommands,
  ...skillFileCommands,
  ...skillChangeCommands,
  ...canvasCommands,
  ...workflowCommands,
  ...workflowRunCommands,
  ...submissionCommands,
  diffSubmission,
  ...submissionWorkCommands,
  ...engineCommands,
  ...cacheCommands,
  ...jobCommands,
  ...webhookCommands,
  ...webhookLookCommands,
  ...webhookSignCommands,
  ...deliveryCommands,
  ...eventCommands,
  ...migrateCommands,
  createBackup,
  ...configCommands,
  ...profileCommands,
  listCommands,
  help,
  version,
]
