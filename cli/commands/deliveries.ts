import type { Delivery } from '../../src/webhooks/schema'
import { defineCommand } from '../command'
import { BadWord, CommandFailed, EXIT, expectData } from '../failure'
import { column } from '../output/columns'
import { eachEntry, tail } from '../pages'
import type { Shell } from '../shell'
import { webhookAt, webhookIds } from '../webhook-at'
import { argument, choice, duration, flag, LAST, text } from '../words'
import { deliveryColumns as columns } from './webhooks-columns'

/** Which attempts are wanted; those not named are all. */
type Wanted = {
  webhook: string | undefined
  status?: Delivery['status'] | undefined
  event: string | undefined
  since: number | undefined
  http: string | undefined
}

const WEBHOOK_FLAG = text('ID', 'id of the webhook; all of yours by default')

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

const common = { apis: ['tenant', 'operator'] } as const
const read = [
  ...columns,
  column('ended', 'ENDED', { min: true }),
  column('url', 'URL', { wide: true }),
  column('headers', 'HEADERS', { wide: true, show: ({ headers }) => JSON.stringify(headers ?? {}) }),
  column('body', 'BODY', { min: true }),
]
const ANY = { event: undefined, since: undefined, http: undefined }

const listDeliveries = defineCommand({
  ...common,
  columns,
  path: 'deliveries list',
  summary: 'List delivery attempts, newest first',
  about: 'Lists fifty for each webhook. With --watch the list is read again every two seconds.',
  examples: ['deliveries list --status failed --http 5xx', 'deliveries list --webhook 31aa07c2-… --watch'],
  impact: 'read',
  exits: [3],
  watchable: true,
  flags: { ...filters, status: choice(['success', 'failed'], 'only attempts with this result') },
  async run(shell, wanted) {
    shell.print.list(await attempts(shell, wanted), columns, 'No deliveries yet.')
  },
})

const tailDeliveries = defineCommand({
  ...common,
  columns,
  path: 'deliveries tail',
  summary: 'Print delivery attempts as they end',
  about: 'Runs until Ctrl-C. In a pipe, and with -o json, each attempt is one line of JSON.',
  examples: ['deliveries tail --failed', 'deliveries tail --webhook 31aa07c2-… -o jsonl'],
  impact: 'read',
  exits: [3],
  offline: false,
  flags: { webhook: WEBHOOK_FLAG, failed: flag('only failed attempts'), last: LAST },
  async run(shell, { webhook, failed, last = 10 }) {
    const wanted = { ...ANY, webhook, status: failed ? ('failed' as const) : undefined }
    await tail(shell, { columns, newest: () => attempts(shell, wanted), last, what: 'attempt' })
  },
})

const getDelivery = defineCommand({
  ...common,
  path: 'deliveries get',
  columns: read,
  summary: 'Show one delivery attempt, its result, and the other attempts of the event',
  about:
    'Finds one of the fifty newest attempts of its webhook. --body also reads the body that was sent, which is recorded.',
  examples: ['deliveries get 9c1f…', 'deliveries get 9c1f… --webhook 31aa07c2-… --body --json'],
  impact: 'read',
  exits: [3],
  args: { id: argument('id of the attempt, or the start of it') },
  flags: { webhook: WEBHOOK_FLAG, body: flag('show the headers and body that were sent; recorded') },
  async run(shell, { id, webhook, body }) {
    const known = await attempts(shell, { ...ANY, webhook })
    const found = findAttempt(known, id)
    const isOfSame = (one: Delivery) => one.event_id === found.event_id && one.webhook_id === found.webhook_id
    for (const one of known.filter(isOfSame).toReversed()) shell.note(lineOf(one))
    if (!body) return shell.print.item(found, read)
    const { hook } = await webhookAt(shell, found.webhook_id)
    shell.print.item(expectData(await hook.deliveries({ deliveryId: found.id }).get()), read)
  },
})

/** `try 2 failed 503 http_5xx at 2026-01-01T00:00:05.000Z, next at 2026-01-01T00:05:05.000Z` */
function lineOf({ attempt, status, http_status, error_message, created_at, next_retry_at }: Delivery): string {
  const why = [http_status, error_message].filter((one) => one !== null).map((one) => ` ${one}`)
  return `try ${attempt} ${status}${why.join('')} at ${created_at}${next_retry_at ? `, next at ${next_retry_at}` : ''}`
}

/** The attempt of this id among these. @throws CommandFailed 3 */
export function findAttempt(all: readonly Delivery[], id: string): Delivery {
  const found = all.find((one) => one.id.startsWith(id))
  if (found) return found
  throw new CommandFailed({
    exitCode: EXIT.missing,
    code: 'not_found',
    message: `No attempt ${id} among the newest.`,
    fix: 'svc-admin deliveries list',
  })
}

export const deliveryCommands = [listDeliveries, tailDeliveries, getDelivery]

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
