import { setting } from '../kernel/config'
import { t } from '../kernel/schema'
import { PriceTable } from './prices'

/** Below this an owner is told that credit runs low, unless they say otherwise (contract 1.9). */
export const LOW_BALANCE_CENTS = 500

export const billingSettings = {
  creditsInitialCents: setting({
    env: 'SVC_CREDITS_INITIAL_CENTS',
    schema: t.Integer({ minimum: 0, maximum: 1_000_000_000 }),
    default: 0,
    about: 'Credit of a new account, in whole cents; dev mode gives 1,000,000 unless this is set.',
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
