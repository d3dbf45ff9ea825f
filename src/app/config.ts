import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { authSettings } from '../accounts/auth/config'
import { keySettings } from '../accounts/keys/config'
import { orgSettings } from '../accounts/orgs/config'
import { canvasSettings, hookSettings, workflowSettings } from '../automation/config'
import { billingSettings } from '../billing/config'
import { browserSettings } from '../browser/config'
import { mailSettings } from '../cluster/mail-config'
import { formatSettings } from '../compat/config'
import { completionSettings, voiceSettings } from '../completions/config'
import { builtinSettings } from '../engines/builtin/config'
import { engineSettings } from '../engines/config'
import { eventSettings } from '../events/config'
import { fileSettings } from '../files/config'
import { guardrailSettings } from '../guardrails/config'
import { httpSettings } from '../http/config'
import { jobSettings } from '../jobs/config'
import { ConfigError, type Origin, resolveSettings, type Setting, setting, type Values } from '../kernel/config'
import { FAILPOINT_PATTERN } from '../kernel/failpoint'
import { form } from '../kernel/form'
import { LOG_LEVELS } from '../kernel/log'
import { oneOf, t } from '../kernel/schema'
import { withoutUserInfo } from '../kernel/text'
import { userFolder } from '../kernel/user-folder'
import { rateLimitSettings } from '../limits/config'
import { audioSettings, documentSettings, mediaSettings } from '../media/config'
import { operatorSettings } from '../operators/config'
import { referenceSettings } from '../pages/reference/config'
import { webSettings } from '../research/web/config'
import { preferenceSettings } from '../routing/config'
import { skillSettings } from '../skills/config'
import { toolSettings } from '../tools/config'
import { webhookSettings } from '../webhooks/config'
import { widgetSettings } from '../widgets/config'
import { otelSettings } from './otel-config'

const HOST = '(?:\\[[0-9a-fA-F:.]+\\]|[^/?#@:\\s\\[\\]]+)'

const PORT = '(?::(?:[1-5]?\\d{1,4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5]))?'

/** Links consist of this address and a path, and strangers see them. So it has no name, password, query or fragment. */
const PUBLIC_URL = form(
  `^$|^https?://${HOST}${PORT}/?$`,
  'https:// or http://, a host and perhaps a port, such as https://svc.example.com',
)

/** Roles of a process. Several processes on one database can share the work (docs/operating.md 2.8). */
const ROLES = ['api', 'jobs', 'deliveries', 'browser'] as const

type Role = (typeof ROLES)[number]

const ROLES_PATTERN = form(
  `^(${ROLES.join('|')})(,(${ROLES.join('|')}))*$`,
  `one or more of ${ROLES.join(', ')}, separated by commas without spaces`,
)

type Shared = { roles: string; databaseUrl: string }

const has = ({ roles }: Pick<Shared, 'roles'>, role: Role): boolean => roles.split(',').includes(role)

/** @throws ConfigError that names what is missing to run several processes on one port */
export function assertWorkers(config: Config, platform: NodeJS.Platform = process.platform): void {
  if (config.workers === 1) return
  const missing = [
    platform === 'linux' ? [] : 'Linux',
    config.databaseUrl ? [] : 'Postgres (SVC_DATABASE_URL)',
    config.redisUrl ? [] : 'Redis (SVC_REDIS_URL)',
    config.unix ? 'a port instead of a socket (SVC_UNIX)' : [],
    servesApi(config) ? [] : 'the role api (SVC_ROLES)',
  ].flat()
  if (!missing.length) return
  throw new ConfigError([
    `SVC_WORKERS is ${config.workers}, but several processes on one port also need ${missing.join(', ')}. Add it, or set SVC_WORKERS=1.`,
  ])
}

export const servesApi = (config: Pick<Shared, 'roles'>): boolean => has(config, 'api')

/** Kinds of jobs that deliver to webhooks. */
const DELIVERS = /^webhooks\.(steady|slow)$/

