import { defineId, type Id, OrgId } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { JsonObject, namedObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'
import { GUARDRAIL_IDS } from './guardrail'

export type { Phase } from './guardrail'

export const GuardrailPolicyId = defineId('guardrail policy')
export type GuardrailPolicyId = Id<'guardrail policy'>

export const PHASES = ['input', 'output', 'tool_call', 'tool_result'] as const
const VERDICTS = ['block', 'redact', 'flag'] as const
const POLICY_SCOPES = ['personal', 'team'] as const

const Name = t.String({ minLength: 1, maxLength: 128, description: 'Must not contain the name of an upstream vendor' })
const Description = nullable(t.String({ maxLength: 512 }))
const Scope = oneOf(POLICY_SCOPES, {
  description:
    "`team`: owned by the active organization; needs the permission manageWebhooks. Default: `personal`; `team` for an organization's key",
})

/** A rule as sent. `validateRules` checks the rest against the catalogue, with better messages (docs/api.md 12). */
const WrittenRule = t.Object({
  guardrail_id: t.String(),
  phase: t.String(),
  verdict: t.String(),
  config: t.Optional(JsonObject),
})
export type WrittenRule = Static<typeof WrittenRule>

const Rules = t.Array(WrittenRule, {
  description: 'At most 32, run in this order; the first rule that blocks ends its phase',
})

/** Body of `POST /guardrail-policies` (docs/api.md 12). */
export const NewPolicy = namedObject('NewGuardrailPolicy', {
  name: Name,
  description: t.Optional(Description),
  rules: t.Optional(Rules),
  scope: t.Optional(Scope),
  is_default: t.Optional(
    t.Boolean({
      description:
        'Applies to every key of the scope that has no policy bound, at most one per scope. To contain a key, bind a policy to it: only then the key can neither change the policy nor exempt itself',
    }),
  ),
})
export type NewPolicy = Static<typeof NewPolicy>

/** Body of `PATCH /guardrail-policies/{id}`. Omitted members stay unchanged. `rules` replaces all rules. */
export const PolicyPatch = namedObject('GuardrailPolicyPatch', {
  name: t.Optional(Name),
  description: t.Optional(Description),
  rules: t.Optional(Rules),
  is_default: t.Optional(t.Boolean()),
})
export type PolicyPatch = Static<typeof PolicyPatch>

/** A stored rule, checked against the catalogue. */
export const GuardrailRule = namedObject('GuardrailRule', {
  guardrail_id: oneOf(GUARDRAIL_IDS),
  phase: oneOf(PHASES),
  verdict: oneOf(VERDICTS),
  config: JsonObject,
})
export type GuardrailRule = Static<typeof GuardrailRule>

export const GuardrailPolicy = namedObject('GuardrailPolicy', {
  id: GuardrailPolicyId.schema,
  object: t.Literal('guardrail_policy'),
  name: t.String(),
  description: nullable(t.String()),
  rules: t.Array(GuardrailRule),
  scope: oneOf(POLICY_SCOPES),
  org_id: nullable(OrgId.schema),
  is_default: t.Boolean(),
  bound_key_count: t.Integer({ description: 'Active keys the policy is bound to' }),
  created: Timestamp,
  updated: Timestamp,
})
export type GuardrailPolicy = Static<typeof GuardrailPolicy>

export const PolicyPage = pageOf('guardrail_policies', GuardrailPolicy)
export const PolicyQuery = t.Object({ ...PageQuery.properties, scope: t.Optional(oneOf(POLICY_SCOPES)) })
export type PolicyQuery = Static<typeof PolicyQuery>

/** Body of `PUT /keys/{id}/guardrails`. Null unbinds. */
export const GuardrailBinding = namedObject('GuardrailBinding', {
  guardrail_policy_id: nullable(t.String({ maxLength: 64 })),
})
export type GuardrailBinding = Static<typeof GuardrailBinding>

/** Body of `POST /guardrail-policies/{id}/evaluate`. */
export const Evaluation = namedObject('GuardrailEvaluation', {
  text: t.String({
    maxLength: 1_000_000,
    description:
      'Text to check. In the tool phases JSON is parsed as the arguments or the result; other text is checked as text',
  }),
  phase: oneOf(PHASES),
  tool_name: t.Optional(
    t.String({
      maxLength: 64,
      description: 'Tool phases only: name of the called tool, which rules of `tool_call` check too',
    }),
  ),
  rules: t.Optional({ ...Rules, description: 'Tried instead of those of the policy; they are not saved' }),
})
export type Evaluation = Static<typeof Evaluation>

/** Body of `POST /guardrail-policies/preview`: an evaluation with rules that are not stored in a policy. */
export const Trial = namedObject('GuardrailTrial', { ...Evaluation.properties, rules: Rules })
export type Trial = Static<typeof Trial>

/** The findings of each rule of the phase, in order, and the text after redaction. */
export const Evaluated = namedObject('GuardrailEvaluated', {
  results: t.Array(
    t.Object({
      guardrail_id: oneOf(GUARDRAIL_IDS),
      verdict: oneOf(VERDICTS),
      triggered: t.Boolean(),
      detail: nullable(
        t.String({
          description:
            'What was found, without quoting it. For a rule that was not triggered: what it could not check here, because only a run has it (the system prompt, sources) or `tool_name` was not sent; else null',
        }),
      ),
    }),
  ),
  text: t.String({
    description:
      'The text with the matches of all redact rules replaced by `[REDACTED:<kind>]`, whatever other rules found',
  }),
})
export type Evaluated = Static<typeof Evaluated>

/** Answer of `GET /guardrails`. */
export const GuardrailCatalogue = t.Object({
  guardrails: t.Array(
    namedObject('Guardrail', {
      guardrail_id: oneOf(GUARDRAIL_IDS),
      description: t.String(),
      phases: t.Array(oneOf(PHASES)),
      verdicts: t.Array(oneOf(VERDICTS)),
      config_schema: JsonObject,
    }),
  ),
})
export type GuardrailCatalogue = Static<typeof GuardrailCatalogue>

/** A rule that fired: an entry of `guardrails[]` in answers and audit rows (docs/api.md 12). */
export const Firing = namedObject('GuardrailFiring', {
  guardrail_id: oneOf(GUARDRAIL_IDS),
  phase: oneOf(PHASES),
  verdict: oneOf(VERDICTS),
  detail: t.String({ description: 'What was found, without quoting it' }),
})
export type Firing = Static<typeof Firing>
