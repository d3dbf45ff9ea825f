import { Elysia } from 'elysia'
import { LRUCache } from 'lru-cache'
import { actingIn } from '../accounts'
import { authRoutes } from '../accounts/auth/routes'
import { keyRoutes } from '../accounts/keys/routes'
import { orgRoutes } from '../accounts/orgs/routes'
import { settingsRoutes } from '../accounts/settings-routes'
import { auditRoutes } from '../audit/routes'
import { canvasRoutes, canvasWorkflowRoutes, channelRoutes, hookRoutes, workflowRoutes } from '../automation/routes'
import { billingPageRoutes, billingRoutes } from '../billing/routes'
import { browserRoutes } from '../browser/routes'
import { browserEmbedRoutes } from '../browser/routes-embed'
import { jobRoutes } from '../charging/public-jobs-routes'
import { batchRoutes, embeddingRoutes, itemRoutes, responseRoutes } from '../compat/routes'
import { authorizationOf, baseAdvice, hasBase, isMessages, isProbe, readBase } from '../compat/routes-bases'
import { clientAudioRoutes, clientImageRoutes } from '../compat/routes-media'
import { errorFormatOf, messageHeaders, messageRoutes } from '../compat/routes-messages'
import { chatRoutes, completionRoutes, insteadOf, voiceRoutes } from '../completions/routes'
import { replayRoutes, testCaseRoutes } from '../completions/routes-tests'
import { engineRoutes } from '../engines/routes'
import { eventRoutes } from '../events/routes'
import { artifactRoutes, fileRoutes, uploadRoutes } from '../files/routes'
import { guardrailRoutes } from '../guardrails/routes'
import { MAX_TRANSPORT_BYTES } from '../http/body'
import type { Connections } from '../http/connections'
import { createOpenRequests } from '../http/connections'
import { API, type ClientAddress, createClientAddress, pathOf } from '../http/context'
import { createDownloads } from '../http/download'
import { edge } from '../http/edge'
import { answer } from '../http/envelope'
import { createBodyReader, guard as createGuard, type Guard } from '../http/guard'
import { limitIntake } from '../http/intake'
import type { Metrics } from '../http/metrics'
import { createAccessLog } from '../http/metrics'
import { nativeRoutes } from '../http/native'
import { toOpenApi } from '../http/openapi'
import { createRouteRules, createSuccessTable } from '../http/route-rules'
import type { EdgeDeps } from '../http/rules'
import { createStreams } from '../http/sse'
import { asOneWork, keyIdOf, ownerOf, type TenantCaller } from '../kernel/caller'
import { ConfigError } from '../kernel/config'
import { createAddressList } from '../kernel/outbound'
import { JsonObject } from '../kernel/schema'
import { rateLimitRoutes } from '../limits/routes'
import {
  audioRoutes,
  codeRoutes,
  imageRoutes,
  documentRoutes as madeDocumentRoutes,
  videoRoutes,
} from '../media/routes'
import { healthRoutes } from '../operators/health-routes'
import { createReference } from '../pages'
import { mcpRoutes } from '../pages/mcp-routes'
import { referenceRoutes } from '../pages/reference/routes'
import { operatorApiRoutes } from '../pages/routes'
import { liveRoutes, viewRoutes } from '../pages/routes-live'
import { researchJobRoutes, researchRoutes } from '../research/routes'
import { preferenceRoutes } from '../routing/routes'
import { conversationRoutes, memoryRoutes } from '../skills/conversations/routes'
import { skillRoutes } from '../skills/routes'
import { toolRoutes } from '../tools/routes'
import { benchmarkRoutes, requestRoutes, usageRoutes } from '../usage/routes'
import { webhookRoutes } from '../webhooks/routes'
import { widgetRoutes } from '../widgets/routes'
import { visitorRoutes } from '../widgets/routes-visitors'
import type { Config } from './config'
import type { Container } from './container'
import { createFeed } from './live-feed'
import { homePageRoutes, pageRoutes } from './pages'
import { API_VERSION, RELEASE } from './version'

const entriesOf = (list: string): string[] => list.split(',').filter((entry) => entry.trim() !== '')