/** Returns a test for the kinds of jobs that this process takes. */
export const takesJobs =
  (config: Pick<Shared, 'roles'>) =>
  (kind: string): boolean =>
    has(config, DELIVERS.test(kind) ? 'deliveries' : 'jobs')

/** Roles that some process must have, or jobs wait forever. The browser role is optional. */
export const NEEDED = ['api', 'jobs', 'deliveries'] as const satisfies Role[]

const serverSettings = {
  port: setting({
    env: 'SVC_PORT',
    schema: t.Integer({ minimum: 0, maximum: 65_535 }),
    default: 3400,
    about: 'Port of the API; 0 picks a free one.',
  }),
  host: setting({
    env: 'SVC_HOST',
    schema: t.String({
      pattern: form('^[^\\s[\\]/]+$', 'an address without brackets, such as 127.0.0.1, 0.0.0.0 or ::1'),
    }),
    default: '127.0.0.1',
    about: 'Address the API listens on.',
  }),
  healthPort: setting({
    env: 'SVC_HEALTH_PORT',
    schema: t.Integer({ minimum: 0, maximum: 65_535 }),
    default: 0,
    about: 'Port that answers GET /health and nothing else, for processes without the role api; 0 for none.',
  }),
  unix: setting({
    env: 'SVC_UNIX',
    schema: t.String({ maxLength: 100 }),
    default: '',
    about: 'Path of a Unix socket to listen on instead of the port, for a proxy on this machine.',
  }),
  roles: setting({
    env: 'SVC_ROLES',
    schema: t.String({ pattern: ROLES_PATTERN }),
    default: ROLES.join(','),
    about: 'Roles of this process: api, jobs, deliveries, browser. Other processes on the same Postgres take the rest.',
  }),
  workers: setting({
    env: 'SVC_WORKERS',
    schema: t.Integer({ minimum: 1, maximum: 64 }),
    default: 1,
    about: 'Number of processes that answer on the port. More than one needs Linux, Postgres and Redis.',
  }),
  worker: setting({
    env: 'SVC_WORKER',
    schema: t.Integer({ minimum: 0, maximum: 64 }),
    default: 0,
    about: 'Number of this process among them. The first process is 0 and sets it for the others.',
  }),
  dataDir: setting({
    env: 'SVC_DATA_DIR',
    schema: t.String(),
    default: './data',
    about: 'Folder of the database, files, secrets and operator socket.',
  }),
  masterKey: setting({
    env: 'SVC_MASTER_KEY',
    schema: t.String({ maxLength: 4_000 }),
    default: '',
    secret: true,
    about:
      'Key that wraps the secrets in the database, the same on every node: 32 bytes in base64. After a comma an earlier key. Without it they are in secrets.json.',
  }),
  masterKeyFile: setting({
    env: 'SVC_MASTER_KEY_FILE',
    schema: t.String(),
    default: '',
    about: 'File with that key instead, one a line: the first wraps, each is tried.',
  }),
  databaseUrl: setting({
    env: 'SVC_DATABASE_URL',
    schema: t.String({ pattern: form('^$|^postgres(ql)?://', 'an address that begins with postgres://, or empty') }),
    default: '',
    secret: true,
    about: 'postgres:// URL to use instead of the SQLite file.',
  }),
  redisUrl: setting({
    env: 'SVC_REDIS_URL',
    schema: t.String({
      pattern: form('^$|^rediss?://', 'an address that begins with redis:// or rediss://, or empty'),
    }),
    default: '',
    secret: true,
    about: 'redis:// URL through which nodes share rate limits and notify each other.',
  }),
  publicUrl: setting({
    env: 'SVC_PUBLIC_URL',
    schema: t.String({ pattern: PUBLIC_URL }),
    default: '',
    about: 'Canonical origin of this server; its apex host answers 307 to it.',
  }),
  drainSeconds: setting({
    env: 'SVC_DRAIN_S',
    schema: t.Union([t.Integer({ minimum: 0, maximum: 300 }), t.Literal('auto')]),
    default: 'auto',
    about: 'Seconds for which GET /health announces a stop before requests are refused; auto: 5 in production, else 0.',
  }),
  egressAllow: setting({
    env: 'SVC_EGRESS_ALLOW',
    schema: t.String(),
    default: '',
    about: 'Private CIDRs, separated by commas, that outgoing calls may reach (development and tests).',
  }),
  trustedProxies: setting({
    env: 'SVC_TRUSTED_PROXIES',
    schema: t.String(),
    default: '',
    about: 'CIDRs of your own proxies, separated by commas. Only their forwarded headers are trusted.',
  }),
  callsKeepDays: setting({
    env: 'SVC_CALLS_KEEP_DAYS',
    schema: t.Union([t.Literal(0), t.Integer({ minimum: 90, maximum: 36_500 })]),
    default: 0,
    about: 'Days after which calls are archived and deleted, in whole months; at least 90, or 0 for never.',
  }),
  logLevel: setting({
    env: 'SVC_LOG_LEVEL',
    schema: oneOf(LOG_LEVELS),
    default: 'info',
    about: 'Lowest level that is logged.',
  }),
  logFormat: setting({
    env: 'SVC_LOG_FORMAT',
    schema: oneOf(['auto', 'pretty', 'json']),
    default: 'auto',
    about: 'pretty or json. By default pretty on a terminal and JSON lines elsewhere.',
  }),
  ...otelSettings,
  migrate: setting({
    env: 'SVC_MIGRATE',
    schema: oneOf(['auto', 'check', 'off']),
    default: 'auto',
    about: 'What to do with missing migrations at start: auto applies them, check refuses to start, off ignores them.',
  }),
  failpoint: setting({
    env: 'SVC_FAILPOINT',
    schema: t.String({ pattern: FAILPOINT_PATTERN }),
    default: '',
    about: 'End the process at a named instant, `name` or `name:nth` (tests only).',
  }),
} as const

