import { join } from 'node:path'
import { createAgent, createSandbox } from '../agent'
import {
  createAuditLog,
  createAuditOversight,
  createAuditReading,
  createCheckpointBook,
  createCheckpoints,
  startCheckpointLoop,
} from '../audit'
import {
  assertOrigin,
  createAttempts,
  createAuth,
  createAuthenticator,
  createPasswords,
  createSessions,
  createSignInLinks,
  startSessionLoop,
} from '../auth'
import {
  createAccountLimits,
  createBalanceWatch,
  createBilling,
  createBillingDesk,
  createPrices,
  startBillingLoops,
} from '../billing'
import { createCanvases } from '../canvases'
import { createChat } from '../chat'
import { createAdmission, createAskEngine, createClassifier, createExplain } from '../classifier'
import { cacheRulesOf, createCompletions } from '../completions'
import { createConversations, createMemory, saveMemory } from '../conversations'
import { createEmbedder, createEngines } from '../engines'
import { createEventBus } from '../events'
import { createGuardrails, createOpinion } from '../guardrails'
import { createHealth } from '../health'
import { createIdempotency, startIdempotencyLoop } from '../idempotency'
import type { Clock } from '../kernel/clock'
import type { KeyId, SessionId } from '../kernel/ids'
import { errorFields, type Log } from '../kernel/log'
import { centsToMicro } from '../kernel/money'
import { createOutbound } from '../kernel/outbound'
import { createSightings } from '../kernel/sightings'
import type { SigningKey } from '../kernel/signing'
import type { Store } from '../kernel/store'
import { createKeyLookup, createKeys, startLastUsedLoop } from '../keys'
import { createOrgs } from '../orgs'
import { createIncreases, createRateLimiter, createTiers } from '../rate-limits'
import { correctedIn, createEffective, createPreferences, createRoutingPreview } from '../routing-preferences'
import { createSettings } from '../settings'
import { createSkillRuns, startLostRunsLoop } from '../skill-runs'
import { createSkills } from '../skills'
import { createSystemTools, createTools } from '../tools'
import { createBenchmarks, createUsageLog, createUsageReading, startRefusalLoop, startRollupLoop } from '../usage'
import type { Config } from './config'
import type { Redis } from './redis'
import { API_VERSION } from './version'

type Deps = {
  config: Config
  store: Store
  clock: Clock
  log: Log
  /** Signs the checkpoints of the record. */
  auditKey: SigningKey
  /** Seals what is stored and must be read again. */
  masterKey: Uint8Array
  /** Where browsers find this server: its public URL, or where it listens. */
  origin(): string
  /** This process, new at each start. */
  node: string
  /** Null where none is configured. */
  redis: Redis | null
  /** Counts engine calls by engine and outcome. */
  observeEngine(engineId: string, outcome: string): void
  /** Aborts when streams must end because the server stops. */
  stopping: AbortSignal
}

/** How often a "last used" is worth a row. */
const USES_EVERY_MS = 60_000

/** In dev mode a new account has something to spend (design 10). */
const DEV_CREDIT_CENTS = 1_000_000

export type Container = ReturnType<typeof buildContainer>

