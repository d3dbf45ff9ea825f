import { JobId } from '../jobs/schema'
import { JsonObject, nullable, oneOf, type Static, t } from '../kernel/schema'

/** Parts of native answers and of chat completions (contract 2.2, 4). */

export const ModelRef = t.Object({ id: t.String(), label: t.String(), engine: t.String() }, { $id: 'ModelRef' })
export type ModelRef = Static<typeof ModelRef>

export const FollowUp = t.Object({ label: t.String(), prompt: t.String() }, { $id: 'FollowUp' })
export type FollowUp = Static<typeof FollowUp>

export const ToolUse = t.Object(
  {
    name: t.String(),
    status: oneOf(['success', 'error', 'awaiting_approval'] as const),
    description: t.String(),
    arguments: t.Optional(JsonObject),
    result: t.Optional(t.Unknown()),
  },
  { $id: 'ToolUse' },
)
export type ToolUse = Static<typeof ToolUse>

export const Usage = t.Object(
  {
    cost_cents: t.Number(),
    prompt_tokens: t.Integer(),
    completion_tokens: t.Integer(),
    total_tokens: t.Integer(),
    cached: t.Optional(t.Literal(true)),
  },
  { $id: 'Usage' },
)
export type Usage = Static<typeof Usage>

export const Routing = t.Object(
  {
    source: oneOf(['explicit', 'rule', 'heuristic', 'local', 'classifier', 'default'] as const),
    confidence: nullable(t.Number()),
    reasoning: nullable(t.String()),
    preference_id: nullable(t.String()),
    fallback_used: t.Boolean(),
  },
  { $id: 'Routing' },
)
export type Routing = Static<typeof Routing>

export const SkillActive = t.Object(
  { id: t.String(), slug: t.String(), name: t.String(), intensity: t.Optional(t.Number({ minimum: 0, maximum: 1 })) },
  { $id: 'SkillActive' },
)
export type SkillActive = Static<typeof SkillActive>

export const StructuredOutput = t.Object(
  { type: t.String(), data: t.Unknown(), parse_error: t.Optional(t.String()) },
  { $id: 'StructuredOutput' },
)
export type StructuredOutput = Static<typeof StructuredOutput>

/** The job that goes on with what a request began (contract 2.4). */
export const JobHandle = t.Object(
  { job_id: JobId.schema, status: t.Literal('queued'), poll_url: t.String() },
  { $id: 'JobHandle' },
)
export type JobHandle = Static<typeof JobHandle>