/** Every setting of the server, each declared in its module (docs/design.md 10). */
export const SETTINGS = {
  ...serverSettings,
  ...httpSettings,
  ...jobSettings,
  ...formatSettings,
  ...fileSettings,
  ...authSettings,
  ...orgSettings,
  ...keySettings,
  ...preferenceSettings,
  ...rateLimitSettings,
  ...billingSettings,
  ...eventSettings,
  ...webhookSettings,
  ...widgetSettings,
  ...documentSettings,
  ...engineSettings,
  ...builtinSettings,
  ...guardrailSettings,
  ...webSettings,
  ...audioSettings,
  ...mediaSettings,
  ...toolSettings,
  ...skillSettings,
  ...browserSettings,
  ...canvasSettings,
  ...voiceSettings,
  ...workflowSettings,
  ...hookSettings,
  ...mailSettings,
  ...completionSettings,
  ...operatorSettings,
  ...referenceSettings,
}

export type Config = Values<typeof SETTINGS> & {
  readonly production: boolean
  readonly origins: Readonly<Record<string, Origin>>
  readonly file: string | null
}

export type ConfigOverrides = Partial<Values<typeof SETTINGS>> & {
  production?: boolean
  configFile?: string
  /** Environment that locates the user's own settings. Default: that of this process. */
  userEnv?: Record<string, string | undefined>
}

/** Path of the configuration file, whether or not it exists. */
export const configPath = (path?: string): string => resolve(path ?? (Bun.env.SVC_CONFIG || 'svc.server.json'))

/** Path of the user's own settings, which apply to every server they start. Null without a home folder. */
export function userConfigPath(env: Record<string, string | undefined>): string | null {
  const folder = userFolder(env)
  return folder && join(folder, 'svc.server.json')
}

/**
 * Loads the configuration. Overrides (command-line flags) win over the environment, the environment over the file, and
 * the file over the user's own file.
 */