type OpenApiSource = { get(): Record<string, unknown> }

/** Serves the OpenAPI document twice: with a key, as the contract requires, and without for tools that import it. */
const documentRoutes = (document: OpenApiSource, guard: Guard) =>
  new Elysia()
    .use(guard)
    .get('/api/v1/openapi.json', () => published(document), {
      signedIn: true,
      response: { 200: answer(JsonObject) },
      detail: { summary: 'Read this OpenAPI document', tags: ['Document'] },
    })
    .get('/openapi.json', () => published(document), {
      open: true,
      cors: 'anyone',
      detail: { hide: true } as object,
    })

/** Returns a Response, so that the edge does not add `request_id` to a document that is not a resource. */
const published = (document: OpenApiSource) => Response.json(document.get())

type Deps = {
  config: Config
  container: Container
  metrics: Metrics
  connections: Connections
  leaving: AbortSignal
} & {
  /** The operator API of the console. Null if that is disabled. */
  browserOps(): { handle(request: Request): Response | Promise<Response> } | null
}

export type Api = ReturnType<typeof createServer>

/** Paths on which a session may act with a key by `X-Svc-As-Key`: calls that generate. */
const AS_KEY =
  /^(\/api)?\/v1\/(completions|chat|responses|messages|images|video|code|documents|audio|voice|embeddings)(\/|$)/

/** How long a new connection may take to send the headers of its first request. */
const HEADERS_S = 10

