import type { Database } from 'bun:sqlite'
import { type ScriptedStripe, session } from '../support/stripe'
import { type Client, createClient, type Json, type Outcome, type Started, whenReady } from './client'
import { inParallel } from './parallel'
import type { Witness } from './witness'

/** A checkout that somebody paid; `told` once the server has said that it knows. */
export type PurchaseAck = { id: string; notify: boolean }

export const PURCHASE_CENTS = 500
/** Of what was told before the kill, how much is told again. */
const SAMPLE = 20

/** The processor tells of a payment; the event is the same each time. */
export async function tell(client: Client, stripe: ScriptedStripe, { id }: PurchaseAck): Promise<Outcome<Json>> {
  const paid = session(id, PURCHASE_CENTS)
  const { payload, signature } = await stripe.event('checkout.session.completed', paid, { id: `evt_${id}` })
  return client.deliver('billing/webhook', payload, { 'stripe-signature': signature })
}

/** After a start the processor tells again what nobody acknowledged, and some of what somebody did. */
export async function tellAll(server: Started, stripe: ScriptedStripe, { purchases }: Witness) {
  const client = createClient(server.url, server.key)
  const due = [
    ...purchases.filter(({ notify: notice }) => !notice),
    ...purchases.filter(({ notify: notice }) => notice).slice(-SAMPLE),
  ]
  return inParallel(due, async (purchase) => {
    const outcome = await whenReady(server, () => tell(client, stripe, purchase))
    if (outcome.is !== 'acked') return [`the event of ${purchase.id} was not taken in: ${outcome.is}`]
    purchase.notify = true
    return []
  })
}

/** Credit of each purchase: once when it was acknowledged, at most once when nobody knows, and never half. */
export function misbooked(database: Database, purchases: readonly PurchaseAck[]): string[] {
  const rows = database
    .query(
      "SELECT substr(ref, 10) AS id, count(*) AS legs, sum(amount) AS sum FROM ledger_entries WHERE kind = 'purchase' GROUP BY ref",
    )
    .all() as { id: string; legs: number; sum: number }[]
  const booked = new Map(rows.map((row) => [row.id, row]))
  return [
    ...rows.filter(({ legs, sum }) => legs !== 2 || sum !== 0).map(({ id }) => `the purchase ${id} is booked wrongly`),
    ...purchases.flatMap(({ id, notify: notice }) =>
      notice && !booked.has(id) ? [`the purchase ${id} was taken in and is lost`] : [],
    ),
  ]
}
