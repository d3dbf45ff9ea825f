import { keyVerbs } from '../accounts/keys/routes'
import { orgVerbs } from '../accounts/orgs/routes'
import { userVerbs } from '../accounts/users-routes'
import { canvasWorkflowVerbs, channelVerbs, hookVerbs, workflowVerbs } from '../automation/routes'
import { browserVerbs } from '../browser/routes'
import { jobOperatorVerbs } from '../charging/public-jobs-routes'
import { batchVerbs } from '../compat/routes'
import { testCaseVerbs } from '../completions/routes-tests'
import { eventVerbs } from '../events/routes'
import { verifyUploads } from '../files'
import { artifactVerbs, uploadVerbs } from '../files/routes'
import { guardrailVerbs } from '../guardrails/routes'
import type { Metrics } from '../http/metrics'
import { addReadings } from '../http/metrics'
import { createOperatorRules, type OperatorEdge, operatorEdge } from '../http/operator-edge'
import { resourceVerbs } from '../http/resource-verbs'
import { operatorRoutes } from '../http/verbs'
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
import { ownRoutes } from '../operators/routes'
import { hasOperators } from '../pages/reference/config'
import { researchVerbs } from '../research/routes'
import { preferenceVerbs } from '../routing/routes'
import { conversationVerbs } from '../skills/conversations/routes'
import { deliverySums } from '../webhooks'
import { webhookVerbs } from '../webhooks/routes'
import { widgetOperatorVerbs } from '../widgets/routes'
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
  ownRoutes(operators, edge, metrics.all())
    .use(operatorRoutes(keyVerbs(container.keys), edge))
    .use(operatorRoutes(orgVerbs(container.orgs), edge))
    .use(operatorRoutes(userVerbs(container.users), edge))
    .use(operatorRoutes(guardrailVerbs(container.guardrails), edge))
    .use(operatorRoutes(preferenceVerbs(container), edge))
    .use(operatorRoutes(testCaseVerbs(container.testCases), edge))
    .use(operatorRoutes(resourceVerbs(container.views), edge))
    .use(operatorRoutes(resourceVerbs(container.canvases.canvases), edge))
    .use(operatorRoutes(workflowVerbs(container.workflows), edge))
    .use(operatorRoutes(canvasWorkflowVerbs(container.workflows.fromCanvas), edge))
    .use(operatorRoutes(jobOperatorVerbs(container.publicJobs), edge))
    .use(operatorRoutes(conversationVerbs(container.conversations), edge))
    .use(operatorRoutes(artifactVerbs(container), edge))
    .use(operatorRoutes(uploadVerbs(container), edge))
    .use(operatorRoutes(batchVerbs(container), edge))
    .use(operatorRoutes(researchVerbs(container.research), edge))
    .use(operatorRoutes(browserVerbs(container.browser), edge))
    .use(operatorRoutes(webhookVerbs(container.webhooks), edge))
    .use(operatorRoutes(hookVerbs(container.hooks), edge))
    .use(operatorRoutes(channelVerbs(container.channels), edge))
    .use(operatorRoutes(eventVerbs(container.published), edge))
    .use(operatorRoutes(widgetOperatorVerbs(container.widgets), edge))