/** Builds the whole API: the edge, and the routes of each module under `/api/v1`. */
export function createServer({ config, container, metrics, connections, leaving, browserOps }: Deps) {
  const { clock, log, limiter } = container
  limitIntake(config.bodySeconds)
  const rules = createRouteRules()
  const accessLog = createAccessLog({ log, clock, metrics: metrics.http, rules, traffic: container.traffic })
  const streams = createStreams({ clock, log, accessLog })
  const download = createDownloads({ log, accessLog })
  const { idempotency } = container
  const read = createBodyReader({ idempotency, rules, incoming: container.filePlace.incoming })
  const guard = createGuard(read)
  const secure = config.publicUrl.startsWith('https://')
  const ownOrigin = config.publicUrl ? new URL(config.publicUrl).origin : null
  const origin = config.publicUrl.replace(/\/$/, '') || `http://${config.host}:${config.port}`
  const document: OpenApiSource = { get: () => ({}) }
  // Handles requests of routes to this app itself. Assigned later, because the app exists only after its routes.
  const self = { handle: (_: Request): Response | Promise<Response> => new Response(null, { status: 503 }) }
  const reference = createReference({ read: () => document.get() })

  /** The caller of a session's request: the key or the org that it chose. */
  function acting(caller: TenantCaller, request: Request): TenantCaller | Promise<TenantCaller> {
    if (caller.type !== 'session') return caller
    const key = request.headers.get('x-svc-as-key')
    if (key !== null && AS_KEY.test(pathOf(request.url))) {
      // Checked while the caller is still the session, because only a page of this server may use the cookie.
      container.assertOrigin(caller, browserHeaders(request), ownOrigin)
      return container.keys.actingAs(caller, key)
    }
    const org = request.headers.get('x-svc-org')
    return org === null ? caller : actingIn(container.store.read, caller, org)
  }

  const edgeDeps: EdgeDeps = {
    clock,
    log,
    accessLog,
    authenticate: (request) => {
      const authorization = authorizationOf(request)
      const cookie = authorization?.trim() ? null : request.headers.get('cookie')
      const found = container.authenticate({ authorization, cookie })
      return found instanceof Promise ? found.then((caller) => acting(caller, request)) : acting(found, request)
    },
    assertOrigin: (caller, request) => {
      // Only pages send `Origin`. Without it there is nothing to check for a key.
      if (caller.type === 'session' || request.headers.has('origin'))
        container.assertOrigin(caller, browserHeaders(request), ownOrigin)
    },
    admit: (caller) => limiter.admitRequest(caller),
    refused: (caller, error) => container.usage.refusals.note(ownerOf(caller), keyIdOf(caller), error),
    addRates: (headers, exchange, counts) =>
      exchange.caller
        ? limiter.headers(exchange.caller, headers)
        : limiter.anonymousHeaders(exchange.ip(), counts, headers),
    allowedOrigins: (caller) => (caller.type === 'key' ? caller.allowedOrigins : []),
    enter: config.trustedProxies.trim() ? createOpenRequests(config.connectionsPerAddress) : null,
    authenticated: connections.authenticated,
    isProbe,
    canonicalUrl: canonicalUrl(config.publicUrl),
    rules,
    errorFormatOf,
    moreHeaders: (path, headers) => (isMessages(path) ? messageHeaders(headers, clock) : null),
    insteadOf: (path) =>
      insteadOf(path.replace(/^(?:\/api|\/openai)?\/v1/, '')) ??
      (rules.methodsOf(path).length ? null : baseAdvice(path, origin, rules.methodsOf)),
    clientAddress: clientAddressOf(config),
    secure,
    leaving,
  }

  const api = new Elysia({
    normalize: false,
    // With `standardHostname`, the router finds no path if the host name is shorter than four characters.
    handler: { standardHostname: false },
    serve: {
      development: false,
      reusePort: config.workers > 1,
      idleTimeout: HEADERS_S,
      maxRequestBodySize: MAX_TRANSPORT_BYTES,
      error: () => new Response(null, { status: 500 }),
    },
  })
    .wrap((answer: (request: Request) => unknown) => (request: Request) => {
      readBase(request)
      return asOneWork(answer, request)
    })
    .use(edge(edgeDeps))
    .group(API, (v1) =>
      v1
        .use(healthRoutes(container.health, guard))
        .use(authRoutes(container, guard, { secure }))
        .use(keyRoutes(container.keys, guard))
        .use(orgRoutes(container.orgs, guard))
        .use(settingsRoutes(container, guard))
        .use(billingRoutes(container.accountBilling, download, guard))
        .use(rateLimitRoutes(container, guard))
        .use(engineRoutes(container.engines, clock, guard))
        .use(preferenceRoutes(container, guard))
        .use(guardrailRoutes(container.guardrails, guard))
        .use(toolRoutes(container.tools, guard))
        .use(skillRoutes(container, guard))
        .use(completionRoutes(container.completions, streams, guard))
        .use(testCaseRoutes(container.testCases, guard))
        .use(replayRoutes(container.replay, guard))
        .use(viewRoutes(container.views, guard))
        .use(chatRoutes(container.chat, streams, guard))
        .use(responseRoutes({ ...container, folder: container.filePlace.incoming, settings: config }, streams, guard))
        .use(messageRoutes({ ...container, folder: container.filePlace.incoming }, streams, guard))
        .use(embeddingRoutes(container, guard))
        .use(batchRoutes(container, guard))
        .use(canvasRoutes(container.canvases, guard))
        .use(workflowRoutes(container.workflows, guard))
        .use(canvasWorkflowRoutes(container.workflows, guard))
        .use(conversationRoutes(container.conversations, guard))
        .use(itemRoutes({ ...container, folder: container.filePlace.incoming }, guard))
        .use(memoryRoutes(container.memory, guard))
        .use(codeRoutes(container.code, guard))
        .use(madeDocumentRoutes(container.documents, guard))
        .use(imageRoutes(container.images, guard))
        .use(clientImageRoutes(container.images, streams, guard))
        .use(jobRoutes(container.publicJobs, guard))
        .use(audioRoutes(container.audio, guard))
        .use(clientAudioRoutes(container.audio, streams, guard))
        .use(researchRoutes(container.research, guard))
        .use(researchJobRoutes(container.research, guard))
        .use(videoRoutes(container.video, guard))
        .use(voiceRoutes(container.voice, guard))
        .use(webhookRoutes(container.webhooks, guard))
        .use(browserRoutes(container.browser, guard))
        .use(hookRoutes(container.hooks, guard))
        .use(channelRoutes(container.channels, guard))
        .use(eventRoutes(container.published, guard))
        .use(widgetRoutes(container.widgets, guard))
        .use(visitorRoutes(container.widgets, streams, guard))
        .use(artifactRoutes(container, guard))
        .use(uploadRoutes(container, guard))
        .use(usageRoutes(container, download, guard))
        .use(requestRoutes(container, guard))
        .use(liveRoutes(createFeed(container), streams, guard))
        .use(benchmarkRoutes(container, guard))
        .use(auditRoutes(container, download, guard)),
    )
    .use(billingPageRoutes(container.accountBilling.pages, guard))
    .use(fileRoutes(container.files, guard))
    .use(browserEmbedRoutes(container.browser, container.assets, guard))
    .use(documentRoutes(document, guard))
    .use(pageRoutes({ config, container, guard, streams, ownOrigin }))
    .use(operatorApiRoutes(browserOps, guard))
    .use(homePageRoutes({ config, health: container.health, publicOrigin: ownOrigin }, guard))
    .use(
      mcpRoutes({ handle: (request) => self.handle(request), version: RELEASE, sleep: (ms) => clock.sleep(ms) }, guard),
    )
    .use(referenceRoutes({ reference, assets: container.assets, publicOrigin: ownOrigin }, guard))

  self.handle = (request) => api.handle(request)
  rules.learn(api.routes as never)
  api.config.serve!.routes = nativeRoutes(
    {
      ...edgeDeps,
      read,
      bases: [API, '/v1'],
      around: (path, answer) =>
        hasBase(path)
          ? (request, server) => {
              readBase(request)
              return asOneWork(answer, request, server)
            }
          : (request, server) => asOneWork(answer, request, server),
    },
    api.routes as never,
  )
  container.audit.setSuccessStatuses(createSuccessTable(api.routes as never))
  let made: ReturnType<typeof toOpenApi> | null = null
  document.get = () => {
    made ??= toOpenApi(api.routes as never, {
      title: 'svc',
      version: API_VERSION,
      description:
        'AI orchestration: one API for answers, tools, skills, guardrails and billing, independent of the engines behind it.',
      serverUrl: `${origin}${API}`,
    })
    return made
  }
  return api
}

