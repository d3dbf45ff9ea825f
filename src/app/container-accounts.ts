import {
  actingUserOf,
  createAccessWatch,
  createAttempts,
  createAuth,
  createAuthenticator,
  createEntry,
  createKeyLookup,
  createKeys,
  createPasswords,
  createSessions,
  createSignInLinks,
  createUnattended,
  createUsers,
  findOwner,
  type KeyBindings,
  mayDo,
  orgDeleted,
  type Sessions,
  writeSessionUses,
} from '../accounts'
import { createAccountBilling, createAccountLimits, createBalanceWatch, createBilling, followPrices } from '../billing'
import { createPublicJobs } from '../charging'
import { createEvents } from '../events'
import { storeAnswer } from '../idempotency'
import { randomFraction } from '../kernel/crypto'
import type { KeyId, SessionId } from '../kernel/ids'
import { createLastSeenBuffer } from '../kernel/last-seen-buffer'
import { centsToMicro } from '../kernel/money'
import { createIncreases, createRateLimiter, createTiers } from '../limits'
import type { ResourceDeps } from '../resource'
import { createUsageReading } from '../usage'
import { createWebhooks } from '../webhooks'
import type { Deps } from './container-deps'
import type { Foundation } from './container-foundation'

/** How often the "last used" time of a key or session is written at most. */
const USES_EVERY_MS = 60_000

/** Credit of a new account in dev mode, unless configured (design 10). */
const DEV_CREDIT_CENTS = 1_000_000

export type Accounts = ReturnType<typeof buildAccounts>

/** Builds the rooms about callers: keys, sessions, sign-in, rate limits, billing and usage. */
export function buildAccounts(deps: Deps, foundation: Foundation) {
  const { lookup, ...callers } = buildCallers(deps, foundation)
  const money = buildMoney(deps, foundation)
  const { sessions } = callers
  const resources = buildResources(deps, foundation, callers.keys.bindings)
  return {
    ...callers,
    ...money,
    ...buildEvents(deps, foundation, resources),
    ...buildSignIn(deps, foundation, { sessions, grantInitial: money.billing.openAccount }),
    authenticate: createAuthenticator({ keys: lookup, sessions }),
    unattended: createUnattended({ store: deps.store, keys: lookup, orgs: foundation.orgs }),
    resources,
    access: createAccessWatch({
      store: deps.store,
      keys: lookup,
      sessions,
      orgs: foundation.orgs,
      writeSessionUses: () => writeSessionUses({ store: deps.store, sightings: callers.sessionUses }),
    }),
  }
}

function buildCallers(
  { config, store, clock, node, redis }: Deps,
  { audit, events, orgs, usage, nodes, live }: Foundation,
) {
  const tiers = createTiers(config.tiers)
  const keyUses = createLastSeenBuffer<KeyId>({ everyMs: USES_EVERY_MS, clock })
  const lookup = createKeyLookup({ store, orgs, clock, lastUsed: keyUses })
  const rooms = { settings: config, limitsOf: tiers.limitsOf, spentBy: usage.spent }
  const keys = createKeys({ store, audit, events, orgs, lookup, clock, ...rooms })
  const sessionUses = createLastSeenBuffer<SessionId>({ everyMs: USES_EVERY_MS, clock })
  const sessions = createSessions({ store, orgs, events, clock, lastSeen: sessionUses })
  const shared = redis && nodes.isCluster ? { scripts: redis, live, node, nodes: nodes.serving } : null
  const limiter = createRateLimiter({ clock, tiers, shared })
  const increases = createIncreases({ store, audit, events, clock, tiers, keys, orgs })
  return { tiers, keys, keyUses, lookup, sessions, sessionUses, limiter, increases }
}

/** What each declared resource is built with. */
function buildResources({ store, clock }: Deps, { audit, events, orgs }: Foundation, bindings: KeyBindings) {
  const owners = {
    ...orgs,
    mayDo,
    actingUserOf,
    findOwner,
    onEnd: (end: Parameters<ResourceDeps['orgs']['onEnd']>[0]) =>
      events.inTransaction(orgDeleted, (tx, { data }) => end(tx, data)),
  }
  return { store, clock, audit, storeAnswer, bindings, orgs: owners } satisfies ResourceDeps
}

/** What callers publish, and the webhooks that receive it. */
function buildEvents(
  { config, store, clock, masterKey }: Deps,
  { audit, events, fanOut, jobs, outbound }: Foundation,
  resources: ReturnType<typeof buildResources>,
) {
  const { orgs } = resources
  return {
    published: createEvents({ store, clock, audit, fanOut, storeAnswer, orgs, settings: config }),
    webhooks: createWebhooks({
      resources,
      fanOut,
      masterKey,
      settings: config,
      jobs,
      audit,
      events,
      outbound,
      random: randomFraction,
    }),
  }
}

function buildMoney({ config, store, clock, node, masterKey, origin }: Deps, foundation: Foundation) {
  const { audit, events, files, jobs, nodes, orgs, usage, engineRegistry } = foundation
  const isDev = !config.production && config.origins.creditsInitialCents === 'default'
  const initialCredit = centsToMicro(isDev ? DEV_CREDIT_CENTS : config.creditsInitialCents)
  const limits = createAccountLimits({ dialect: store.dialect, clock })
  const watch = createBalanceWatch({ limits, events })
  const billing = createBilling({ store, clock, audit, limits, watch, jobs, node, initialCredit })
  const deps = { store, clock, audit, events, jobs, orgs, billing, limits, watch, masterKey, origin }
  const accountBilling = createAccountBilling({ ...deps, settings: config })
  const usageReading = createUsageReading({
    store,
    clock,
    audit,
    refusals: usage.refusals,
    balanceOf: billing.balance,
    expiringOf: billing.expiringGrants.of,
    capsOf: async (reader, owner) => (await limits.of(reader, owner)).caps,
    assertMayView: (reader, caller, orgId) => orgs.assertPermission(reader, caller, 'viewUsage', orgId),
  })
  const isServed = () => nodes.isServed('jobs')
  const publicJobs = createPublicJobs({ store, clock, jobs, audit, events, files, billing, isServed })
  return {
    billing,
    accountBilling,
    publicJobs,
    usageReading,
    prices: followPrices(() => engineRegistry.version().prices),
  }
}

type People = { sessions: Sessions; grantInitial: Parameters<typeof createAuth>[0]['grantInitial'] }

function buildSignIn(deps: Deps, { audit, orgs, jobs, mail }: Foundation, people: People) {
  const { config, store, clock, masterKey, origin } = deps
  const { sessions, grantInitial } = people
  const { signup, production } = config
  const passwords = createPasswords()
  const attempts = createAttempts({ store, clock, masterKey })
  const entry = createEntry({ audit, orgs, sessions, attempts })
  const rooms = { store, audit, orgs, passwords, attempts, entry, clock }
  const auth = createAuth({ ...rooms, sessions, signup, grantInitial })
  const signInLinks = createSignInLinks({ ...rooms, jobs, mail, production, origin })
  return { auth, signInLinks, attempts, users: createUsers({ store, audit, orgs, auth, sessions, signInLinks }) }
}
