import { CHAT_PARAMETERS, SCOPES, TIERS } from '../../kernel/caller'
import { KeyId, OrgId } from '../../kernel/ids'
import { PageQuery } from '../../kernel/page'
import { namedObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../../kernel/schema'
import { OwnerRef } from '../orgs/schema'

const MAX_CAP_CENTS = 1_000_000_000

const Name = t.String({ minLength: 1, maxLength: 128 })
const Scopes = t.Array(oneOf(SCOPES), { maxItems: 32, description: 'What the key may be used for' })
const Limit = nullable(t.Integer({ minimum: 1, maximum: 1_000_000_000 }))
const CapCents = nullable(t.Integer({ minimum: 1, maximum: MAX_CAP_CENTS, description: 'Cents; null: no cap' }))
const Origins = t.Array(t.String({ minLength: 1, maxLength: 300 }), {
  maxItems: 50,
  description: 'Origins whose pages may use the key, such as https://app.example; empty: all origins',
})

const HonoursParameters = oneOf(CHAT_PARAMETERS, {
  description:
    'Whether chat completions under the key honor parameters such as top_p. by_base: as the base address of the request',
})

/** The tone of answers under a key, and the facts they may use (docs/api.md 20). */
export const BrandSoul = namedObject('BrandSoul', {
  enabled: t.Boolean(),
  persona: t.String({ maxLength: 4_000 }),
  tone: t.String({ maxLength: 1_000 }),
  knowledge: t.Array(t.String({ maxLength: 4_000 }), { maxItems: 50 }),
  constraints: t.Array(t.String({ maxLength: 1_000 }), { maxItems: 50 }),
})
export type BrandSoul = Static<typeof BrandSoul>

/** One routing rule as stored and shown (docs/api.md 13). The routing-preferences module validates it. */
export const RoutingRule = namedObject('RoutingRule', {
  pattern: t.String({ description: 'ECMAScript source, matched case-insensitively' }),
  target_mode: t.String(),
  target_engine: nullable(t.String()),
  confidence: t.Number({ minimum: 0.5, maximum: 0.99 }),
  description: nullable(t.String()),
})
export type RoutingRule = Static<typeof RoutingRule>

/** Fields of a key that a caller may set besides name and scopes. */
const settable = {
  brand_soul: t.Optional(nullable(t.Partial(BrandSoul))),
  rpm_limit: t.Optional(Limit),
  tpm_limit: t.Optional(Limit),
  daily_cap_cents: t.Optional(CapCents),
  monthly_cap_cents: t.Optional(CapCents),
  allowed_origins: t.Optional(Origins),
  chat_parameters: t.Optional(HonoursParameters),
  expires_at: t.Optional(nullable(Timestamp)),
}

/** Body of `POST /keys`. */
export const NewKey = namedObject('NewKey', {
  name: t.Optional(Name),
  scopes: t.Optional(Scopes),
  scope: t.Optional(oneOf(['personal', 'org'] as const)),
  org_id: t.Optional(nullable(t.String({ maxLength: 64 }))),
  test: t.Optional(
    t.Boolean({ description: 'true: the prefix is svc_sk_test_. A label only; the key is billed like any other' }),
  ),
  ...settable,
})
export type NewKey = Static<typeof NewKey>

const { scope: _scope, org_id: _orgId, scopes: _scopes, ...newKeyFields } = NewKey.properties

/** For operators: a key of any owner, with a tier (docs/operating.md 2.9). */
export const NewOperatorKey = t.Object({
  ...newKeyFields,
  scopes: t.Optional(t.Array(oneOf(SCOPES), { maxItems: 32 })),
  org: t.Optional(OwnerRef),
  user: t.Optional(OwnerRef),
  personal: t.Optional(t.Boolean({ description: "The owner's own key instead of the org's" })),
  tier: t.Optional(oneOf(TIERS)),
})
export type NewOperatorKey = Static<typeof NewOperatorKey>

/** Body of `PUT /keys/{id}`: missing members stay unchanged, null clears a member. */
export const KeyPatch = namedObject('KeyPatch', {
  name: t.Optional(Name),
  scopes: t.Optional(Scopes),
  ...settable,
})
export type KeyPatch = Static<typeof KeyPatch>

export const OperatorKeyPatch = t.Object({ ...KeyPatch.properties, tier: t.Optional(oneOf(TIERS)) })
export type OperatorKeyPatch = Static<typeof OperatorKeyPatch>

const MAX_GRACE_S = 604_800

/** Body of `POST /keys/{id}/rotate`. */
export const KeyRotation = namedObject('KeyRotation', {
  grace_period_seconds: t.Optional(
    t.Integer({
      minimum: 0,
      maximum: MAX_GRACE_S,
      description: 'Seconds for which the old secret still works; default 86400',
    }),
  ),
})
export type KeyRotation = Static<typeof KeyRotation>

const KEY_STATUSES = ['active', 'rotating', 'revoked'] as const
export type KeyStatus = (typeof KEY_STATUSES)[number]

const fields = {
  id: KeyId.schema,
  object: t.Literal('api_key'),
  name: t.String(),
  prefix: t.String({ description: 'First characters of the key, to tell keys apart' }),
  scopes: t.Array(oneOf(SCOPES)),
  scope: oneOf(['personal', 'org'] as const),
  org_id: nullable(OrgId.schema),
  tier: oneOf(TIERS),
  status: oneOf(KEY_STATUSES, {
    description:
      'rotating: the old and the new secret both work. An expired key has the status revoked, with revoked_at null',
  }),
  rpm_limit: nullable(t.Integer()),
  tpm_limit: nullable(t.Integer()),
  daily_cap_cents: nullable(t.Integer()),
  monthly_cap_cents: nullable(t.Integer()),
  spent_today_cents: t.Number(),
  spent_month_cents: t.Number(),
  allowed_origins: t.Array(t.String()),
  brand_soul: nullable(BrandSoul),
  chat_parameters: HonoursParameters,
  routing_preference_id: nullable(t.String({ format: 'uuid' })),
  routing_rules: t.Array(RoutingRule),
  confidence_floor_overrides: t.Record(t.String(), t.Number(), {
    description: 'Confidence floor by mode, set together with routing_rules',
  }),
  guardrail_policy_id: nullable(t.String({ format: 'uuid' })),
  created: Timestamp,
  last_used_at: nullable(Timestamp),
  expires_at: nullable(Timestamp),
  revoked_at: nullable(Timestamp),
}

/** A key as its owner sees it, without the secret (docs/api.md 20). */
export const ApiKey = t.Object(fields, { $id: 'ApiKey' })
export type ApiKey = Static<typeof ApiKey>

/** A key with its secret. Only the answer that creates the key contains it. */
export const ApiKeyWithSecret = namedObject('ApiKeyWithSecret', {
  ...fields,
  key: t.String({ description: 'The full key. Shown once: store it now' }),
})
export type ApiKeyWithSecret = Static<typeof ApiKeyWithSecret>

/** Answer of a rotation: the new secret, and how long the old one still works. */
export const RotatedKey = namedObject('RotatedKey', {
  ...ApiKeyWithSecret.properties,
  previous_key_expires_at: Timestamp,
})
export type RotatedKey = Static<typeof RotatedKey>

export const OperatorKeyQuery = t.Object({
  ...PageQuery.properties,
  org: t.Optional(OwnerRef),
  user: t.Optional(OwnerRef),
  live: t.Optional(t.Boolean({ description: 'Leave out revoked keys' })),
})
export type OperatorKeyQuery = Static<typeof OperatorKeyQuery>
export const KeyPage = pageOf('keys', ApiKey)

export const KeyRevoked = namedObject('KeyRevoked', { revoked: t.Literal(true), id: KeyId.schema })

/** Body of the operators' `POST /keys/check`. It holds a complete secret, so it is sent over the socket or TLS only. */
export const KeyCheck = t.Object({ key: t.String({ minLength: 1, maxLength: 512 }) })
export const CheckedKey = t.Object({ object: t.Literal('key_check'), known: t.Boolean(), key: nullable(ApiKey) })
