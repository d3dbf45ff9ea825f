import { nullable, oneOf, RequestId, type Static, Timestamp, t } from '../kernel/schema'

const PROBE_STATES = ['healthy', 'degraded', 'down', 'unconfigured'] as const
export const Probe = t.Object(
  { status: oneOf(PROBE_STATES), latencyMs: nullable(t.Number({ description: 'null if it could not be measured' })) },
  { $id: 'Probe' },
)
export type Probe = Static<typeof Probe>

export const Health = t.Object(
  {
    status: oneOf(['healthy', 'degraded', 'down'] as const),
    timestamp: Timestamp,
    version: t.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
    providers: t.Record(t.String(), Probe),
    infrastructure: t.Object({ database: Probe, redis: Probe }),
    request_id: RequestId,
  },
  { $id: 'Health' },
)
/** The response of a server that is about to stop (docs/api.md 21). */
export const Draining = t.Object(
  {
    status: oneOf(['draining'] as const),
    timestamp: Timestamp,
    version: Health.properties.version,
    request_id: RequestId,
  },
  { $id: 'Draining' },
)

export type Draining = Omit<Static<typeof Draining>, 'request_id'>
export type Health = Omit<Static<typeof Health>, 'request_id'>
