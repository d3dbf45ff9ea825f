import { defineId, type Id } from '../../kernel/ids'
import { PageQuery } from '../../kernel/page'
import { nullable, pageOf, type Static, Timestamp, t } from '../../kernel/schema'
import { LIMITS } from './schema-rule'

export const CorrectionId = defineId('routing correction')
export type CorrectionId = Id<'routing correction'>

/** Body of `POST /routing-corrections`: a completion, a prompt, or both. */
export const NewCorrection = t.Object(
  {
    completion_id: t.Optional(nullable(t.String({ maxLength: 64 }))),
    prompt: t.Optional(nullable(t.String({ minLength: 1, maxLength: LIMITS.promptChars, pattern: '\\S' }))),
    resolved_mode: t.Optional(nullable(t.String({ maxLength: 64, description: 'Mode the prompt was answered in' }))),
    expected_mode: t.String({ maxLength: 64, description: 'Mode the prompt should have been answered in' }),
    expected_engine: t.Optional(nullable(t.String({ maxLength: 64 }))),
    note: t.Optional(nullable(t.String({ maxLength: 512 }))),
  },
  { $id: 'NewRoutingCorrection' },
)
export type NewCorrection = Static<typeof NewCorrection>

export const Correction = t.Object(
  {
    id: CorrectionId.schema,
    object: t.Literal('routing_correction'),
    completion_id: nullable(t.String()),
    prompt: nullable(t.String()),
    resolved_mode: nullable(t.String()),
    expected_mode: t.String(),
    expected_engine: nullable(t.String()),
    note: nullable(t.String()),
    created: Timestamp,
  },
  { $id: 'RoutingCorrection' },
)
export type Correction = Static<typeof Correction>

export const CorrectionPage = pageOf('routing_corrections', Correction)
export const CorrectionQuery = t.Object({
  expected_mode: t.Optional(t.String({ maxLength: 64 })),
  ...PageQuery.properties,
})
export type CorrectionQuery = Static<typeof CorrectionQuery>

/** A suggestion needs this many corrections of a mode, made within this many days (contract 13). */
export const THRESHOLD = 3
export const WINDOW_DAYS = 30

/** Body of `POST /routing-preferences/suggest-rule`. */
export const SuggestInput = t.Object(
  { expected_mode: t.String({ maxLength: 64, description: 'Mode to suggest a rule for' }) },
  { $id: 'SuggestRule' },
)
export type SuggestInput = Static<typeof SuggestInput>

export const Suggestion = t.Object(
  {
    suggested_rule: t.Object({
      pattern: t.String(),
      target_mode: t.String(),
      confidence: t.Number(),
      description: t.String(),
    }),
    source_correction_ids: t.Array(t.String()),
    confidence: t.Number({
      description: '0.88 for a rule built from common words of the corrections, 0.78 for one proposed by an engine',
    }),
    warnings: t.Optional(t.Array(t.String(), { description: 'When the rule is below the floor of its mode' })),
  },
  { $id: 'SuggestedRoutingRule' },
)
export type Suggestion = Static<typeof Suggestion>
