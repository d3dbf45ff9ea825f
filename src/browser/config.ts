import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

const seconds = (most: number) => t.Integer({ minimum: 1, maximum: most })

export const browserSettings = {
  browserPath: setting({
    env: 'SVC_BROWSER_PATH',
    schema: t.String(),
    default: '',
    about: 'Path of a Chromium for browser sessions; empty looks where systems keep it, and `off` has none.',
  }),
  browserWsEndpoint: setting({
    env: 'SVC_BROWSER_WS_ENDPOINT',
    schema: t.String({ pattern: '^(wss?://[^\\s]+)?$' }),
    default: '',
    secret: true,
    about: 'CDP endpoint of a Chromium that runs elsewhere, in place of one that this server starts.',
  }),
  browserProxyHost: setting({
    env: 'SVC_BROWSER_PROXY_HOST',
    schema: t.String({ pattern: '^[0-9A-Za-z.:-]+$' }),
    default: '127.0.0.1',
    about: 'Address by which the Chromium reaches this server, through which all of its requests go.',
  }),
  nodeUrl: setting({
    env: 'SVC_NODE_URL',
    schema: t.String({ pattern: '^(https?://[^\\s/]+/?)?$' }),
    default: '',
    about: 'Address by which other nodes reach this one, for live views; empty is the public URL, or where it listens.',
  }),
  browserUpstreamProxy: setting({
    env: 'SVC_BROWSER_UPSTREAM_PROXY',
    schema: t.String({ pattern: '^(http://[^\\s/]+/?)?$' }),
    default: '',
    secret: true,
    about: 'http:// proxy that sessions with `proxies: true` leave by, with a name and password if it needs them.',
  }),
  browserSandbox: setting({
    env: 'SVC_BROWSER_SANDBOX',
    schema: t.Integer({ minimum: 0, maximum: 1 }),
    default: 1,
    about: '0 starts Chromium without its own sandbox; as root it always is, because Chromium refuses it there.',
  }),
  browserSessionMaxSeconds: setting({
    env: 'SVC_BROWSER_SESSION_MAX_SECONDS',
    schema: seconds(86_400),
    default: 1_200,
    about: 'Seconds after which a browser session ends, whatever it does.',
  }),
  browserSessionIdleSeconds: setting({
    env: 'SVC_BROWSER_SESSION_IDLE_SECONDS',
    schema: seconds(86_400),
    default: 300,
    about: 'Seconds without an action or a hand on the page after which a session ends that has no `keep_alive`.',
  }),
  browserSessionsPerUser: setting({
    env: 'SVC_BROWSER_SESSIONS_PER_USER',
    schema: t.Integer({ minimum: 1, maximum: 1_000 }),
    default: 3,
    about: 'How many browser sessions one person may have open at once.',
  }),
  browserSessions: setting({
    env: 'SVC_BROWSER_SESSIONS',
    schema: t.Integer({ minimum: 1, maximum: 1_000 }),
    default: 20,
    about: 'How many browser sessions this server has open at once; each takes about 40 MB.',
  }),
  browserPageMemoryMb: setting({
    env: 'SVC_BROWSER_PAGE_MEMORY_MB',
    schema: t.Integer({ minimum: 64, maximum: 65_536 }),
    default: 768,
    about: 'MB of memory that one process of pages may take before it is ended; a session has ten tabs at most.',
  }),
  browserRegions: setting({
    env: 'SVC_BROWSER_REGIONS',
    schema: t.String({ pattern: '^[a-z0-9-]+(,[a-z0-9-]+)*$' }),
    default: 'us-west-2,us-east-1,eu-central-1,ap-southeast-1',
    about: 'Names that callers may give as `region`; they are labels, and this server is all of them.',
  }),
  browserEmbedTokenSecret: setting({
    env: 'SVC_BROWSER_EMBED_TOKEN_SECRET',
    schema: t.String({ pattern: '^$|^.{32,}$' }),
    default: '',
    secret: true,
    about: 'Secret of 32 characters or more that signs live-view links; empty derives one from the master key.',
  }),
} as const
