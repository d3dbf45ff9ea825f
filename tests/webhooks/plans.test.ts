import { expect, test } from 'bun:test'
import { jobRepository as jobs } from '../../src/jobs/repository'
import { queuesWithWork } from '../../src/jobs/worker'
import type { Reader } from '../../src/kernel/store'
import { deliveryRepository as log, outboxRepository as outbox } from '../../src/webhooks/repository'
import type { WebhookId } from '../../src/webhooks/schema'
import { openPlanner } from '../support/planner'

const { planOf } = await openPlanner()
const id = 'w' as WebhookId

type Request = [what: string, index: RegExp, ask: (db: Reader) => PromiseLike<unknown>]

const REQUESTS: Request[] = [
  ['what is due of a webhook', /\bwebhook_outbox_due\b/, (db) => outbox.due(db, id, 1, 64)],
  ['its oldest delivery', /\bwebhook_outbox_order\b/, (db) => outbox.first(db, id)],
  ['when its next one is due', /\bwebhook_outbox_due\b/, (db) => outbox.soonest(db, id)],
  ['its newest attempts', /\bwebhook_deliveries_of\b/, (db) => log.list(db, id, { limit: 50 })],
  ['when the next job is due', /\bjobs_waiting\b/, (db) => jobs.soonest(db)],
  ['which kinds have a job in line', /\bjobs_(line|turns)\b/, (db) => queuesWithWork(['a', 'b'])(db, {})],
]

test.each(REQUESTS)('%s is found by an index however many there are: no scan, no sort', async (_, index, ask) => {
  const plan = await planOf(ask)
  expect(plan).toMatch(index)
  expect(plan).not.toMatch(/\bSCAN (jobs|webhook_\w+)(?! USING)|Seq Scan|Sort|TEMP B-TREE/)
})
