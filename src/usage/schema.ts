import { RECORDED_MODES } from '../kernel/caller'
import { form } from '../kernel/form'
import { PageQuery } from '../kernel/page'
import { RangeQuery } from '../kernel/range'
import { JsonObject, namedObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'

/** Limits of an export (docs/api.md 18.1) and the longest span of a report. */
export const EXPORT_DAYS = 92
export const REPORT_DAYS = 366

const BENCHMARK_WINDOWS = ['24h', '7d', '30d'] as const

export type BenchmarkWindow = (typeof BENCHMARK_WINDOWS)[number]

export const BenchmarkQuery = t.Object({ window: oneOf(BENCHMARK_WINDOWS, { default: '24h' }) })

const Count = t.Integer({ minimum: 0 })

const Ms = t.Number({ minimum: 0 })

const Latency = namedObject('BenchmarkLatency', { p50: Ms, p95: Ms, p99: Ms, count: Count })

const Speed = namedObject('BenchmarkSpeed', { p50: Ms, p95: Ms, count: Count })

/** `GET /benchmarks` (docs/api.md 21). Durations in milliseconds. */
export const Benchmarks = namedObject('Benchmarks', {
  window: oneOf(BENCHMARK_WINDOWS),
  latency_by_mode: t.Record(t.String(), Latency, {
    description:
      'Milliseconds from the request to the end of its answer, by the mode that answered. Includes cached answers, not failed calls',
  }),
  ttft_by_mode: t.Record(t.String(), Speed, {
    description: 'Milliseconds from the request to the first text of a stream, by mode',
  }),
  /** Time to choose the mode of `auto` calls. Null when no mode was chosen automatically. */
  classification: nullable(Speed),
  counters: t.Object({
    total: Count,
    failover_count: t.Integer({
      minimum: 0,
      description: 'Calls answered by a fallback engine instead of the first choice',
    }),
    routing_accuracy: t.Number({
      minimum: 0,
      maximum: 1,
      description:
        'Share of answered `auto` calls whose mode was not corrected with a routing correction for their completion; 1 without such calls',
    }),
    total_tokens: Count,
    total_cost_cents: t.Number(),
    by_mode: t.Record(t.String(), Count),
  }),
  bucket: t.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}$',
    description: 'The current hour in UTC, the newest of the window',
  }),
})

export type Benchmarks = Static<typeof Benchmarks>

const USAGE_SCOPES = ['user', 'org'] as const
export type UsageScope = (typeof USAGE_SCOPES)[number]

/** Filters of the report and of the export (docs/api.md 18.1). */
export const UsageQuery = t.Object({
  ...RangeQuery.properties,
  scope: t.Optional(
    oneOf(USAGE_SCOPES, {
      description:
        "`user`: your own calls; `org`: your active organization's. Default: `org` if one is active, else `user`",
    }),
  ),
  key_id: t.Optional(t.String({ minLength: 1, maxLength: 64 })),
  mode: t.Optional(
    oneOf<readonly string[]>(RECORDED_MODES, {
      description: 'Only calls that requested this mode or were answered in it',
    }),
  ),
  skill: t.Optional(t.String({ minLength: 1, maxLength: 128 })),
})
export type UsageQuery = Static<typeof UsageQuery>

