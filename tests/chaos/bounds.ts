import { join } from 'node:path'
import { eventually } from '../support/eventually'
import { type Client, createClient, type Json } from './client'

/** Of a new key. */
const REQUESTS_A_MINUTE = 60
const CENTS = 2
const MINUTE_MS = 60_000
/** More than a limit of so many lets in. */
const ABOVE = 1.01
const EAGER = { clients: 6, pauseMs: 100 }
const POOR_CLIENTS = 4

type Deps = { client: Client; folder: string; url: () => string }

/**
 * Clients that want more than they may: of a key with a limit of requests, and of an organization with little credit.
 * `end` ends them, and says how many requests of one minute were let in and whether the credit was used up.
 */
export async function startGreedy({ client, folder, url }: Deps) {
  const limited = (await made(client, 'keys', { name: 'limited' })).key as string
  const org = (await made(client, 'orgs', { name: 'poor' })).id as string
  const poor = (await made(client, 'keys', { name: 'poor', scope: 'org', org_id: org })).key as string
  const ops = (path: string, init: RequestInit) =>
    fetch(`http://localhost/ops/v1/${path}`, { ...init, unix: join(folder, 'ops.sock') } as RequestInit)
  const had = ((await (await ops(`credits?owner=${org}`, {})).json()) as { balance_cents: number }).balance_cents
  const taken = await ops('credits/adjustments', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ owner: org, amount_cents: CENTS - had, note: 'poor' }),
  })
  if (!taken.ok) throw new Error(`credits/adjustments: ${taken.status} ${await taken.text()}`)

  let isOver = false
  let refusals = 0
  const letIn: { sentAt: number; endedAt: number }[] = []
  const eager = async () => {
    const asking = createClient(url, limited)
    while (!isOver) {
      const sentAt = performance.now()
      if ((await asking.send('GET', 'models')).is === 'acked') letIn.push({ sentAt, endedAt: performance.now() })
      await Bun.sleep(EAGER.pauseMs)
    }
  }
  const spend = async () => {
    const asking = createClient(url, poor)
    while (!isOver) {
      const prompt = `Spend ${crypto.randomUUID()} [[say:${'word '.repeat(400)}]]`
      const outcome = await asking.send('POST', 'completions', { prompt, mode: 'fast' })
      const isPoor = outcome.is === 'refused' && outcome.status === 402
      if (isPoor) refusals += 1
      await Bun.sleep(isPoor ? 1_000 : EAGER.pauseMs)
    }
  }
  const all = [...Array.from({ length: EAGER.clients }, eager), ...Array.from({ length: POOR_CLIENTS }, spend)]
  return async () => {
    isOver = true
    await Promise.all(all)
    const max = maxInMinute(letIn)
    return { max, isAbove: max > REQUESTS_A_MINUTE * ABOVE, limit: REQUESTS_A_MINUTE, refusals }
  }
}

/** The most requests that were both sent and answered within one minute. */
function maxInMinute(letIn: readonly { sentAt: number; endedAt: number }[]): number {
  return Math.max(
    0,
    ...letIn.map(
      ({ sentAt }) => letIn.filter((one) => one.sentAt >= sentAt && one.endedAt < sentAt + MINUTE_MS).length,
    ),
  )
}

async function made(client: Client, path: string, body: object): Promise<Json> {
  const key = crypto.randomUUID()
  const outcome = await eventually(
    () => client.send('POST', path, body, key),
    ({ is }) => is !== 'unknown',
  )
  if (outcome.is !== 'acked') throw new Error(`${path}: ${JSON.stringify(outcome)}`)
  return outcome.value
}
