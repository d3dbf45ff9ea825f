import { RoutingRule } from '../../accounts/keys/schema'
import { defineId, type Id, OrgId } from '../../kernel/ids'
import { PageQuery } from '../../kernel/page'
import { nullable, oneOf, pageOf, type Static, Timestamp, t } from '../../kernel/schema'
import { LIMITS, NewExample, NewRule } from './schema-rule'

export * from './schema-corrections'
export * from './schema-preview'
export * from './schema-rule'
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
export const NewPreference = t.Object(
  {
    name: Name,
    ...settable,
    scope: t.Optional(oneOf(SCOPES, { description: 'Default `personal`; `team` for an organization’s key' })),
  },
  { $id: 'NewRoutingPreference' },
)
export type NewPreference = Static<typeof NewPreference>

/** Body of `PATCH /routing-preferences/{id}`: what is left out stays, arrays replace. */
export const PreferencePatch = t.Object({ name: t.Optional(Name), ...settable }, { $id: 'RoutingPreferencePatch' })
export type PreferencePatch = Static<typeof PreferencePatch>

export const RoutingExample = t.Object(
  { prompt: t.String(), expected_mode: t.String(), expected_engine: nullable(t.String()) },
  { $id: 'RoutingExample' },
)
export type RoutingExample = Static<typeof RoutingExample>

export type Floors = Record<string, number>

/** A preference as its owner sees it (contract 13). */
export const Preference = t.Object(
  {
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
  },
  { $id: 'RoutingPreference' },
)
export type Preference = Static<typeof Preference>

export const PreferencePage = pageOf('routing_preferences', Preference)
export const PreferenceQuery = t.Object({ scope: t.Optional(oneOf(SCOPES)), ...PageQuery.properties })
export type PreferenceQuery = Static<typeof PreferenceQuery>

/** Body of `PUT /keys/{id}/routing-preference`; null unbinds. */
export const PreferenceBinding = t.Object(
  { routing_preference_id: nullable(t.String({ maxLength: 64 })) },
  { $id: 'RoutingPreferenceBinding' },
)
export type PreferenceBinding = Static<typeof PreferenceBinding>

/** Body of `PUT /keys/{id}/routing-rules`: an empty list unbinds; absent floors remove the key's floors. */
export const RulesBinding = t.Object(
  { rules: Rules, confidence_floor_overrides: t.Optional(Floors) },
  { $id: 'RoutingRulesBinding' },
)
export type RulesBinding = Static<typeof RulesBinding>
