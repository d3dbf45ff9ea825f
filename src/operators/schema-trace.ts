import { JsonObject, nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'

export const TraceQuery = t.Object({
  owner: t.Optional(t.String({ maxLength: 320, description: 'Owner of the request, if no process has it in memory' })),
  since: t.Optional(Timestamp),
})
export type TraceQuery = Static<typeof TraceQuery>

/** Answer of `GET /ops/v1/requests/{ref}`. */
export const RequestTrace = t.Object({
  object: t.Literal('trace'),
  id: t.String(),
  owner: nullable(t.String()),
  request: nullable(
    t.Object({
      id: t.String(),
      at: Timestamp,
      method: t.String(),
      path: t.String(),
      status: t.Integer(),
      ms: t.Number(),
      key: nullable(t.String()),
      user: nullable(t.String()),
      code: nullable(t.String()),
    }),
  ),
  steps: t.Array(
    t.Object({
      kind: oneOf(['stage', 'engine', 'tool', 'settled'] as const),
      name: t.String(),
      at: Timestamp,
      ms: t.Number(),
      facts: JsonObject,
    }),
  ),
  ledger: t.Array(
    t.Object({
      ref: t.String(),
      kind: t.String(),
      amount_cents: t.Number(),
      balance_cents: t.Number(),
      at: Timestamp,
      note: nullable(t.String()),
    }),
  ),
  audit: t.Array(
    t.Object({
      id: t.String(),
      action: t.String(),
      entity_type: t.String(),
      entity_id: nullable(t.String()),
      at: Timestamp,
      output: JsonObject,
    }),
  ),
})
export type RequestTrace = Static<typeof RequestTrace>
