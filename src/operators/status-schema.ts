import { OPERATOR_ROLES } from '../kernel/caller'
import { namedObject, nullable, oneOf, RequestId, type Static, Timestamp, t } from '../kernel/schema'

export const Status = t.Object({
  object: t.Literal('status'),
  version: t.String(),
  mode: oneOf(['dev', 'production'] as const),
  health: oneOf(['healthy', 'degraded', 'down'] as const),
  api_url: nullable(t.String()),
  public_url: nullable(t.String()),
  data_dir: t.String(),
  pid: t.Integer(),
  started_at: Timestamp,
  now: Timestamp,
  database: t.Object({
    dialect: oneOf(['sqlite', 'postgres'] as const),
    place: t.String(),
    ok: t.Boolean(),
    latency_ms: nullable(t.Number()),
    /** Null while the database does not respond. */
    migrations_applied: nullable(t.Integer()),
    migrations_known: nullable(t.Integer()),
    risks: t.Array(t.String(), { description: 'Settings under which it may lose what it acknowledged' }),
  }),
  /** Null when no Redis is configured. */
  redis: nullable(
    t.Object({
      ok: t.Boolean(),
      latency_ms: nullable(t.Number()),
      problem: nullable(t.String()),
      evicts: nullable(
        t.String({ description: 'Policy by which it removes counts of rate limits if its memory is full' }),
      ),
    }),
  ),
  nodes: t.Object({
    count: t.Integer(),
    unserved: t.Array(t.String(), { description: 'Roles that no process has' }),
    scattered_files: t.Boolean({ description: 'Nodes store files where the other nodes cannot read them' }),
    clock_ahead_ms: t.Integer({
      description: 'How far the clock of this node is ahead of that of the database; negative if it is behind',
    }),
    clocks_apart_ms: t.Integer({ description: 'The largest difference between the clocks of two nodes' }),
  }),
  engines: t.Object({ connected: t.Integer(), builtin: t.Integer(), failing: t.Integer() }),
  operator: t.Object(
    { name: t.String(), role: oneOf(OPERATOR_ROLES) },
    { description: 'The operator, and their permissions' },
  ),
})
export type Status = Static<typeof Status>

const PROBE_STATES = ['healthy', 'degraded', 'down', 'unconfigured'] as const
export const Probe = namedObject('Probe', {
  status: oneOf(PROBE_STATES),
  latencyMs: nullable(t.Number({ description: 'null if it could not be measured' })),
})
export type Probe = Static<typeof Probe>

export const Health = namedObject('Health', {
  status: oneOf(['healthy', 'degraded', 'down'] as const),
  timestamp: Timestamp,
  version: t.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  providers: t.Record(t.String(), Probe),
  infrastructure: t.Object({ database: Probe, redis: Probe }),
  request_id: RequestId,
})
/** The response of a server that is about to stop (docs/api.md 21). */
export const Draining = namedObject('Draining', {
  status: oneOf(['draining'] as const),
  timestamp: Timestamp,
  version: Health.properties.version,
  request_id: RequestId,
})

export type Draining = Omit<Static<typeof Draining>, 'request_id'>
export type Health = Omit<Static<typeof Health>, 'request_id'>
