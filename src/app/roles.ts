import { ConfigError } from '../kernel/config'
import { form } from '../kernel/form'

/** What a process may do, so that several on one database share the work (dx 2.8). */
export const ROLES = ['api', 'jobs', 'deliveries', 'browser'] as const
type Role = (typeof ROLES)[number]

export const ROLES_PATTERN = form(
  `^(${ROLES.join('|')})(,(${ROLES.join('|')}))*$`,
  `one or more of ${ROLES.join(', ')}, separated by commas without spaces`,
)

type Shared = { roles: string; databaseUrl: string }

const has = ({ roles }: Pick<Shared, 'roles'>, role: Role): boolean => roles.split(',').includes(role)

export const servesApi = (config: Pick<Shared, 'roles'>): boolean => has(config, 'api')
export const servesBrowser = (config: Pick<Shared, 'roles'>): boolean => has(config, 'browser')

/** Kinds of jobs that deliver to webhooks. */
const DELIVERS = /^webhooks\.(steady|slow)$/

/** Which kinds of jobs a process takes. */
export const takesJobs =
  (config: Pick<Shared, 'roles'>) =>
  (kind: string): boolean =>
    has(config, DELIVERS.test(kind) ? 'deliveries' : 'jobs')

/** What some process must do, or orders wait; a server may be without a browser. */
export const NEEDED = ['api', 'jobs', 'deliveries'] as const satisfies Role[]

/** On SQLite a data folder has one process, so what that leaves out nobody would do. */
export function assertRoles(config: Shared): void {
  const left = NEEDED.filter((role) => !has(config, role))
  if (!left.length || config.databaseUrl) return
  throw new ConfigError([
    `SVC_ROLES leaves out ${left.join(' and ')}. Other processes can take these roles only if they share a Postgres database. Set SVC_DATABASE_URL, or name all of ${ROLES.join(', ')}.`,
  ])
}
