import { keyOperatorRoutes } from '../accounts/keys/routes'
import { orgOperatorRoutes } from '../accounts/orgs/routes'
import { userOperatorRoutes } from '../accounts/users-routes'
import {
  canvasOperatorRoutes,
  canvasWorkflowOperatorRoutes,
  channelOperatorRoutes,
  hookOperatorRoutes,
  workflowOperatorRoutes,
} from '../automation/routes'
import { browserOperatorRoutes } from '../browser/routes'
import { jobOperatorRoutes } from '../charging/public-jobs-routes'
import { batchOperatorRoutes } from '../compat/routes'
import { testCaseOperatorRoutes } from '../completions/routes-tests'
import { eventOperatorRoutes } from '../events/routes'
import { verifyUploads } from '../files'
import { artifactOperatorRoutes, uploadOperatorRoutes } from '../files/routes'
import { guardrailOperatorRoutes } from '../guardrails/routes'
import type { Metrics } from '../http/metrics'
import { addReadings } from '../http/metrics'
import { createOperatorRules, type OperatorEdge, operatorEdge } from '../http/operator-edge'
import { jobSums } from '../jobs'
import { type DatabaseLocation, riskySettings, schemaOf } from '../kernel/store'
import {
  createBackup,
  createBrowserOperators,
  createBucket,
  createOperators,
  dumpPostgres,
  type OperatorService,
} from '../operators'
import { operatorRoutes } from '../operators/routes'
import { hasOperators } from '../pages/reference/config'
import { viewOperatorRoutes } from '../pages/routes-live'
import { researchOperatorRoutes } from '../research/routes'
import { preferenceOperatorRoutes } from '../routing/routes'
import { conversationOperatorRoutes } from '../skills/conversations/routes'
import { deliverySums } from '../webhooks'
import { webhookOperatorRoutes } from '../webhooks/routes'
import { widgetOperatorRoutes } from '../widgets/routes'
import { type Config, configPath, explain, NEEDED } from './config'
import type { Container } from './container'
import type { Redis } from './redis'
import { RELEASE } from './version'

export type OperatorApi = ReturnType<typeof operatorApi>

type Deps = {
  config: Config
  container: Container
  metrics: Metrics
  redis: Redis | null
  location: DatabaseLocation
  /** Aborts when open streams must end. */
  stopping: AbortSignal
  apiUrl(): string | null
}

const HOUR_MS = 3_600_000

