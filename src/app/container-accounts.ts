import {
  actingUserOf,
  createAccessWatch,
  createAttempts,
  createAuth,
  createAuthenticator,
  createBackgroundCallers,
  createKeyLookup,
  createKeys,
  createKeyUses,
  createPasswords,
  createSessions,
  createSessionUses,
  createSignInLinks,
  createSignInSteps,
  createUsers,
  findOwner,
  mayDo,
  namesOf,
  orgDeleted,
  ownerToRead,
  type Sessions,
} from '../accounts'
import {
  createAccountBilling,
  createAccountLimits,
  createBalanceWatch,
  createBilling,
  followPrices,
  heldUnder,
} from '../billing'
import { createCharging, createPublicJobs } from '../charging'
import { createBuiltinDriver, createEngines, createUpstreamHealth } from '../engines'
import { createEvents } from '../events'
import { createEngineOpinion, createGuardrails } from '../guardrails'
import { storeAnswer } from '../idempotency'
import { randomFraction } from '../kernel/crypto'
import { centsToMicro } from '../kernel/money'
import { createIncreases, createNodeCounts, createRateLimiter, createTiers } from '../limits'
import { createIllustrator, createImages, createPictures, localSpeaker } from '../media'
import { savedView } from '../pages'
import { hasSearch } from '../research'
import { createResource, type ResourceDeps } from '../resource'
import {
  createClassifier,
  createEffective,
  createEngineClassifier,
  createExplain,
  createPreferences,
  createRoutingPreview,
  createUnbilledAdmission,
  wronglyChosenIn,
} from '../routing'
import { conversationRepository } from '../skills'
import { createBenchmarks, createUsageReading } from '../usage'
import { createWebhooks } from '../webhooks'
import type { Foundation } from './container-foundation'

export type Decisions = ReturnType<typeof buildDecisions>

/** Credit of a new account in dev mode, unless configured (docs/design.md 10). */
const DEV_CREDIT_CENTS = 1_000_000

export type Accounts = ReturnType<typeof buildAccounts>

/** Adds the modules about callers: keys, sessions, sign-in, rate limits, billing, usage, resources' dependencies. */
export function buildAccounts(modules: Foundation) {
  const { config, store, clock, redis, events, orgs, usage, nodes } = modules
  const tiers = createTiers(config.tiers)
  const keyUses = createKeyUses(modules)
  const lookup = createKeyLookup({ store, orgs, clock, lastUsed: keyUses })
  const limitsOf = tiers.limitsOf
  const keys = createKeys({ ...modules, lookup, settings: config, limitsOf, spentBy: usage.spent })
  const sessionUses = createSessionUses(modules)
  const sessions = createSessions({ store, orgs, events, clock, lastSeen: sessionUses })
  const access = createAccessWatch({ store, keys: lookup, sessions, orgs, sessionUses })
  const counts = createNodeCounts({ store, clock, node: modules.node })
  const shared =
    redis && nodes.isCluster
      ? { scripts: redis, live: modules.live, node: modules.node, known: nodes.others, counts }
      : null
  const resources = {
    ...{ store, clock, audit: modules.audit, storeAnswer, bindings: keys.bindings },
    orgs: {
      ...orgs,
      mayDo,
      actingUserOf,
      findOwner,
      ownerToRead,
      onEnd: (end: Parameters<ResourceDeps['orgs']['onEnd']>[0]) =>
        events.inTransaction(orgDeleted, (tx, { data }) => end(tx, data)),
    },
  } satisfies ResourceDeps
  const limiter = createRateLimiter({ clock, tiers, shared })
  const increases = createIncreases({ ...modules, tiers, keys })
  const money = buildMoney(modules)
  return {
    ...modules,
    ...money,
    tiers,
    keys,
    keyUses,
    sessions,
    sessionUses,
    access,
    resources,
    limiter,
    increases,
    published: createEvents({ ...modules, storeAnswer, orgs: resources.orgs, settings: config }),
    webhooks: createWebhooks({ ...modules, resources, settings: config, random: randomFraction }),
    ...buildSignIn(modules, { sessions, grantInitial: money.billing.openAccount }),
    authenticate: createAuthenticator({ keys: lookup, sessions }),
    unattended: createBackgroundCallers({ store, keys: lookup, orgs }),
    keyOf: lookup.unattended,
  }
}

