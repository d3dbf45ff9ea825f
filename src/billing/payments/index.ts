import { type OrgService, orgDeleted } from '../../accounts'
import type { AuditLog } from '../../audit'
import type { EventBus } from '../../events'
import type { Jobs } from '../../jobs'
import type { Clock } from '../../kernel/clock'
import { ConfigError } from '../../kernel/config'
import { AppError, atField } from '../../kernel/errors'
import { createAddressRule, readPublicUrl, type UrlRules } from '../../kernel/outbound'
import type { Store } from '../../kernel/store'
import type { AccountLimitsOf } from '../limits'
import { createLimits } from '../limits'
import type { BalanceWatch } from '../low-balance'
import type { Billing } from '../service'
import type { StatementDeps } from '../statements'
import { createByHand } from './by-hand'
import type { PaymentDriver } from './driver'
import { ORG_GONE } from './errors'
import { createIntake } from './intake'
import { createPurchaseLedger } from './ledger'
import { createPageLinks } from './page-links'
import { createPages } from './pages'
import { purchaseRows } from './repository'
import { createPayments } from './service'
import { createStripeDriver } from './stripe'
import { createTopUps } from './top-ups'

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  events: EventBus
  jobs: Jobs
  orgs: OrgService
  billing: Billing
  limits: AccountLimitsOf
  watch: BalanceWatch
  costs: StatementDeps['costs']
  masterKey: Uint8Array
  /** The origin at which browsers reach this server. */
  origin(): string
  settings: {
    production: boolean
    paymentProvider: 'manual' | 'stripe'
    stripeSecretKey: string
    stripeWebhookSecret: string
    stripeBaseUrl: string
  }
}

export type AccountBilling = ReturnType<typeof createAccountBilling>

/** Everything about money that comes in from outside: limits, checkouts, portal, events, codes and pages. */
export function createAccountBilling({ settings, origin, masterKey, limits, watch, costs, ...deps }: Deps) {
  const { store, clock, audit, events, jobs, orgs, billing } = deps
  const links = createPageLinks({ origin, masterKey, clock })
  const driver = driverOf(settings, clock, links.checkoutUrl)
  const ledger = createPurchaseLedger({ clock, audit, billing, watch })
  const topUps = createTopUps({ store, clock, audit, jobs, driver, ledger })
  watch.onTopUp(topUps.order)
  events.inTransaction(orgDeleted, async (tx, { scope }) => {
    const ended = { state: 'expired', error: ORG_GONE, ended_at: clock.now() } as const
    await purchaseRows.update(tx, { owner: scope, state: 'open' }, ended)
  })
  const byHand = createByHand({ store, clock, audit, ledger })
  const returnUrl = createReturnUrls(settings)

  return {
    limits: createLimits({
      ...{ store, clock, audit, orgs, limits, watch, balanceOf: billing.balance, recall: billing.escrows.recallAll },
      canCharge: driver.charge !== null,
    }),
    payments: {
      ...createPayments({ store, clock, audit, orgs, driver, links, returnUrl }),
      receive: createIntake({ store, audit, driver, ledger, limits }),
    },
    statements: { store, audit, clock, orgs, costs } satisfies StatementDeps,
    pages: createPages({ store, orgs, billing, byHand, links }),
    byHand,
    topUps: topUps.kind,
  }
}

/** @throws ConfigError when the processor's keys are missing */
function driverOf(settings: Deps['settings'], clock: Clock, pageOf: (id: string) => string): PaymentDriver {
  if (settings.paymentProvider === 'manual') return manualDriver(pageOf)
  const { stripeSecretKey: secretKey, stripeWebhookSecret: webhookSecret, stripeBaseUrl: baseUrl } = settings
  if (!secretKey || !webhookSecret) {
    throw new ConfigError([
      'SVC_PAYMENT_PROVIDER is stripe, so SVC_STRIPE_SECRET_KEY and SVC_STRIPE_WEBHOOK_SECRET must be set.',
    ])
  }
  return createStripeDriver({ clock, secretKey, webhookSecret, baseUrl })
}

/** A checkout leads to a page of this server, where an operator's code completes it, or svc-admin credits grant does. */
const manualDriver = (pageOf: (purchaseId: string) => string): PaymentDriver => ({
  name: 'manual',
  createCustomer: async () => null,
  openCheckout: async ({ purchaseId }) => ({ url: pageOf(purchaseId), session: null }),
  openPortal: async () => null,
  charge: null,
  purchaseOf: async () => null,
  readEvent: async () => null,
})

const LOOPBACK = ['127.0.0.0/8', '::1/128']

/**
 * Validates the URL a browser is sent to after paying. It comes from the caller, so it is checked like an outbound URL
 * (docs/api.md 1.5), except that this server's own pages and fragments are allowed. Outside production loopback
 * addresses are allowed too.
 */
function createReturnUrls({ production }: { production: boolean }) {
  const rules: UrlRules = {
    addresses: createAddressRule({ allow: production ? [] : LOOPBACK }),
    ownHosts: new Set(),
    httpsOnly: production,
    localNames: !production,
  }
  /** Returns the text unchanged. Throws 400 `url_blocked`, naming the field. */
  return (text: string, field: string): string => {
    const hash = text.indexOf('#')
    try {
      readPublicUrl(hash < 0 || /[\p{Cc}\s\\]/u.test(text) ? text : text.slice(0, hash), rules)
    } catch (error) {
      throw error instanceof AppError ? atField(error, field) : error
    }
    return text
  }
}
