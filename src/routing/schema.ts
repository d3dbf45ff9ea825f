import { RoutingRule } from '../accounts/keys/schema'
import { defineId, type Id, OrgId } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { RangeQuery } from '../kernel/range'
import { namedObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'
import { MAX_PATTERN_CHARS } from '../text/schema'

/** Limits of docs/api.md 13. Exceeding one gives `routing_preference_invalid`. */
export const LIMITS = {
  rules: 50,
  examples: 30,
  patternChars: MAX_PATTERN_CHARS,
  promptChars: 1_024,
  ruleDescriptionChars: 512,
} as const
export const DEFAULT_CONFIDENCE = 0.9
/** The global floor. A stage with less confidence does not decide (docs/api.md 22.2, stage 5). */
export const DEFAULT_FLOOR = 0.85

/** A rule as sent. rules.ts checks what must give the code `routing_preference_invalid`. */
export const NewRule = namedObject('NewRoutingRule', {
  pattern: t.String({ description: `ECMAScript source of at most ${LIMITS.patternChars} characters` }),
  target_mode: t.String(),
  target_engine: t.Optional(nullable(t.String({ description: 'An engine of GET /models' }))),
  confidence: t.Optional(t.Number({ description: 'Default 0.9; clamped to 0.5–0.99' })),
  description: t.Optional(nullable(t.String())),
})
export type NewRule = Static<typeof NewRule>

export const NewExample = namedObject('NewRoutingExample', {
  prompt: t.String({ description: `At most ${LIMITS.promptChars} characters` }),
  expected_mode: t.String(),
  expected_engine: t.Optional(nullable(t.String())),
})
export type NewExample = Static<typeof NewExample>

export const CorrectionId = defineId('routing correction')
export type CorrectionId = Id<'routing correction'>

/** Body of `POST /routing-corrections`: a completion, a prompt, or both. */
export const NewCorrection = namedObject('NewRoutingCorrection', {
  completion_id: t.Optional(nullable(t.String({ maxLength: 64 }))),
  prompt: t.Optional(nullable(t.String({ minLength: 1, maxLength: LIMITS.promptChars, pattern: '\\S' }))),
  resolved_mode: t.Optional(nullable(t.String({ maxLength: 64, description: 'Mode the prompt was answered in' }))),
  expected_mode: t.String({ maxLength: 64, description: 'Mode the prompt should have been answered in' }),
  expected_engine: t.Optional(nullable(t.String({ maxLength: 64 }))),
  note: t.Optional(nullable(t.String({ maxLength: 512 }))),
})
export type NewCorrection = Static<typeof NewCorrection>

export const Correction = namedObject('RoutingCorrection', {
  id: CorrectionId.schema,
  object: t.Literal('routing_correction'),
  completion_id: nullable(t.String()),
  prompt: nullable(t.String()),
  resolved_mode: nullable(t.String()),
  expected_mode: t.String(),
  expected_engine: nullable(t.String()),
  note: nullable(t.String()),
  created: Timestamp,
})
export type Correction = Static<typeof Correction>

export const CorrectionPage = pageOf('routing_corrections', Correction)
export const CorrectionQuery = t.Object({
  expected_mode: t.Optional(t.String({ maxLength: 64 })),
  ...PageQuery.properties,
})
export type CorrectionQuery = Static<typeof CorrectionQuery>

/** A suggestion needs this many corrections of a mode, made within this many days (docs/api.md 13). */
export const THRESHOLD = 3
export const WINDOW_DAYS = 30

/** Body of `POST /routing-preferences/suggest-rule`. */
export const SuggestInput = namedObject('SuggestRule', {
  expected_mode: t.String({ maxLength: 64, description: 'Mode to suggest a rule for' }),
})
export type SuggestInput = Static<typeof SuggestInput>

export const Suggestion = namedObject('SuggestedRoutingRule', {
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
})
export type Suggestion = Static<typeof Suggestion>

/** Body of `POST /routing-preferences/preview`. */
export const PreviewInput = namedObject('RoutingPreviewOrder', {
  prompt: t.String({ minLength: 1, maxLength: 1_000_000 }),
  routing_preference_id: t.Optional(
    nullable(
      t.String({ maxLength: 64, description: 'Preference to use instead of the one that applies to you or the key' }),
    ),
  ),
  key_id: t.Optional(
    t.String({ maxLength: 64, description: 'Key you own or manage; the preview is made as for its requests' }),
  ),
  rules: t.Optional(
    t.Array(NewRule, {
      description: 'Rules to try, checked before those of the preference or whatever else applies',
    }),
  ),
  attachments: t.Optional(
    t.Array(t.Unknown(), {
      maxItems: 10,
      description: 'Only the presence of attachments matters; their content is ignored',
    }),
  ),
  engine: t.Optional(
    t.Boolean({ description: 'true: also ask the engine classifier where a run would; default false' }),
  ),
})
export type PreviewInput = Static<typeof PreviewInput>

const SOURCES = ['rule', 'heuristic', 'local', 'classifier', 'default'] as const

export const Preview = namedObject('RoutingPreview', {
  resolved_mode: t.String(),
  confidence: nullable(t.Number()),
  source: oneOf(SOURCES),
  engine: t.String(),
  reasoning: nullable(t.String()),
  stages: t.Array(
    t.Object({
      stage: oneOf(SOURCES),
      mode: nullable(t.String({ description: 'Mode the stage proposes, even if its confidence is below the floor' })),
      confidence: nullable(t.Number()),
      floor: nullable(t.Number({ description: 'Confidence the mode needs to be chosen' })),
      matched: nullable(t.String({ description: 'Pattern or signal that matched' })),
      ms: t.Number(),
    }),
  ),
  warnings: t.Optional(
    t.Array(t.String({ description: 'For example, that a guardrail first removes parts of the prompt, or blocks it' })),
  ),
})
export type Preview = Static<typeof Preview>

/** Body of `POST /routing-preferences/replay`. */
export const ReplayInput = namedObject('RoutingReplay', {
  routing_preference_id: t.Optional(t.String({ maxLength: 64 })),
  rules: t.Optional(t.Array(NewRule, { description: 'Checked before those of the preference or of what applies' })),
  mode: t.Optional(t.String({ maxLength: 64, description: 'Only prompts that get this mode now' })),
  limit: t.Optional(t.Integer({ minimum: 1, maximum: 500, description: 'Prompts to try; default 200' })),
  ...RangeQuery.properties,
})
export type ReplayInput = Static<typeof ReplayInput>

export const Replayed = namedObject('RoutingReplayed', {
  tested: t.Integer(),
  changed: t.Array(
    t.Object({
      source: t.Object({ type: oneOf(['correction', 'example', 'conversation']), id: nullable(t.String()) }),
      excerpt: t.String({ description: 'The first 120 characters' }),
      before: t.String(),
      after: t.String(),
      rule: nullable(t.Integer({ description: 'Index of the rule that decides now, from 0' })),
    }),
  ),
  by_mode: t.Record(t.String(), t.Object({ before: t.Integer(), after: t.Integer() })),
  timed_out: t.Boolean({ description: 'True where 2 seconds were too short for all prompts' }),
})
export type Replayed = Static<typeof Replayed>

export { RoutingRule }

export const PreferenceId = defineId('routing preference')
export type PreferenceId = Id<'routing preference'>

const SCOPES = ['personal', 'team'] as const

const Floors = t.Record(t.String(), t.Number(), {
  description: 'Confidence floor by mode, instead of the default 0.85; clamped to 0.5–0.99',
})
const Rules = t.Array(NewRule, { description: `At most ${LIMITS.rules}, checked in this order` })

const settable = {
  description: t.Optional(nullable(t.String({ maxLength: 512 }))),
  rules: t.Optional(Rules),
  examples: t.Optional(t.Array(NewExample, { description: `At most ${LIMITS.examples}` })),
  confidence_floor_overrides: t.Optional(Floors),
  is_default: t.Optional(t.Boolean()),
}
const Name = t.String({ minLength: 1, maxLength: 128 })

/** Body of `POST /routing-preferences`. */
export const NewPreference = namedObject('NewRoutingPreference', {
  name: Name,
  ...settable,
  scope: t.Optional(oneOf(SCOPES, { description: 'Default `personal`; `team` for an organization’s key' })),
})
export type NewPreference = Static<typeof NewPreference>

/** Body of `PATCH /routing-preferences/{id}`. Omitted members stay unchanged, arrays replace. */
export const PreferencePatch = namedObject('RoutingPreferencePatch', { name: t.Optional(Name), ...settable })
export type PreferencePatch = Static<typeof PreferencePatch>

export const RoutingExample = namedObject('RoutingExample', {
  prompt: t.String(),
  expected_mode: t.String(),
  expected_engine: nullable(t.String()),
})
export type RoutingExample = Static<typeof RoutingExample>

export type Floors = Record<string, number>

/** A preference as its owner sees it (docs/api.md 13). */
export const Preference = namedObject('RoutingPreference', {
  id: PreferenceId.schema,
  object: t.Literal('routing_preference'),
  name: t.String(),
  description: nullable(t.String()),
  rules: t.Array(RoutingRule),
  examples: t.Array(RoutingExample),
  confidence_floor_overrides: t.Record(t.String(), t.Number()),
  scope: oneOf(SCOPES),
  org_id: nullable(OrgId.schema),
  is_default: t.Boolean(),
  bound_key_count: t.Integer({ description: 'Active keys the preference is bound to' }),
  created: Timestamp,
  updated: Timestamp,
  warnings: t.Optional(t.Array(t.String(), { description: 'Rules that are below the floor of their mode' })),
})
export type Preference = Static<typeof Preference>

export const PreferencePage = pageOf('routing_preferences', Preference)
export const PreferenceQuery = t.Object({ scope: t.Optional(oneOf(SCOPES)), ...PageQuery.properties })
export type PreferenceQuery = Static<typeof PreferenceQuery>

/** Body of `PUT /keys/{id}/routing-preference`. Null unbinds. */
export const PreferenceBinding = namedObject('RoutingPreferenceBinding', {
  routing_preference_id: nullable(t.String({ maxLength: 64 })),
})
export type PreferenceBinding = Static<typeof PreferenceBinding>

/** Body of `PUT /keys/{id}/routing-rules`. An empty list unbinds. Absent floors remove the key's floors. */
export const RulesBinding = namedObject('RoutingRulesBinding', {
  rules: Rules,
  confidence_floor_overrides: t.Optional(Floors),
})
export type RulesBinding = Static<typeof RulesBinding>
