import { Price } from '../billing/schema'
import { ALIAS_NAME, Alias, type HEALTH_WINDOWS, UPSTREAM_KINDS, UPSTREAM_SETTINGS } from '../engines'
import { form } from '../kernel/form'
import { nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'

const SOURCES = ['here', 'file', 'environment'] as const

/** One target of a service engine. Tenants never see it. */
export const EngineTarget = t.Object({
  id: t.String({ description: 'The service engine id' }),
  mode: t.String(),
  target: nullable(t.String({ description: 'upstream:model; null if nothing answers the mode' })),
  kind: nullable(t.String()),
  rank: t.Integer({ description: 'Order of use: 1 is asked first, higher ranks when lower ones fail' }),
  state: oneOf(['ready', 'trying', 'failing', 'unreachable', 'off', 'none'] as const),
  address: nullable(t.String({ description: 'Address of the upstream' })),
  status: nullable(oneOf(['available', 'degraded', 'down'] as const, { description: 'The status in GET /models' })),
  why: nullable(t.String({ description: 'The problem; null if there is none' })),
  source: nullable(oneOf(SOURCES, { description: 'Where the upstream is set: here while servers run, or in a file' })),
  editable: t.Boolean({ description: 'It is set here, so it can be changed here' }),
  in_flight: nullable(t.Integer({ description: 'Calls of this process that have not ended' })),
  overrides: nullable(oneOf(SOURCES, { description: 'Where an unused upstream with the same name is set' })),
  problem: nullable(
    t.String({ description: 'Problem of the upstream when it was tested just now; null if it answered' }),
  ),
})
export type EngineTarget = Static<typeof EngineTarget>
export const EngineList = t.Object({ engines: t.Array(EngineTarget) })

export const EngineHealthQuery = t.Object({
  window: oneOf(['1h', '24h', '7d'] as const satisfies (keyof typeof HEALTH_WINDOWS)[], { default: '24h' }),
})
const Series = t.Array(t.Integer())
const Percentiles = t.Array(nullable(t.Integer({ description: 'Milliseconds; null without answered calls' })))
/** Call statistics of an upstream, as seen by the answering process since its start. */
export const EngineHealth = t.Object({
  window: t.String(),
  buckets: t.Array(Timestamp, { description: 'Start of each bucket, oldest first' }),
  ...{ calls: Series, errors: Series, p50: Percentiles, p95: Percentiles },
  last_error: nullable(t.Object({ at: Timestamp, message: t.String() })),
})
export type EngineHealth = Static<typeof EngineHealth>

export const EngineTestQuery = t.Object({
  upstream: t.Optional(t.String({ maxLength: 64 })),
  mode: t.Optional(t.String({ maxLength: 64, description: 'Only targets that answer this mode or engine id' })),
})
export type EngineTestQuery = Static<typeof EngineTestQuery>

export const EngineTest = t.Object({
  id: t.String({ description: 'upstream:model' }),
  kind: t.String(),
  ok: t.Boolean(),
  checks: t.Array(t.Object({ check: t.String(), ok: t.Boolean(), latency_ms: t.Integer(), detail: t.String() })),
})
export type EngineTest = Static<typeof EngineTest>
export const EngineTests = t.Object({ tests: t.Array(EngineTest) })

/** Maximum number of models per upstream. */
export const MAX_MODELS = 20

/** Body of `POST /ops/v1/engines`. The key is encrypted at rest. */
export const NewEngine = t.Object({
  name: t.String({
    pattern: form(
      '^[a-z0-9][a-z0-9-]{0,31}$',
      'at most 32 lower-case letters, digits and hyphens, not starting with a hyphen',
    ),
  }),
  kind: oneOf(UPSTREAM_KINDS),
  base_url: t.Optional(t.String({ pattern: form('^https?://[^\\s]+$', 'an http or https address') })),
  models: t.Optional(
    t.Array(t.String({ minLength: 1, maxLength: 200 }), {
      minItems: 1,
      maxItems: MAX_MODELS,
      description: 'Best first; without it, every model that the upstream lists',
    }),
  ),
  api_key: t.Optional(t.String({ minLength: 1, maxLength: 4_096 })),
  settings: t.Optional(
    t.Object(UPSTREAM_SETTINGS, { description: 'As in the `settings` of an upstream in svc.server.json' }),
  ),
  test: t.Boolean(),
})
export type NewEngine = Static<typeof NewEngine>

/**
 * Body of `PATCH /ops/v1/engines/{name}`. Omitted members stay unchanged, null removes a setting. `copy` copies an
 * upstream of a file or the environment into the database, so that it can be changed.
 */
export const EnginePatch = t.Object({
  copy: t.Optional(t.Boolean()),
  base_url: t.Optional(NewEngine.properties.base_url),
  api_key: t.Optional(NewEngine.properties.api_key),
  settings: t.Optional(
    t.Object(
      Object.fromEntries(
        Object.entries(UPSTREAM_SETTINGS).map(([name, schema]) => [name, t.Optional(nullable(schema))]),
      ),
    ),
  ),
  test: t.Boolean(),
})
export type EnginePatch = Static<typeof EnginePatch>

/** The price of an engine, in micro-cents (millionths of a cent). */
export const EnginePrice = t.Object({
  id: t.String(),
  mode: nullable(t.String()),
  price: Price,
  set_by: oneOf(['here', 'SVC_PRICES', 'upstream', 'built in'] as const),
  sample: t.String({ description: 'The sample request of sample_cents' }),
  sample_cents: t.Number(),
  before_cents: nullable(t.Number({ description: 'The value before this change; null for a read' })),
})
export type EnginePrice = Static<typeof EnginePrice>
export const EnginePrices = t.Object({
  prices: t.Array(EnginePrice),
  saved_to: nullable(t.String({ description: '"database"; null for a read and a try' })),
})
export type EnginePrices = Static<typeof EnginePrices>

/** Body of `PUT /ops/v1/engines/prices`. Omitted members stay unchanged. Null restores the engine's default price. */
export const NewPrices = t.Object({
  prices: t.Record(t.String({ pattern: '^[\\s\\S]{1,64}$' }), nullable(Price), { additionalProperties: false }),
  dry_run: t.Optional(t.Boolean()),
})
export type NewPrices = Static<typeof NewPrices>

export const RemovedEngine = t.Object({ object: t.Literal('engine'), name: t.String(), removed_from: t.String() })
export type RemovedEngine = Static<typeof RemovedEngine>

/** Body of `PUT /ops/v1/engines/aliases`: a name that clients use for an engine (docs/api.md 32.2). */
export const NewEngineAlias = t.Object({
  name: t.String({ pattern: form(ALIAS_NAME, 'a name without spaces, which may end in *') }),
  ...Alias.properties,
})
export type NewEngineAlias = Static<typeof NewEngineAlias>

export const EngineAlias = t.Object({
  name: t.String(),
  engine: t.String(),
  listed: t.Boolean(),
  set_in: t.String({ description: '"database", or "modelAliases" for one of svc.server.json or the environment' }),
})
export type EngineAlias = Static<typeof EngineAlias>
export const EngineAliases = t.Object({ aliases: t.Array(EngineAlias) })

export const AcceptedVectors = t.Object({
  object: t.Literal('vector_space'),
  engine: t.Literal('svc-1-embed'),
  was_model: nullable(t.String()),
  was_length: nullable(t.Integer()),
  model: nullable(t.String({ description: 'The model that makes the vectors now; null without an upstream' })),
})

/** Body of `PUT /ops/v1/engines/map/{mode}`. */
export const EngineMap = t.Object({
  targets: t.Array(
    t.String({ pattern: form('^[a-z0-9-]+:.+$', 'an engine and its model, such as main:big-model'), maxLength: 250 }),
    {
      maxItems: 20,
      description: 'name:model, best first; an empty list leaves the mode to the targets of all text modes',
    },
  ),
})
export type EngineMap = Static<typeof EngineMap>

export const MappedEngine = t.Object({
  object: t.Literal('engine_map'),
  id: t.String(),
  targets: t.Array(t.String()),
  saved_to: t.String(),
})
export type MappedEngine = Static<typeof MappedEngine>

export const AddedEngine = t.Object({
  object: t.Literal('engine'),
  name: t.String(),
  kind: t.String(),
  models: t.Array(t.String()),
  modes: t.Array(t.String(), { description: 'Modes it answers' }),
  saved_to: nullable(t.String({ description: '"database"; null if a test failed and nothing was saved' })),
  tests: t.Array(EngineTest),
})
export type AddedEngine = Static<typeof AddedEngine>
