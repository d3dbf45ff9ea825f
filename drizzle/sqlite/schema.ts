/** All SQLite tables; drizzle-kit reads them to generate `drizzle/sqlite/*.sql`. */
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

export const nodes = nodeRoom.nodes.sqlite
export const auditEvents = audit.auditEvents.sqlite
export const auditHeads = audit.auditHeads.sqlite
export const usageRecords = usage.usageRecords.sqlite
export const spendDays = usage.spendDays.sqlite
export const usageSkills = usage.usageSkills.sqlite
export const usageRollups = usage.usageRollups.sqlite
export const usageSpeeds = usage.usageSpeeds.sqlite
export const skillCalls = usage.skillCalls.sqlite
export const usageCursors = usage.usageCursors.sqlite
export const wallets = billing.wallets.sqlite
export const holds = billing.holds.sqlite
export const ledgerEntries = billing.ledgerEntries.sqlite
export const creditLots = billing.creditLots.sqlite
export const billingLimits = billing.billingLimits.sqlite
export const purchases = payments.purchases.sqlite
export const paymentCustomers = payments.paymentCustomers.sqlite
export const paymentEvents = payments.paymentEvents.sqlite
export const grantCodes = payments.grantCodes.sqlite
export const userSettings = settings.userSettings.sqlite
export const idempotencyKeys = idempotency.idempotencyKeys.sqlite
export const users = orgRoom.users.sqlite
export const orgs = orgRoom.orgs.sqlite
export const members = orgRoom.members.sqlite
export const invitations = orgRoom.invitations.sqlite
export const apiKeys = keys.apiKeys.sqlite
export const keySecrets = keys.keySecrets.sqlite
export const limitIncreases = limits.limitIncreases.sqlite
export const sessions = auth.sessions.sqlite
export const signInFailures = auth.signInFailures.sqlite
export const signInPlaces = auth.signInPlaces.sqlite
export const guardrailPolicies = guardrails.guardrailPolicies.sqlite
export const conversations = talk.conversations.sqlite
export const memories = talk.memories.sqlite
export const messages = talk.messages.sqlite
export const canvases = drawing.canvases.sqlite
export const canvasVersions = drawing.canvasVersions.sqlite
export const operatorKeys = operators.operatorKeys.sqlite
export const skills = skillRoom.skills.sqlite
export const skillVersions = skillRoom.skillVersions.sqlite
export const skillSubmissions = skillRoom.skillSubmissions.sqlite
export const skillInstallations = skillRoom.skillInstallations.sqlite
export const skillReviews = skillRoom.skillReviews.sqlite
export const skillTrials = skillRoom.skillTrials.sqlite
export const routingPreferences = routing.routingPreferences.sqlite
export const routingCorrections = routing.routingCorrections.sqlite
export const skillRuns = skillWork.skillRuns.sqlite
export const jobs = jobRoom.jobs.sqlite
