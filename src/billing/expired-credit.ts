import { type Jobs, RECURRING, recurring } from '../jobs'
import type { Tx } from '../kernel/store'
import type { ExpiringGrants } from './expiring-grants'

/** Longest time that expired credit stays in a balance. */
const EVERY_MS = 5_000
const NAME = 'billing.expiry'

/** Job that removes expired credit; at a start this is done before the first request, too. */
export const expiredCredit = ({ expireDue, dueAt }: Pick<ExpiringGrants, 'expireDue' | 'dueAt'>) => {
  const work = async () => {
    while ((await expireDue()) > 0);
  }
  return recurring(NAME, EVERY_MS, work, { dueAt })
}

/** Has that job run at the end of new credit. */
export const expireAt = (jobs: Pick<Jobs, 'ensure'>, tx: Tx, runAt: number): Promise<void> =>
  jobs.ensure(tx, { name: NAME }, { owner: null, payload: null, uniqueKey: RECURRING, runAt })
