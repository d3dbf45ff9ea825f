import { setting } from '../kernel/config'
import { form } from '../kernel/form'
import { t } from '../kernel/schema'

const seconds = (max: number) => t.Integer({ minimum: 1, maximum: max })

export const browserSettings = {
  browserPath: setting({
    env: 'SVC_BROWSER_PATH',
    schema: t.String(),
    default: '',
    about: 'Path of the Chromium for browser sessions. Empty searches the usual places; `off` disables sessions.',
  }),
  browserWsEndpoint: setting({
    env: 'SVC_BROWSER_WS_ENDPOINT',
    schema: t.String({ pattern: form('^(wss?://[^\\s]+)?$', 'an address that begins with ws:// or wss://, or empty') }),
    default: '',
    secret: true,
    about: 'CDP endpoint of a remote Chromium to use instead of starting one.',
  }),
  browserProxyHost: setting({
    env: 'SVC_BROWSER_PROXY_HOST',
    schema: t.String({ pattern: form('^[0-9A-Za-z.:-]+$', 'a host name or an address, such as 127.0.0.1') }),
    default: '127.0.0.1',
    about: 'Address at which Chromium reaches this server. All its requests go through it.',
  }),
  nodeUrl: setting({
    env: 'SVC_NODE_URL',
    schema: t.String({
      pattern: form('^(https?://[^\\s/]+/?)?$', 'https:// or http:// and a host, without a path, or empty'),
    }),
    default: '',
    about:
      'Address at which other nodes reach this one for live views. Defaults to the public URL or the listening address.',
  }),
  browserUpstreamProxy: setting({
    env: 'SVC_BROWSER_UPSTREAM_PROXY',
    schema: t.String({ pattern: form('^(http://[^\\s/]+/?)?$', 'http:// and a host, without a path, or empty') }),
    default: '',
    secret: true,
    about: 'http:// proxy for sessions with `proxies: true`, with user name and password if needed.',
  }),
  browserSandbox: setting({
    env: 'SVC_BROWSER_SANDBOX',
    schema: t.Integer({ minimum: 0, maximum: 1 }),
    default: 1,
    about: '0 starts Chromium without its sandbox. Chromium never has a sandbox when it runs as root.',
  }),
  browserSessionMaxSeconds: setting({
    env: 'SVC_BROWSER_SESSION_MAX_SECONDS',
    schema: seconds(86_400),
    default: 1_200,
    about: 'Maximum seconds of a browser session.',
  }),
  browserSessionIdleSeconds: setting({
    env: 'SVC_BROWSER_SESSION_IDLE_SECONDS',
    schema: seconds(86_400),
    default: 300,
    about: 'Seconds without activity after which a session without `keep_alive` ends.',
  }),
  browserSessionsPerUser: setting({
    env: 'SVC_BROWSER_SESSIONS_PER_USER',
    schema: t.Integer({ minimum: 1, maximum: 1_000 }),
    default: 3,
    about: 'How many browser sessions one person can have open at once.',
  }),
  browserSessions: setting({
    env: 'SVC_BROWSER_SESSIONS',
    schema: t.Integer({ minimum: 1, maximum: 1_000 }),
    default: 20,
    about: 'How many browser sessions this server can have open at once. Each takes about 40 MB.',
  }),
  browserPageMemoryMb: setting({
    env: 'SVC_BROWSER_PAGE_MEMORY_MB',
    schema: t.Integer({ minimum: 64, maximum: 65_536 }),
    default: 768,
    about: 'Megabytes one page process can use before it is killed. A session has at most ten tabs.',
  }),
  browserRegions: setting({
    env: 'SVC_BROWSER_REGIONS',
    schema: t.String({
      pattern: form(
        '^[a-z0-9-]+(,[a-z0-9-]+)*$',
        'names of lower-case letters, digits and hyphens, separated by commas without spaces',
      ),
    }),
    default: 'us-west-2,us-east-1,eu-central-1,ap-southeast-1',
    about: 'Values that callers can send as `region`. They are labels; this server serves all of them.',
  }),
  browserEmbedTokenSecret: setting({
    env: 'SVC_BROWSER_EMBED_TOKEN_SECRET',
    schema: t.String({ pattern: form('^$|^.{32,}$', 'at least 32 characters long, or empty') }),
    default: '',
    secret: true,
    about: 'Secret of at least 32 characters that signs live-view links. Empty derives one from the master key.',
  }),
} as const
