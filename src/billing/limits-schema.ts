import { namedObject, nullable, oneOf, type Static, t } from '../kernel/schema'

/** Smallest and largest single purchase (docs/api.md 18.2). */
export const MIN_PURCHASE_CENTS = 500
export const MAX_PURCHASE_CENTS = 1_000_000

export const ScopeWord = oneOf(['user', 'org'] as const, {
  description: "Owner of the credit. Default: the active organization's if you may manage its billing, else your own",
})

const MAX_CENTS = 1_000_000_000_000
const Cap = nullable(t.Integer({ minimum: 1, maximum: MAX_CENTS, description: 'Whole cents; null: no cap' }))
const Threshold = t.Integer({ minimum: 0, maximum: MAX_CENTS, description: 'Whole cents; 0: no low-balance notice' })
const PurchaseCents = t.Integer({ minimum: MIN_PURCHASE_CENTS, maximum: MAX_PURCHASE_CENTS })

export const LimitsQuery = t.Object({ scope: t.Optional(ScopeWord) })

export const LimitsPatch = namedObject('BillingLimitsChange', {
  daily_cap_cents: t.Optional(Cap),
  monthly_cap_cents: t.Optional(Cap),
  low_balance_threshold_cents: t.Optional(Threshold),
  auto_top_up: t.Optional(
    t.Object({
      enabled: t.Boolean(),
      threshold_cents: t.Optional(t.Integer({ minimum: 1, maximum: MAX_CENTS })),
      amount_cents: t.Optional(PurchaseCents),
    }),
  ),
  scope: t.Optional(ScopeWord),
})
export type LimitsPatch = Static<typeof LimitsPatch>

/** An owner's limits and how much of them is used (docs/api.md 18.2). */
export const BillingLimits = namedObject('BillingLimits', {
  object: t.Literal('billing_limits'),
  scope: oneOf(['user', 'org'] as const),
  daily_cap_cents: Cap,
  monthly_cap_cents: Cap,
  low_balance_threshold_cents: Threshold,
  auto_top_up: t.Object({
    enabled: t.Boolean(),
    threshold_cents: nullable(t.Integer()),
    amount_cents: nullable(t.Integer()),
    last: nullable(
      t.Object(
        {
          state: oneOf(['open', 'paid', 'failed', 'expired'] as const),
          error: nullable(t.String()),
        },
        { description: 'Outcome of the newest automatic top-up' },
      ),
    ),
  }),
  usage: t.Object({
    daily_used_cents: t.Number({ description: 'Spent since 00:00 UTC' }),
    monthly_used_cents: t.Number({ description: 'Spent since the first of the month, UTC' }),
    balance_cents: t.Number(),
    reserved_cents: t.Number({ description: 'Reserved by running calls' }),
  }),
})
export type BillingLimits = Static<typeof BillingLimits>
