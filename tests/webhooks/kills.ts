import { Webhook } from 'standardwebhooks'
import { eventually } from '../support/eventually'
import { startNodes } from '../support/nodes'
import { seededRandom } from '../support/random'

type Input = {
  events: number
  /** Kills that fall evenly between the events; or one so long after each start, as long as events are published. */
  kills: { times: number } | { everyMs: number; eventsASecond: number }
  seed: number
  /** A Postgres server: two nodes on one database, each with a folder of its own. SQLite has one node. */
  postgres: string | undefined
}

const RECEIVERS = 3
/** Of ten answers, how many are refusals. */
const FAILING = 3
export const LEASE_S = 5
/** Every so many events start a run of a workflow. */
const FLOWS = 10
/** Calls that the five steps of a run make. */
const CALLS = 2
/** Requests under way at once. */
const PUBLISHERS = 8
const PATIENCE_MS = 120_000

/**
 * Publishes events to three receivers that refuse 30 % of what they get, and starts runs, while nodes are killed
 * (docs/promises.md I17, I38). Each problem is a sentence.
 */
export async function runDeliveryKills({ events, kills, seed, postgres }: Input) {
  const random = seededRandom(seed)
  const receivers = Array.from({ length: RECEIVERS }, () => receiver(() => random.between(1, 10) <= FAILING))
  const stepped = receiver(() => false)
  const env = {
    SVC_EGRESS_ALLOW: '127.0.0.1/32',
    SVC_JOB_LEASE_SECONDS: String(LEASE_S),
    SVC_WEBHOOK_RETRY_SCHEDULE: Array(20).fill(1).with(0, 0).join(','),
  }
  const nodes = await startNodes({ random, postgres, env, patienceMs: PATIENCE_MS })
  const { surely } = nodes
  try {
    return await run()
  } finally {
    await nodes.close()
    for (const one of [...receivers, stepped]) one.stop()
  }

  async function run() {
    const { user, active_org_id } = await surely('auth/me')
    const orgId = active_org_id ?? user.id
    const made = await Promise.all(
      receivers.map(({ url }, n) => surely('webhooks', { url, event_types: ['order.*'] }, `webhook-${n}`)),
    )
    for (const [n, { signing_secret }] of made.entries()) receivers[n]!.verifyWith(signing_secret)
    const trigger = { triggerType: 'event', triggerConfig: { eventPattern: 'tide.came' } }
    const turned = { eventType: 'tide.turned', payload: { run: '{{run.id}}' } }
    const call = { type: 'http', name: 'call', config: { url: stepped.url, method: 'POST' } }
    const steps = [
      call,
      { type: 'event', name: 'tell', config: turned },
      { type: 'transform', name: 'shape', config: { template: '{{steps.0.output.status}}' } },
      call,
      { type: 'output', name: 'end', config: { format: 'text', template: 'done' } },
    ]
    const { workflow } = await surely('workflows', { name: 'Tide', ...trigger, steps }, 'workflow')

    const published: string[] = []
    const flows = Math.floor(events / FLOWS)
    let next = 0
    const began = performance.now()
    const publish = async () => {
      for (let n = next++; n < events; n = next++) {
        if ('eventsASecond' in kills) {
          await Bun.sleep(Math.max(0, began + (n / kills.eventsASecond) * 1_000 - performance.now()))
        }
        const input = { orgId, eventType: 'order.created', payload: { n } }
        published.push((await surely('events', input, `event-${n}`)).id)
        if (n % FLOWS === 0 && n / FLOWS < flows) {
          await surely('events', { orgId, eventType: 'tide.came', payload: { n } }, `tide-${n}`)
        }
      }
    }
    const overdue = nodes.watchOverdue()
    const publishing = Promise.all(Array.from({ length: PUBLISHERS }, publish))
    let killed = 0
    const kill = async () => {
      await nodes.killOne()
      killed += 1
    }
    if ('times' in kills) {
      for (let n = 1; n <= kills.times; n++) {
        await eventually(() => published.length >= (n * events) / (kills.times + 1), Boolean, PATIENCE_MS)
        await kill()
      }
    } else {
      while (published.length < events) {
        // So long it lives: a start may take longer than that.
        await Bun.sleep(kills.everyMs)
        await kill()
      }
    }
    await publishing
    const ended = performance.now()
    const arrived = () => receivers.every(({ accepted }) => published.every((id) => accepted.has(id)))
    const isThere = await eventually(arrived, Boolean, PATIENCE_MS).catch(() => false)
    const open = async () => {
      const counts = await Promise.all(
        ['running', 'paused', 'failed'].map((status) => surely(`workflows/${workflow.id}/runs?status=${status}`)),
      )
      return counts.flatMap(({ runs }) => runs).length
    }
    const rests = async () => {
      if ((await open()) === 0) return true
      await Bun.sleep(200)
      return false
    }
    const isDone = await eventually(rests, Boolean, PATIENCE_MS).catch(() => false)
    const afterMs = performance.now() - ended
    const overdueMs = await overdue()

    const problems: string[] = []
    if ('everyMs' in kills && overdueMs > LEASE_S * 1_000) problems.push(`work stood for ${Math.round(overdueMs)} ms`)
    const holds = (condition: unknown, problem: string) => void (condition || problems.push(problem))
    holds(isThere, 'an event did not reach every receiver')
    holds(isDone, `${await open()} runs did not complete`)
    holds(new Set(published).size === events, 'an event was stored twice')
    for (const [n, { got }] of receivers.entries()) {
      const texts = Map.groupBy(got, ({ headers }) => headers['webhook-id']!)
      holds(texts.size === events, `receiver ${n} has heard of ${texts.size} events`)
      const isOne = [...texts].every(
        ([id, some]) => new Set(some.map(({ body }) => body)).size === 1 && JSON.parse(some[0]!.body).id === id,
      )
      holds(isOne, `receiver ${n} got different bytes in two attempts`)
      holds(receivers[n]!.forged() === 0, `receiver ${n} got signatures that are none`)
      // One that arrived just before its node was killed is on the log with its next attempt.
      const stats = () => surely(`webhooks/${made[n].id}/stats`)
      const logged = (found: Awaited<ReturnType<typeof stats>>) => found.deliveries.successes >= events
      const { deliveries } = await eventually(stats, logged, PATIENCE_MS).catch(stats)
      holds(deliveries.successes >= events, `webhook ${n} has ${deliveries.successes} successes on its log`)
      holds(deliveries.total <= got.length, `webhook ${n} has more attempts on its log than were made`)
    }
    const notices: string[] = []
    for (let cursor = ''; ; ) {
      const page = await surely(`events?eventType=tide.turned&limit=100${cursor}`)
      notices.push(...page.events.map(({ payload }: { payload: { run: string } }) => payload.run))
      if (!page.has_more) break
      cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
    }
    holds(
      notices.length === flows && new Set(notices).size === flows,
      `${notices.length} events of steps for ${flows} runs`,
    )
    const keys = new Set(stepped.got.map(({ headers }) => headers['idempotency-key']))
    holds(keys.size === flows * CALLS, `${keys.size} keys of calls for ${flows} runs of ${CALLS}`)
    const attempts = receivers.reduce((sum, { got }) => sum + got.length, 0)
    return {
      events,
      attempts,
      flows,
      repeated: stepped.got.length - flows * CALLS,
      kills: killed,
      afterMs,
      overdueMs,
      problems,
    }
  }
}

function receiver(isBad: () => boolean) {
  const accepted = new Set<string>()
  const got: { headers: Record<string, string>; body: string }[] = []
  let verifier: Webhook | null = null
  let forged = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = await request.text()
      const headers = Object.fromEntries(request.headers)
      got.push({ headers, body })
      if (verifier && !isVerified(verifier, body, headers)) forged += 1
      if (isBad()) return new Response(null, { status: 503 })
      if (headers['webhook-id'] !== undefined) accepted.add(headers['webhook-id'])
      return new Response(null, { status: 204 })
    },
  })
  return {
    accepted,
    got,
    url: `http://127.0.0.1:${server.port}/`,
    forged: () => forged,
    verifyWith: (secret: string) => {
      verifier = new Webhook(secret)
    },
    stop: () => server.stop(true),
  }
}

function isVerified(verifier: Webhook, body: string, headers: Record<string, string>): boolean {
  try {
    verifier.verify(body, headers)
    return true
  } catch {
    return false
  }
}