function buildMoney(modules: Foundation) {
  const { config, store, events, nodes, orgs } = modules
  const isDev = !config.production && config.origins.creditsInitialCents === 'default'
  const initialCredit = centsToMicro(isDev ? DEV_CREDIT_CENTS : config.creditsInitialCents)
  const limits = createAccountLimits(store)
  const watch = createBalanceWatch({ limits, events })
  const billing = createBilling({ ...modules, limits, watch, initialCredit })
  const prices = followPrices(modules.engineRegistry)
  const usageReading = createUsageReading({
    ...modules,
    namesOf,
    costOf: prices.costOf,
    heldUnder: async (reader, ref) => (await heldUnder(reader, { ref }))[0]?.amount,
    refusals: modules.usage.refusals,
    balanceOf: billing.balance,
    expiringOf: billing.expiringGrants.of,
    capsOf: async (reader, owner) => (await limits.of(reader, owner)).caps,
    assertMayView: (reader, caller, orgId) => orgs.assertPermission(reader, caller, 'viewUsage', orgId),
  })
  return {
    billing,
    accountBilling: createAccountBilling({
      ...modules,
      billing,
      limits,
      watch,
      costs: usageReading.costs,
      settings: config,
    }),
    publicJobs: createPublicJobs({ ...modules, billing, isServed: () => nodes.isServed('jobs') }),
    usageReading,
    prices,
  }
}

type People = { sessions: Sessions; grantInitial: Parameters<typeof createAuth>[0]['grantInitial'] }

function buildSignIn(modules: Foundation, { sessions, grantInitial }: People) {
  const { signup, production } = modules.config
  const passwords = createPasswords()
  const attempts = createAttempts(modules)
  const entry = createSignInSteps({ ...modules, sessions, attempts })
  const signIn = { ...modules, passwords, attempts, entry }
  const auth = createAuth({ ...signIn, sessions, signup, grantInitial, production })
  const signInLinks = createSignInLinks({ ...signIn, production })
  return { auth, signInLinks, attempts, users: createUsers({ ...modules, auth, sessions, signInLinks }) }
}

/** Adds the modules that decide the mode of a prompt, the engine that answers, and whether a text is allowed. */
export function buildDecisions(modules: Accounts) {
  const { config, clock, log, traces, keys, resources, engineRegistry } = modules
  const noSearch = hasSearch(config)
    ? null
    : 'no search server is set, so research reads only the addresses in a prompt'
  const upstreamHealth = createUpstreamHealth(clock)
  const engines = createEngines({
    settings: config,
    registry: engineRegistry,
    lacks: (mode) => (mode === 'research' ? noSearch : null),
    speaksHere: localSpeaker(config) !== null,
    clock,
    log,
    builtin: { ...createBuiltinDriver({ clock, habits: config }), ...createIllustrator() },
    observe: upstreamHealth.observer(modules.observeEngine, traces.step),
  })
  const { bindings } = keys
  const effective = createEffective({ ...modules, bindings })
  const benchmarks = createBenchmarks({ ...modules, wronglyChosenIn })
  const opinion = createEngineOpinion({ engines, clock, chosen: config.guardrailEngine })
  const guardrails = createGuardrails({ resources, bindings, opinion, settings: config })
  const admission = createUnbilledAdmission({ ...modules, guardrails, engines })
  const routing = { ...modules, bindings, effective, engines }
  const preferences = createPreferences({ ...routing, settings: config, admit: admission.texts })
  const engineClassifier = createEngineClassifier({ engines, clock })
  const classifier = createClassifier({ engine: engineClassifier })
  const explain = createExplain({ classifier, engine: engineClassifier, clock })
  const routingPreview = createRoutingPreview({
    ...routing,
    preferences: preferences.preferences,
    explain,
    screen: guardrails.screen,
    admit: admission.prompt,
    promptsOf: conversationRepository.promptsOf,
  })
  const views = createResource(modules.resources, savedView, {
    max: config.maxViews,
    read: async ({ name, section, query }) => ({ name, section, query }),
  })
  const charging = createCharging({ ...modules, guardrails, engines })
  const pictures = createPictures(engines)
  const images = createImages({ charging, engines, pictures })
  return {
    ...modules,
    engines,
    upstreamHealth,
    opinion,
    effective,
    benchmarks,
    guardrails,
    preferences,
    views,
    classifier,
    routingPreview,
    charging,
    pictures,
    images,
  }
}
