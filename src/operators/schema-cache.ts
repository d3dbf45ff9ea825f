import { nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'

const Ref = t.String({ minLength: 1, maxLength: 320 })
const Count = t.Integer({ minimum: 0 })

/** The answer cache of this process, and its hits since the process started. */
export const CacheStats = t.Object({
  object: t.Literal('cache'),
  enabled: t.Boolean(),
  entries: Count,
  bytes: Count,
  max_bytes: Count,
  hits: Count,
  misses: Count,
  hit_rate: t.Number(),
  saved_cents: t.Number(),
  by_mode: t.Array(t.Object({ mode: t.String(), entries: Count, hits: Count })),
})
export type CacheStats = Static<typeof CacheStats>

/** Filters: org or user, key, mode; all given ones must match. */
const choice = { owner: t.Optional(Ref), key: t.Optional(Ref), mode: t.Optional(t.String({ maxLength: 64 })) }

export const CacheQuestion = t.Object({ prompt: t.String({ minLength: 1, maxLength: 1_000_000 }), ...choice })
export type CacheQuestion = Static<typeof CacheQuestion>

const CachedAnswer = t.Object({
  completion_id: t.String(),
  owner: t.String(),
  key_id: nullable(t.String()),
  mode: t.String(),
  model: t.String(),
  hits: Count,
  created: Timestamp,
  expires: Timestamp,
  cost_cents: t.Number(),
})

export const CacheFinding = t.Object({
  object: t.Literal('cache_finding'),
  verdict: oneOf(['hit', 'miss'] as const),
  /** One sentence. */
  why: t.String(),
  answers: t.Array(CachedAnswer),
})
export type CacheFinding = Static<typeof CacheFinding>

const PURGE_SCOPES = ['org', 'key', 'mode', 'all'] as const
/** `name` is the org or user, key or mode; not used with `all`. */
export const CachePurge = t.Object({ scope: oneOf(PURGE_SCOPES), name: t.Optional(Ref) })
export type CachePurge = Static<typeof CachePurge>

export const CachePurged = t.Object({ object: t.Literal('cache_purge'), purged: Count })
export type CachePurged = Static<typeof CachePurged>
