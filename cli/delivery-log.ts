import type { Delivery } from '../src/webhooks/schema'
import { BadWord, expectData } from './failure'
import { eachEntry } from './pages'
import type { Shell } from './shell'
import { webhookAt, webhookIds } from './webhook-at'
import { duration, text } from './words'

/** Which attempts are wanted; those not named are all. */
export type Wanted = {
  webhook: string | undefined
  status?: Delivery['status'] | undefined
  event: string | undefined
  since: number | undefined
  http: string | undefined
}

export const WEBHOOK_FLAG = text('ID', 'id of the webhook; all of yours by default')
export const filters = {
  webhook: WEBHOOK_FLAG,
  event: text('TYPE', 'only of this event'),
  since: duration('24h', 'only attempts at most this old'),
  http: {
    ...text('CODE', 'only this answer: 503, 5xx, or none'),
    read: (word: string) => {
      if (/^([1-9]\d\d|[1-9]xx|none)$/.test(word)) return word
      throw new BadWord(`is "${word}"; it must be a status such as 503 or 5xx, or none`)
    },
  },
}

/** The newest attempts of one webhook, or of all, newest first: fifty of each, or all that is kept. */
export async function attempts(shell: Shell, wanted: Wanted, all = false): Promise<Delivery[]> {
  const oldest = wanted.since === undefined ? 0 : shell.clock.now() - wanted.since
  const ids = wanted.webhook === undefined ? await webhookIds(shell) : [wanted.webhook]
  const found: Delivery[] = []
  for (const id of ids) {
    const { hook } = await webhookAt(shell, id)
    const page = async ({ cursor }: { cursor?: string }) => {
      const query = { ...(cursor ? { cursor } : {}), ...(wanted.status === undefined ? {} : { status: wanted.status }) }
      const { deliveries, next_cursor } = expectData(await hook.deliveries.get({ query }))
      const reaches = deliveries.every(({ created_at }) => Date.parse(created_at) >= oldest)
      return { items: deliveries, next: reaches ? next_cursor : null }
    }
    const read = all ? eachEntry(page) : (await page({})).items
    for await (const one of read)
      if (
        (wanted.event === undefined || one.event_type === wanted.event) &&
        answeredSo(one.http_status, wanted.http) &&
        Date.parse(one.created_at) >= oldest
      )
        found.push(one)
  }
  return found.sort((a, b) => b.created_at.localeCompare(a.created_at))
}

function answeredSo(status: number | null, http: string | undefined): boolean {
  if (http === undefined) return true
  if (http === 'none' || status === null) return http === 'none' && status === null
  return http.endsWith('xx') ? Math.floor(status / 100) === Number(http[0]) : status === Number(http)
}
