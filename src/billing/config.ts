import { setting } from '../kernel/config'
import { form } from '../kernel/form'
import { oneOf, t } from '../kernel/schema'
import { PriceTable } from './prices'

/** Default threshold of `credits.low` (docs/api.md 1.9). */
export const LOW_BALANCE_CENTS = 500

export const billingSettings = {
  creditsInitialCents: setting({
    env: 'SVC_CREDITS_INITIAL_CENTS',
    schema: t.Integer({ minimum: 0, maximum: 1_000_000_000 }),
    default: 0,
    about: 'Credit of a new account, in whole cents; dev mode gives 1,000,000 unless this is set.',
  }),
  paymentProvider: setting({
    env: 'SVC_PAYMENT_PROVIDER',
    schema: oneOf(['manual', 'stripe']),
    default: 'manual',
    about: 'Who takes payments for credit: stripe, or manual (an operator completes each checkout).',
  }),
  stripeSecretKey: setting({
    env: 'SVC_STRIPE_SECRET_KEY',
    schema: t.String({ maxLength: 512 }),
    default: '',
    secret: true,
    about: 'Key of the Stripe API; needed with SVC_PAYMENT_PROVIDER=stripe.',
  }),
  stripeWebhookSecret: setting({
    env: 'SVC_STRIPE_WEBHOOK_SECRET',
    schema: t.String({ maxLength: 512 }),
    default: '',
    secret: true,
    about: 'Signing secret of the Stripe endpoint that calls POST /api/v1/billing/webhook.',
  }),
  stripeBaseUrl: setting({
    env: 'SVC_STRIPE_BASE_URL',
    schema: t.String({
      pattern: form('^$|^https?://[^/]+/?$', 'https:// or http:// and a host, without a path, or empty'),
    }),
    default: '',
    about: "Address of the Stripe API, for tests and proxies. Empty uses Stripe's own address.",
  }),
  prices: setting({
    env: 'SVC_PRICES',
    schema: PriceTable,
    default: {},
    about:
      'JSON merged over the price table: per engine id, micro-cents (a millionth of a cent) for 1,000 prompt and ' +
      'completion tokens, an image, a second, a page or a minute. "default" prices every engine that is not listed.',
  }),
}