/** Builds the operator API: routes over the same modules, behind a socket only for this user (docs/design.md 7). */
export function createOps({ config, container, metrics, redis, location, stopping, apiUrl }: Deps) {
  const { store, audit, clock, log, orgs, billing, engines, health } = container
  const startedAt = clock.now()
  const { dataDir } = config
  const target = location.dialect === 'postgres' ? location.url : ''
  addReadings(metrics.registry, {
    now: clock.now,
    breakers: () =>
      engines
        .mapping()
        .flatMap(({ engineId: engine, targets }) =>
          targets.map(({ target, breaker }) => ({ engine, target, open: breaker === 'open' })),
        ),
    jobs: () => jobSums(store.read, clock.now() - HOUR_MS),
    deliveries: () => deliverySums(store.read, clock.now() - HOUR_MS),
  })
  const bucketAt = (path: string) => createBucket(path, config)
  const operators = createOperators({
    ...container,
    answers: container.completions.answers,
    pageMegabytes: container.browser.host.megabytes,
    writes: container.widgets.watch.writes,
    dataDir,
    bucketAt,
    settings: config,
    failingWebhooks: async (reader) => (await deliverySums(reader, clock.now())).off.map(({ id }) => id),
    explained: () => explain(config),
    configFile: config.file ?? configPath(),
    setByEnvironment: (name) => config.origins[name] === 'environment',
    facts: () => ({
      version: RELEASE,
      production: config.production,
      apiUrl: apiUrl(),
      publicUrl: config.publicUrl || null,
      dataDir,
      pid: process.pid,
      startedAt,
      database: {
        dialect: location.dialect,
        place: location.dialect === 'sqlite' ? location.path : new URL(location.url).host,
      },
    }),
    health: async () => (await health.check()).health,
    stopping,
    schema: () => schemaOf(location),
    mapping: engines.mapping,
    redis,
    risks: () => riskySettings(store.read),
    needed: NEEDED,
    invariants: [
      { check: 'ledger and holds', violations: billing.verify },
      { check: 'audit chain', violations: audit.verify },
      { check: 'audit checkpoints', violations: container.checkpoints.verify },
      { check: 'organizations', violations: orgs.verify },
      { check: 'conversations', violations: container.conversations.verify },
      { check: 'jobs and their holds', violations: container.publicJobs.verify },
      { check: 'files', violations: container.files.verify },
      { check: 'uploads', violations: verifyUploads },
      { check: 'idempotency keys', violations: container.idempotency.verify },
    ],
    backup: createBackup({
      ...{ store, audit, clock, dataDir },
      version: RELEASE,
      migrations: async () => (await schemaOf(location)).applied,
      bucketAt,
      dumpPostgres: (path) => dumpPostgres(target, path),
      contents: config.filesS3Bucket ? null : container.files.contents,
    }),
  })
  type Entry = Pick<Parameters<typeof operatorEdge>[0], 'identify' | 'seen'>
  const apiFor = (entry: Entry) => {
    const rules = createOperatorRules()
    const api = operatorApi(operators, container, operatorEdge({ log, rules, ...entry }), metrics)
    rules.learn(api.routes)
    return api
  }
  let ops: OperatorApi | undefined
  let browserOps: OperatorApi | undefined
  const browser = createBrowserOperators({
    ...container,
    production: config.production,
    ownOrigin: config.publicUrl ? new URL(config.publicUrl).origin : null,
    admit: container.limiter.admitRequest,
  })
  return {
    /** The API served on the socket. Built on first use, because commands of tenants and most tests do not need it. */
    get ops(): OperatorApi {
      ops ??= apiFor({ identify: null })
      return ops
    },
    /** The API served to other machines, which need an operator key. Null unless configured. */
    remoteOps: config.opsListen ? apiFor(operators.access) : null,
    /** The API for operators in the console. Null if that is disabled. */
    get browserOps(): OperatorApi | null {
      if (!hasOperators(config)) return null
      browserOps ??= apiFor({ identify: browser.identify, seen: browser.noteView })
      return browserOps
    },
  }
}

/** Routes that only operators have, and those they share with tenants. */
const operatorApi = (operators: OperatorService, container: Container, edge: OperatorEdge, metrics: Metrics) =>
  operatorRoutes(operators, edge, metrics.all())
    .use(keyOperatorRoutes(container.keys, edge))
    .use(orgOperatorRoutes(container.orgs, edge))
    .use(userOperatorRoutes(container.users, edge))
    .use(guardrailOperatorRoutes(container.guardrails, edge))
    .use(preferenceOperatorRoutes(container, edge))
    .use(testCaseOperatorRoutes(container.testCases, edge))
    .use(viewOperatorRoutes(container.views, edge))
    .use(canvasOperatorRoutes(container.canvases, edge))
    .use(workflowOperatorRoutes(container.workflows, edge))
    .use(canvasWorkflowOperatorRoutes(container.workflows, edge))
    .use(jobOperatorRoutes(container.publicJobs, edge))
    .use(conversationOperatorRoutes(container.conversations, edge))
    .use(artifactOperatorRoutes(container, edge))
    .use(uploadOperatorRoutes(container, edge))
    .use(batchOperatorRoutes(container, edge))
    .use(researchOperatorRoutes(container.research, edge))
    .use(browserOperatorRoutes(container.browser, edge))
    .use(webhookOperatorRoutes(container.webhooks, edge))
    .use(hookOperatorRoutes(container.hooks, edge))
    .use(channelOperatorRoutes(container.channels, edge))
    .use(eventOperatorRoutes(container.published, edge))
    .use(widgetOperatorRoutes(container.widgets, edge))