export function loadConfig(overrides: ConfigOverrides = {}): Config {
  const { production, configFile, userEnv = Bun.env, ...flags } = overrides
  const path = configPath(configFile)
  const found = existsSync(path)
  if (configFile && !found)
    throw new ConfigError([`There is no configuration file ${path}. Create it with svc-admin config set NAME VALUE.`])
  const user = userConfigPath(userEnv)
  const below = user && existsSync(user) ? readFile(user) : {}
  const own = found ? readFile(path) : {}
  const { values, origins } = resolveSettings(SETTINGS, Bun.env, { ...below, ...own })
  for (const name of Object.keys(below) as (keyof typeof SETTINGS)[])
    if (origins[name] === 'file' && !(name in own)) origins[name] = 'user file'
  const config: Config = {
    ...values,
    ...flags,
    production: production ?? Bun.env.NODE_ENV === 'production',
    origins,
    file: found ? path : null,
  }
  const settled = { ...config, dataDir: resolve(config.dataDir), unix: config.unix && resolve(config.unix) }
  assertRoles(settled)
  return has(settled, 'browser') ? settled : { ...settled, browserPath: 'off', browserWsEndpoint: '' }
}

/** The environment that gives a process these settings. */
export function environmentWith({ production, configFile, userEnv: _, ...settings }: ConfigOverrides) {
  const variables = Object.entries(settings).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [[SETTINGS[name as keyof typeof SETTINGS].env, typeof value === 'object' ? JSON.stringify(value) : `${value}`]],
  )
  if (production !== undefined) variables.push(['NODE_ENV', production ? 'production' : 'development'])
  if (configFile !== undefined) variables.push(['SVC_CONFIG', resolve(configFile)])
  return { ...Bun.env, ...(Object.fromEntries(variables) as Record<string, string>) }
}

/** A setting as `explain` shows it. */
export type Explained = { name: string; value: string; origin: string; env: string; default: string; about: string }

/** Every setting with its value and origin. Secrets only show if they are set. Hides passwords in addresses. */
export const explain = (config: Config): Explained[] =>
  Object.entries<Setting>(SETTINGS).map(([name, { env, about, secret, default: fallback }]) => ({
    name,
    value: shown(config[name as keyof typeof SETTINGS], secret),
    origin: config.origins[name] ?? 'default',
    env,
    default: shown(fallback, false),
    about,
  }))

function shown(value: unknown, secret: boolean | undefined): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (secret) return value === '' || /^\{("\w+":\{\},?)*\}$/.test(text) ? 'not set' : 'set, not shown'
  return withoutUserInfo(text)
}

function readFile(path: string): Record<string, unknown> {
  const found = parsed(path)
  if (typeof found === 'object' && found !== null && !Array.isArray(found)) return found as Record<string, unknown>
  throw new ConfigError([`${path} must contain an object with settings, for example {"port": 3400}.`])
}

function parsed(path: string): unknown {
  try {
    return Bun.JSONC.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new ConfigError([`${path} is not valid JSON: ${(error as Error).message}`])
  }
}

/**
 * The origin for browsers: the public address, else the address listened on. A browser cannot open 0.0.0.0 or [::], so
 * 127.0.0.1 replaces them.
 */
export function originOf({ publicUrl, host, port }: Config, url: string | null): string {
  if (publicUrl) return publicUrl.replace(/\/$/, '')
  const bound = url || `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  return bound.replace(/\/\/(0\.0\.0\.0|\[::\]):/, '//127.0.0.1:')
}

/** On SQLite a data folder has only one process, so no other process could take an omitted role. */
function assertRoles(config: Shared): void {
  const missing = NEEDED.filter((role) => !has(config, role))
  if (!missing.length || config.databaseUrl) return
  throw new ConfigError([
    `SVC_ROLES leaves out ${missing.join(' and ')}. Other processes can take these roles only if they share a Postgres database. Set SVC_DATABASE_URL, or name all of ${ROLES.join(', ')}.`,
  ])
}