const browserHeaders = (request: Request) => ({
  method: request.method,
  authorization: authorizationOf(request),
  origin: request.headers.get('origin'),
  fetchSite: request.headers.get('sec-fetch-site'),
  host: request.headers.get('host'),
})

/** Finds the client's address behind `SVC_TRUSTED_PROXIES`. Throws ConfigError for an invalid entry. */
export function clientAddressOf({
  trustedProxies,
  unix = '',
}: Pick<Config, 'trustedProxies'> & { unix?: string }): ClientAddress {
  return named(() => createClientAddress(entriesOf(trustedProxies), unix !== ''))
}

/**
 * Tells whether an address is in `SVC_TRUSTED_PROXIES`. Caches results, because it runs for each connection.
 * @throws ConfigError for an invalid entry
 */
export function isTrustedProxy({ trustedProxies }: Pick<Config, 'trustedProxies'>): (address: string) => boolean {
  const entries = entriesOf(trustedProxies)
  if (!entries.length) return () => false
  const ours = named(() => createAddressList(entries))
  const known = new LRUCache<string, boolean>({ max: 10_000 })
  return (address) => {
    const isOurs = known.get(address) ?? ours.has(address)
    known.set(address, isOurs)
    return isOurs
  }
}

function named<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new ConfigError([`SVC_TRUSTED_PROXIES: ${(error as Error).message}.`])
  }
}

/**
 * Returns the URL to redirect a request to, or null. Redirects only requests to the apex of the public URL, which is
 * its host without `www.` (docs/api.md 1.1). Other hosts are served, because health checks and tests use bare
 * addresses.
 */
export function canonicalUrl(publicUrl: string): (request: Request) => string | null {
  if (!publicUrl) return () => null
  const { origin, host } = new URL(publicUrl)
  const apex = host.startsWith('www.') ? host.slice('www.'.length) : null
  return (request) => {
    if (apex === null || request.headers.get('host')?.toLowerCase() !== apex) return null
    const start = request.url.indexOf('/', request.url.indexOf('://') + 3)
    return origin + (start < 0 ? '/' : request.url.slice(start))
  }
}
