import { recurring } from '../jobs'
import type { ExpiringGrants } from './expiring-grants'

/** Longest time that expired credit stays in a balance. */
const EVERY_MS = 5_000

/** Job that removes expired credit; at a start this is done before the first request, too. */
export const expiredCredit = (grants: Pick<ExpiringGrants, 'expireDue'>) =>
  recurring('billing.expiry', EVERY_MS, async () => {
    while ((await grants.expireDue()) > 0);
  })