/** `csv` and `json`, and `jsonl`: the same rows, one JSON object per line (docs/api.md 18.1). */
const EXPORT_FORMATS = ['csv', 'json', 'jsonl'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

const Part = namedObject('UsagePart', { requests: Count, cost_cents: t.Number() })
const Parts = t.Record(t.String(), Part)

const breakdown = {
  totals: t.Object({
    requests: Count,
    prompt_tokens: Count,
    completion_tokens: Count,
    total_tokens: Count,
    cost_cents: t.Number(),
  }),
  by_mode: t.Record(t.String(), Part, {
    description: 'By the mode that answered; `auto` counts the calls for which no mode was chosen',
  }),
  by_model: Parts,
  by_skill: t.Record(t.String(), Part, { description: 'By skill slug; a call with two skills counts for both' }),
  by_day: t.Array(t.Object({ date: t.String(), requests: Count, total_tokens: Count, cost_cents: t.Number() }), {
    description: 'UTC days with calls, oldest first',
  }),
  latency_ms: t.Object(
    { p50: t.Number(), p95: t.Number(), p99: t.Number() },
    { description: 'Nearest-rank percentiles in milliseconds, less than 1 % off; 0 without calls' },
  ),
  cache: t.Object({
    hits: Count,
    misses: Count,
    hit_rate: t.Number({ description: 'Hits as a share of the answered calls, 0 to 1; 0 without calls' }),
  }),
  errors: t.Object(
    { '4xx': Count, '5xx': Count },
    {
      description:
        'Calls that ended in an error. `4xx` also counts requests refused before they ran (a bad body, a missing ' +
        'scope, a limit, no credit); these are in no other figure, and in no report filtered by mode or skill',
    },
  ),
}
export const Breakdown = t.Object(breakdown)
export type Breakdown = Static<typeof Breakdown>

/** The part of the balance that expires. */
export const Expiring = t.Array(t.Object({ amount_cents: t.Number(), expires_at: Timestamp }), {
  description: 'Credit that expires, earliest first; it is spent in this order, before all other credit',
})

const Cap = nullable(t.Number({ description: 'Cents; null: no cap' }))

/** `GET /usage` (docs/api.md 18.1). */
export const UsageReport = namedObject('UsageReport', {
  period: t.Object({ from: Timestamp, to: Timestamp }),
  scope: oneOf(USAGE_SCOPES),
  ...breakdown,
  balance: t.Object({
    balance_cents: t.Number(),
    reserved_cents: t.Number(),
    currency: t.Literal('usd'),
    expiring: Expiring,
  }),
  spending: t.Object(
    {
      daily_cap_cents: Cap,
      daily_used_cents: t.Number(),
      monthly_cap_cents: Cap,
      monthly_used_cents: t.Number(),
    },
    { description: 'Spending of the current UTC day and month, independent of the filters' },
  ),
})
export type UsageReport = Static<typeof UsageReport>

/** One call in an export. The fields are in the column order of the CSV (docs/api.md 18.1). */
export const UsageExportRow = namedObject('UsageCall', {
  timestamp: Timestamp,
  request_id: t.String(),
  api_key_id: nullable(t.String()),
  endpoint: t.String(),
  mode: nullable(t.String()),
  resolved_mode: nullable(t.String()),
  model: nullable(t.String()),
  status: t.Integer(),
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  cost_cents: t.Number(),
  cached: t.Boolean(),
  latency_ms: Count,
})
export type UsageExportRow = Static<typeof UsageExportRow>
export const UsageExport = t.Object({ rows: t.Array(UsageExportRow) })

const Word = t.Optional(t.String({ minLength: 1, maxLength: 128 }))
const Flag = t.Optional(t.Boolean())
const Minimum = t.Optional(t.Number({ minimum: 0, maximum: 1_000_000_000 }))

/** Prefix of filters for a member of the request's `metadata`: `metadata.team=search`. */
export const METADATA = 'metadata.'
/** Options of the queries that have such filters. */
export const METADATA_FILTERS = { prefix: METADATA }

/** Filters of single calls. */
export const RequestFilters = t.Object(
  {
    ...UsageQuery.properties,
    status: t.Optional(
      t.String({
        pattern: form('^[1-5](xx|[0-9]{2})$', 'an HTTP status such as 429, or a class of them such as 5xx'),
        description: 'An HTTP status such as 429, or a class of them such as 5xx',
      }),
    ),
    ...{ model: Word, user_id: Word, endpoint: Word, code: Word, tool: Word },
    guardrail: t.Optional(t.String({ minLength: 1, maxLength: 128, description: 'One that fired; `*` for any' })),
    ...{ cached: Flag, stream: Flag, fallback: Flag },
    min_ms: Minimum,
    min_cost_cents: Minimum,
    conversation_id: Word,
    q: t.Optional(t.String({ minLength: 1, maxLength: 64, description: 'A request id, or its first characters' })),
  },
  METADATA_FILTERS,
)
export type RequestFilters = Static<typeof RequestFilters>

export const UsageExportQuery = t.Object(
  {
    ...RequestFilters.properties,
    format: oneOf(EXPORT_FORMATS, { default: 'csv' }),
  },
  METADATA_FILTERS,
)
export type UsageExportQuery = Static<typeof UsageExportQuery>

const SERIES_STEPS = ['5m', '1h', '1d'] as const
export type SeriesStep = (typeof SERIES_STEPS)[number]
const SERIES_GROUPS = [
  ...(['none', 'mode', 'model', 'key', 'user', 'skill', 'endpoint', 'status'] as const),
  ...(['guardrail', 'policy', 'preference'] as const),
] as const
export type SeriesGroup = (typeof SERIES_GROUPS)[number]

/** The filters, grouping and buckets of a series. */
export const SeriesQuery = t.Object(
  {
    ...RequestFilters.properties,
    step: t.Optional(
      oneOf(SERIES_STEPS, {
        description: 'Width of a bucket. Default: `5m` up to a day, `1h` up to 14 days, else `1d`',
      }),
    ),
    timezone: t.Optional(
      t.String({ maxLength: 64, description: 'IANA name; days begin at its midnight. Default: UTC' }),
    ),
    group_by: oneOf(SERIES_GROUPS, {
      default: 'none',
      description:
        'By `guardrail` or `policy`, a series for each that fired and its verdict; other calls are only in the totals',
    }),
    top: t.Integer({ minimum: 1, maximum: 12, default: 6, description: 'Series by cost; the rest is `other`' }),
    compare: t.Optional(oneOf(['previous'] as const, { description: 'Adds the totals of the same time before' })),
  },
  METADATA_FILTERS,
)
export type SeriesQuery = Static<typeof SeriesQuery>

const Figure = nullable(t.Number())
const figures = {
  ...{ requests: Figure, cost_cents: Figure, total_tokens: Figure },
  ...{ errors: Figure, cache_hits: Figure, saved_cents: Figure },
  ...{ p50: Figure, p95: Figure, p99: Figure, ttft_p95: Figure },
}
export type Figures = { [Name in keyof typeof figures]: number | null }

const Series = namedObject(
  'UsageSeriesLine',
  {
    key: t.String(),
    label: t.String(),
    ...(Object.fromEntries(Object.keys(figures).map((name) => [name, t.Array(Figure)])) as {
      [Name in keyof typeof figures]: ReturnType<typeof t.Array<typeof Figure>>
    }),
  },
  { description: 'One figure per bucket; null where it is unknown' },
)
export type Series = Static<typeof Series>

const SeriesTotals = namedObject('UsageSeriesTotals', {
  ...figures,
  ...{ prompt_tokens: Count, completion_tokens: Count, errors_4xx: Count, errors_5xx: Count },
})
export type SeriesTotals = Static<typeof SeriesTotals>

export const UsageSeries = namedObject('UsageSeries', {
  period: t.Object({ from: Timestamp, to: Timestamp }),
  step: oneOf(SERIES_STEPS),
  timezone: t.String(),
  buckets: t.Array(Timestamp, { description: 'When each bucket begins' }),
  known_from: Timestamp,
  series: t.Array(Series, { description: 'By cost, the highest first' }),
  other: nullable(Series),
  totals: SeriesTotals,
  previous_totals: t.Optional(SeriesTotals),
})
export type UsageSeries = Static<typeof UsageSeries>

export const RequestQuery = t.Object(
  {
    ...RequestFilters.properties,
    ...PageQuery.properties,
    limit: t.Integer({ minimum: 1, maximum: 200, default: 50 }),
  },
  METADATA_FILTERS,
)
export type RequestQuery = Static<typeof RequestQuery>

/** One recorded call, without the texts of request and answer. */
export const RequestRow = namedObject('RequestRow', {
  request_id: t.String(),
  timestamp: Timestamp,
  ...{ endpoint: t.String(), method: t.String(), status: t.Integer() },
  code: nullable(t.String({ description: 'The code of the error that it ended with' })),
  mode: nullable(t.String({ description: 'The mode that was asked for' })),
  resolved_mode: nullable(t.String({ description: 'The mode that answered' })),
  model: nullable(t.String()),
  api_key_id: nullable(t.String({ description: 'null for a call of a session' })),
  api_key_name: nullable(t.String()),
  user_id: nullable(t.String()),
  ...{ prompt_tokens: Count, completion_tokens: Count, cost_cents: t.Number() },
  ...{ cached: t.Boolean(), stream: t.Boolean() },
  fallback: t.Boolean({ description: 'A fallback engine answered' }),
  ttft_ms: nullable(t.Integer({ description: 'Milliseconds until the first text of a stream' })),
  latency_ms: Count,
  bytes_in: nullable(t.Integer({ description: 'Bytes of the request; null unless it is kept' })),
  bytes_out: nullable(t.Integer({ description: "Bytes of the answer's text; null unless it is kept" })),
  guardrails: t.Integer({ description: 'Guardrails that fired' }),
  tools: t.Integer({ description: 'Different tools that were used' }),
  conversation_id: nullable(t.String({ description: 'The conversation that its turn was kept in' })),
  metadata: nullable(t.Record(t.String(), t.Unknown(), { description: 'What the request sent as `metadata`' })),
  has_trace: t.Boolean({ description: '`GET /requests/{id}` finds it: it is at most 92 days old' }),
  has_bodies: t.Boolean({ description: '`GET /requests/{id}` has the request and its answer' }),
})
export type RequestRow = Static<typeof RequestRow>

export const RequestPage = pageOf('requests', RequestRow)

export const RequestCount = namedObject('RequestCount', {
  count: Count,
  capped: t.Boolean({ description: 'There may be more: counting stops at 10,000, and after a fraction of a second' }),
})

/** A tool call as the caller of the request saw it. */
export const KeptTool = namedObject('KeptTool', {
  ...{ name: t.String(), status: t.String(), description: t.String() },
  at_ms: nullable(t.Integer({ description: 'Milliseconds after the beginning of the request' })),
  ms: nullable(t.Integer()),
  arguments: t.String({ description: 'As JSON; a longer text than 2,000 characters is cut' }),
  result: t.String({ description: 'Text, or JSON; a longer one than 2,000 characters is cut' }),
})
export type KeptTool = Static<typeof KeptTool>

export const RequestDetail = namedObject('RequestDetail', {
  object: t.Literal('request'),
  request: RequestRow,
  steps: t.Array(
    t.Object({
      kind: oneOf(['stage', 'engine', 'tool'] as const),
      name: t.String(),
      at_ms: t.Number({ description: 'Milliseconds after the beginning of the call' }),
      ms: t.Number(),
      outcome: oneOf(['ok', 'failed'] as const),
      facts: t.Record(t.String(), nullable(t.String())),
    }),
  ),
  completion_id: nullable(t.String({ description: 'The id in the answer' })),
  /** Null when the request named its mode. */
  routing: nullable(
    t.Object({
      source: t.String({
        description: 'What chose the mode: a rule, an example, a signal in the words, the classifier',
      }),
      ...{ confidence: nullable(t.Number()), reasoning: nullable(t.String()), preference_id: nullable(t.String()) },
      skipped: t.Array(t.String(), { description: 'What was passed over, and why' }),
    }),
  ),
  /** The guardrails that fired, with findings that never quote the text. */
  guardrails: t.Array(
    t.Object({ guardrail_id: t.String(), phase: t.String(), verdict: t.String(), detail: t.String() }),
  ),
  guardrail_policy_id: nullable(t.String({ description: 'The policy by which they fired; null where none did' })),
  tools: t.Array(t.String(), { description: 'Different tools that were used' }),
  money: t.Object({
    held_cents: nullable(t.Number({ description: 'Put on hold before the work; null where that is not known' })),
    ...{ charged_cents: t.Number(), released_cents: nullable(t.Number()) },
    reference: nullable(t.String({ description: 'What its entries in the ledger refer to' })),
  }),
  bodies: t.Object({
    kept: t.Boolean({
      description: 'Whether the request and its answer are stored; see keep_bodies of PATCH /settings',
    }),
    until: nullable(Timestamp),
    request: t.Optional(JsonObject),
    response: t.Optional(nullable(t.String({ description: 'The text of the answer' }))),
    tools: t.Optional(t.Array(KeptTool)),
  }),
})
export type RequestDetail = Static<typeof RequestDetail>
