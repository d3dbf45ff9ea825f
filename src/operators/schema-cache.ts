import { nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'

const Ref = t.String({ minLength: 1, maxLength: 320 })
const Count = t.Integer({ minimum: 0 })

/** What this process remembers of answers, and how often that helped since it began. */
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

/** Whose answers: an org or a user, a key, a mode; all that is given must fit. */
const choice = { owner: t.Optional(Ref), key: t.Optional(Ref), mode: t.Optional(t.String({ maxLength: 64 })) }

export const CacheQuestion = t.Object({ prompt: t.String({ minLength: 1, maxLength: 1_000_000 }), ...choice })
export type CacheQuestion = Static<typeof CacheQuestion>

export const CachedAnswer = t.Object({
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
  /** A sentence. */
  why: t.String(),
  answers: t.Array(CachedAnswer),
})
export type CacheFinding = Static<typeof CacheFinding>

export const PURGE_SCOPES = ['org', 'key', 'mode', 'all'] as const
/** `name` is the org or user, the key or the mode; `all` has none. */
export const CachePurge = t.Object({ scope: oneOf(PURGE_SCOPES), name: t.Optional(Ref) })
export type CachePurge = Static<typeof CachePurge>

export const CachePurged = t.Object({ object: t.Literal('cache_purge'), purged: Count })
export type CachePurged = Static<typeof CachePurged>
