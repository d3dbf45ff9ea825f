import { LimitsPatch } from '../billing/schema'
import { form } from '../kernel/form'
import { MAX_CENTS } from '../kernel/money'
import { PageQuery } from '../kernel/page'
import { nullable, pageOf, type Static, Timestamp, t } from '../kernel/schema'
import { Balance } from './schema'

const Ref = t.String({ minLength: 1, maxLength: 320 })

/** Body of `POST /ops/v1/credits/adjustments`: up or down, but never below what is on hold. */
export const NewAdjustment = t.Object({
  owner: Ref,
  amount_cents: t.Number({ minimum: -MAX_CENTS, maximum: MAX_CENTS }),
  note: t.Optional(t.String({ maxLength: 500 })),
  idempotency_key: t.Optional(
    t.String({ pattern: form('^[A-Za-z0-9\\-_.:]{1,200}$', 'at most 200 letters, digits and - _ . :') }),
  ),
})
export type NewAdjustment = Static<typeof NewAdjustment>

export const Adjustment = t.Object({
  ...Balance.properties,
  object: t.Literal('credit_adjustment'),
  amount_cents: t.Number(),
  ref: t.String(),
  already: t.Boolean({ description: 'true: this reference was booked before and nothing was changed' }),
})
export type Adjustment = Static<typeof Adjustment>

export const LedgerQuery = t.Object({
  ...PageQuery.properties,
  owner: t.Optional(Ref),
  ref: t.Optional(
    t.String({ minLength: 1, maxLength: 320, description: 'Only rows with this reference or request id' }),
  ),
})
export type LedgerQuery = Static<typeof LedgerQuery>

export const LedgerRow = t.Object({
  id: t.Integer(),
  at: Timestamp,
  kind: t.String(),
  ref: t.String(),
  amount_cents: t.Number(),
  balance_cents: t.Number({ description: 'Balance after this row' }),
  note: nullable(t.String()),
})
export type LedgerRow = Static<typeof LedgerRow>
export const LedgerRows = pageOf('entries', LedgerRow)

/** A wallet that disagrees with its ledger entries and open holds. */
const WalletDifference = t.Object({
  id: t.String({ description: '`org:ID` or `user:ID`' }),
  balance_cents: nullable(t.Number({ description: 'Balance of the wallet; null if there is none' })),
  ledger_cents: t.Number({ description: 'The sum of its ledger entries' }),
  held_cents: nullable(t.Number()),
  open_cents: t.Number({ description: 'The sum of its open holds' }),
  applied: t.Boolean(),
})
export const Reconciliation = t.Object({
  object: t.Literal('credit_reconciliation'),
  ok: t.Boolean({ description: 'true: no wallet differs from its ledger now' }),
  differences: t.Array(WalletDifference),
})
export type Reconciliation = Static<typeof Reconciliation>

/** Body of `POST /ops/v1/credits/codes`. */
export const NewCode = t.Object({
  amount_cents: t.Integer({ minimum: 500, maximum: 1_000_000 }),
  valid_seconds: t.Optional(t.Integer({ minimum: 60, maximum: 31_536_000 })),
  note: t.Optional(t.String({ maxLength: 500 })),
})
export type NewCode = Static<typeof NewCode>

export const GrantCode = t.Object({
  object: t.Literal('grant_code'),
  code: t.String({ description: 'Shown once; only its hash is kept' }),
  amount_cents: t.Integer(),
  expires_at: Timestamp,
})
export type GrantCode = Static<typeof GrantCode>

/** Body of `PUT /ops/v1/credits/caps`. */
export const NewCaps = t.Object({
  owner: Ref,
  daily_cap_cents: LimitsPatch.properties.daily_cap_cents,
  monthly_cap_cents: LimitsPatch.properties.monthly_cap_cents,
})
export type NewCaps = Static<typeof NewCaps>