/** Every room, built once, in the order of the house: a room is given only rooms that stand before it. */
export function buildContainer({
  config,
  store,
  clock,
  log,
  auditKey,
  node,
  redis,
  stopping,
  observeEngine,
  masterKey,
  origin,
}: Deps) {
  const onError = (name: string, error: unknown) => log.error({ loop: name, ...errorFields(error) }, 'loop failed')
  const isDev = !config.production && config.origins.creditsInitialCents === 'default'
  const initialCredit = centsToMicro(isDev ? DEV_CREDIT_CENTS : config.creditsInitialCents)

  const outbound = createOutbound({
    allow: words(config.egressAllow),
    ownHosts: config.publicUrl ? [new URL(config.publicUrl).host] : [],
    httpsOnly: config.production,
  })
  const audit = createAuditLog({ clock })
  const book = createCheckpointBook({ folder: join(config.dataDir, 'audit') })
  const checkpoints = createCheckpoints({
    ...{ store, clock, book },
    key: auditKey,
    onBroken: ({ scope, seq, signed_at }) => log.error({ scope, seq, signed_at }, 'the record is not what was signed'),
  })
  const settings = createSettings({ store, audit, clock })
  const usage = createUsageLog({ clock })
  const idempotency = createIdempotency({ store, clock, masterKey })
  const events = createEventBus({ clock, onError })
  const orgs = createOrgs({ store, audit, events, clock })
  const oversight = createAuditOversight({ store, clock, audit, checkpoints, book, key: auditKey })
  const auditReading = createAuditReading({
    ...{ store, clock, oversight, checkpoints, book },
    assertMayView: (reader, caller, orgId) => orgs.assertPermission(reader, caller, 'viewAudit', orgId),
  })
  const tiers = createTiers(config.tiers)
  const keyUses = createSightings<KeyId>({ everyMs: USES_EVERY_MS, clock })
  const lookup = createKeyLookup({ store, orgs, clock, lastUsed: keyUses })
  const keys = createKeys({ store, audit, events, orgs, lookup, clock, limitsOf: tiers.limitsOf, spentBy: usage.spent })
  const sessionUses = createSightings<SessionId>({ everyMs: USES_EVERY_MS, clock })
  const sessions = createSessions({ store, orgs, events, clock, lastSeen: sessionUses })
  const limiter = createRateLimiter({ clock, tiers })
  const increases = createIncreases({ store, audit, events, clock, tiers, keys, orgs })
  const accountLimits = createAccountLimits({ dialect: store.dialect, clock })
  const watch = createBalanceWatch({ limits: accountLimits, events })
  const billing = createBilling({ store, clock, audit, limits: accountLimits, watch, node, initialCredit })
  const moneyDesk = createBillingDesk({
    ...{ store, clock, audit, events, orgs, billing, limits: accountLimits, watch, masterKey, origin },
    settings: config,
  })
  const usageReading = createUsageReading({
    ...{ store, clock, audit, refusals: usage.refusals, balanceOf: billing.balance, expiringOf: billing.lots.of },
    capsOf: async (reader, owner) => (await accountLimits.of(reader, owner)).caps,
    assertMayView: (reader, caller, orgId) => orgs.assertPermission(reader, caller, 'viewUsage', orgId),
  })
  const passwords = createPasswords()
  const attempts = createAttempts({ clock })
  const { signup } = config
  const grantInitial = billing.openAccount
  const auth = createAuth({ store, audit, orgs, sessions, passwords, attempts, clock, signup, grantInitial })
  const signInLinks = createSignInLinks({ store, audit, orgs, sessions, passwords, clock, masterKey, origin })
  const authenticate = createAuthenticator({ keys: lookup, sessions })
  const prices = createPrices(config.prices)
  const engines = createEngines({ settings: config, clock, log, observe: observeEngine })
  const effective = createEffective({ store, clock, bindings: keys.bindings })
  const benchmarks = createBenchmarks({ store, clock, correctedIn })
  const opinion = createOpinion({ engines, clock, chosen: config.guardrailEngine })
  const guardrails = createGuardrails({ store, audit, events, clock, orgs, keys, opinion })
  const admission = createAdmission({ store, limiter, billing, guardrails, engines })
  const preferences = createPreferences({
    ...{ store, audit, events, clock, orgs, bindings: keys.bindings, effective, engines, admit: admission.texts },
  })
  const sorter = createAskEngine({ engines, clock })
  const classifier = createClassifier({ engine: sorter })
  const explain = createExplain({ classifier, engine: sorter, clock })
  const routingPreview = createRoutingPreview({
    ...{ store, orgs, bindings: keys.bindings, effective, explain, engines },
    admit: admission.prompt,
  })
  const system = createSystemTools({ outbound, settings: config })
  const tools = createTools({
    ...{ outbound, masterKey, system, enabled: words(config.systemTools) },
    roleOf: async ({ caller }) => caller.activeOrgId && orgs.roleOf(store.read, caller.activeOrgId, caller.userId),
    onFault: (tool, error) => log.error({ tool, ...errorFields(error) }, 'tool failed'),
  })
  const skills = createSkills({ store, audit, events, clock, orgs, tools, settings: config })
  tools.bringSkills(skills.toolsOf)
  const conversations = createConversations({ store, audit, clock })
  const memory = createMemory({ store, audit, clock })
  tools.register(saveMemory(memory))
  const agent = createAgent({ engines, tools, clock })
  const sandbox = createSandbox({ store, audit, agent, engines, tools, skills, guardrails, limiter })
  const completions = createCompletions({
    ...{ store, clock, audit, usage, events, settings, limiter, billing, prices, engines, classifier, conversations },
    ...{ brandSoulOf: keys.brandSoulOf, routing: effective, agent, tools, memory, skills, guardrails, outbound },
    ...{ caching: cacheRulesOf(config), embed: createEmbedder({ settings: config, clock, log }), stopping },
  })
  const skillRuns = createSkillRuns({
    ...{ store, audit, events, clock, skills, completions, node, stopping, onError },
  })
  const chat = createChat({ completions, clock })
  const canvases = createCanvases({ store, audit, events, clock, skills, completions })
  const health = createHealth({
    clock,
    version: API_VERSION,
    pingDatabase: store.ping,
    pingRedis: redis?.ping ?? null,
    probeEngines: engines.probeAll,
  })

  const unknown = tools.unknownNames()
  if (unknown.length) log.warn({ unknown }, 'SVC_SYSTEM_TOOLS names tools that are not there')

  /** Background work, started once the server listens (design 6). */
  const startLoops = () => [
    startRollupLoop({ store, clock, onError }),
    startRefusalLoop({ refusals: usage.refusals, store, clock, onError }),
    ...startBillingLoops({ store, clock, audit, node, billing, onError }),
    moneyDesk.topUps.start(onError),
    startLastUsedLoop({ store, sightings: keyUses, clock, onError }),
    startSessionLoop({ store, sightings: sessionUses, clock, onError }),
    startIdempotencyLoop({ idempotency, clock, onError }),
    startCheckpointLoop({ checkpoints, clock, onError }),
    startLostRunsLoop({ runs: skillRuns, clock, onError }),
  ]

  return {
    ...{ auditReading, oversight, checkpoints, idempotency },
    ...{ node, store, clock, log, outbound, audit, settings, usage, events, orgs, tiers, keys, sessions, limiter },
    ...{ increases, usageReading, benchmarks },
    ...{
      billing,
      moneyDesk,
      auth,
      authenticate,
      signInLinks,
      assertOrigin,
      prices,
      engines,
      classifier,
      conversations,
      agent,
      completions,
    },
    ...{ guardrails, skills, skillRuns, sandbox },
    ...{ tools, memory, chat, canvases, health, preferences, routingPreview, startLoops },
  }
}

const words = (list: string): string[] =>
  list
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
