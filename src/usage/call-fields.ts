import type { usageRecords } from './table'

/** The columns read wherever calls are counted or shown. */
export const callFields = (t: typeof usageRecords.sqlite) => ({
  id: t.id,
  owner: t.owner,
  at: t.at,
  api_key_id: t.api_key_id,
  mode: t.mode,
  resolved_mode: t.resolved_mode,
  model: t.model,
  status: t.status,
  prompt_tokens: t.prompt_tokens,
  completion_tokens: t.completion_tokens,
  cost_micro: t.cost_micro,
  cached: t.cached,
  latency_ms: t.latency_ms,
})

/** Further columns that benchmarks need. */
export const speedFields = (t: typeof usageRecords.sqlite) => ({
  ttft_ms: t.ttft_ms,
  classified_us: t.classified_us,
  fallback_used: t.fallback_used,
})
