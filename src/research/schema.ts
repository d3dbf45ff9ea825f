import { JobId } from '../jobs/schema'
import { defineId, type Id } from '../kernel/ids'
import { oneOf, type Static, Timestamp, t } from '../kernel/schema'

export const ResearchId = defineId('research', 'res')
export type ResearchId = Id<'research'>

const DEPTHS = ['basic', 'advanced'] as const
export type Depth = (typeof DEPTHS)[number]

export const DEFAULT_SOURCES = 10
const MAX_SOURCES = 50

/** Body of `POST /research` (docs/api.md 7). */
export const ResearchInput = t.Object({
  prompt: t.Optional(
    t.String({
      maxLength: 100_000,
      description: 'The question; sources are read from the addresses and artifact ids in it',
    }),
  ),
  depth: t.Optional(oneOf(DEPTHS, { default: 'advanced' })),
  max_sources: t.Optional(
    t.Integer({
      minimum: 1,
      maximum: MAX_SOURCES,
      default: DEFAULT_SOURCES,
      description: 'Maximum number of sources',
    }),
  ),
})
export type ResearchInput = Static<typeof ResearchInput>

/** A job handle. The work continues after the response. */
export const ResearchAccepted = t.Object({
  id: ResearchId.schema,
  object: t.Literal('research'),
  job_id: JobId.schema,
  status: t.Literal('queued'),
  created: Timestamp,
  poll_url: t.String(),
})
export type ResearchAccepted = Static<typeof ResearchAccepted>

/** The result of checking a report against its snapshots. */
export const Verification = t.Object({
  job_id: JobId.schema,
  sound: t.Boolean({ description: 'Every quotation is in its snapshot, and every statement is in the report' }),
  quotations: t.Integer(),
  found: t.Integer(),
  sources: t.Integer(),
  problems: t.Array(t.String()),
})
export type Verification = Static<typeof Verification>
