/** All Postgres tables; drizzle-kit reads them to generate `drizzle/postgres/*.sql`. */
import * as audit from '../../src/audit/table'
import * as auth from '../../src/auth/table'
import * as payments from '../../src/billing/payments/table'
import * as billing from '../../src/billing/table'
import * as drawing from '../../src/canvases/table'
import * as talk from '../../src/conversations/table'
import * as guardrails from '../../src/guardrails/table'
import * as idempotency from '../../src/idempotency/table'
import * as jobRoom from '../../src/jobs/table'
import * as keys from '../../src/keys/table'
import * as nodeRoom from '../../src/nodes/table'
import * as operators from '../../src/operators/table'
import * as orgRoom from '../../src/orgs/table'
import * as limits from '../../src/rate-limits/table'
import * as routing from '../../src/routing-preferences/table'
import * as settings from '../../src/settings/table'
import * as skillWork from '../../src/skill-runs/table'
import * as skillRoom from '../../src/skills/table'
import * as usage from '../../src/usage/table'

export const nodes = nodeRoom.nodes.postgres
export const auditEvents = audit.auditEvents.postgres
export const auditHeads = audit.auditHeads.postgres
export const usageRecords = usage.usageRecords.postgres
export const spendDays = usage.spendDays.postgres
export const usageSkills = usage.usageSkills.postgres
export const usageRollups = usage.usageRollups.postgres
export const usageSpeeds = usage.usageSpeeds.postgres
export const skillCalls = usage.skillCalls.postgres
export const usageCursors = usage.usageCursors.postgres
export const wallets = billing.wallets.postgres
export const holds = billing.holds.postgres
export const ledgerEntries = billing.ledgerEntries.postgres
export const creditLots = billing.creditLots.postgres
export const billingLimits = billing.billingLimits.postgres
export const purchases = payments.purchases.postgres
export const paymentCustomers = payments.paymentCustomers.postgres
export const paymentEvents = payments.paymentEvents.postgres
export const grantCodes = payments.grantCodes.postgres
export const userSettings = settings.userSettings.postgres
export const idempotencyKeys = idempotency.idempotencyKeys.postgres
export const users = orgRoom.users.postgres
export const orgs = orgRoom.orgs.postgres
export const members = orgRoom.members.postgres
export const invitations = orgRoom.invitations.postgres
export const apiKeys = keys.apiKeys.postgres
export const keySecrets = keys.keySecrets.postgres
export const limitIncreases = limits.limitIncreases.postgres
export const sessions = auth.sessions.postgres
export const signInFailures = auth.signInFailures.postgres
export const signInPlaces = auth.signInPlaces.postgres
export const guardrailPolicies = guardrails.guardrailPolicies.postgres
export const conversations = talk.conversations.postgres
export const memories = talk.memories.postgres
export const messages = talk.messages.postgres
export const canvases = drawing.canvases.postgres
export const canvasVersions = drawing.canvasVersions.postgres
export const operatorKeys = operators.operatorKeys.postgres
export const skills = skillRoom.skills.postgres
export const skillVersions = skillRoom.skillVersions.postgres
export const skillSubmissions = skillRoom.skillSubmissions.postgres
export const skillInstallations = skillRoom.skillInstallations.postgres
export const skillReviews = skillRoom.skillReviews.postgres
export const skillTrials = skillRoom.skillTrials.postgres
export const routingPreferences = routing.routingPreferences.postgres
export const routingCorrections = routing.routingCorrections.postgres
export const skillRuns = skillWork.skillRuns.postgres
export const jobs = jobRoom.jobs.postgres
