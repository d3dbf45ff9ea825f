import { Readable } from 'node:stream'
import { CSV_BEGIN } from '../../src/kernel/csv'
import { counted } from '../../src/kernel/text'
import type { Delivery } from '../../src/webhooks/schema'
import { apiOf, columnsOf, commandsOf, defined } from '../command'
import { BadWord, CheckFailed, expectData, notFoundFailure, usageFailure } from '../failure'
import { deliver, fileFormat } from '../files'
import { safeJson } from '../output/json'
import { csvOf } from '../output/print'
import { eachEntry, poll, tail } from '../pages'
import { itemFlag } from '../resource'
import type { Shell } from '../shell'
import { argument, choice, duration, type FlagsGiven, flag, LAST, text, whole, words } from '../words'
import { deliveryColumns as columns, webhookAt, webhookIds } from './webhooks'

const WEBHOOK_FLAG = itemFlag('webhooks', 'id of the webhook, or the start of it; all of yours by default')
const filters = {
  webhook: WEBHOOK_FLAG,
  event: text('TYPE', 'only of this event'),
  since: duration('24h', 'only attempts at most this old'),
  http: {
    ...text('CODE', 'only this answer: 503, 5xx, or none'),
    read: (word: string): string | undefined => {
      if (/^([1-9]\d\d|[1-9]xx|none)$/.test(word)) return word
      throw new BadWord(`is "${word}"; it must be a status such as 503 or 5xx, or none`)
    },
  },
}

/** Filters of attempts. Omitted filters match all. */
type Wanted = FlagsGiven<typeof filters> & { status?: Delivery['status'] | undefined; limit?: number | undefined }

/** The newest attempts of one webhook or all, newest first: `limit` per webhook, or with `all` every stored one. */
async function attempts(shell: Shell, { limit = 50, ...wanted }: Wanted, all = false): Promise<Delivery[]> {
  const oldest = wanted.since === undefined ? 0 : shell.clock.now() - wanted.since
  const ids = wanted.webhook === undefined ? await webhookIds(shell) : [wanted.webhook]
  const found: Delivery[] = []
  for (const id of ids) {
    const hook = await webhookAt(shell, id)
    const page = async ({ cursor }: { cursor?: string }) => {
      const query = defined({ limit, cursor, status: wanted.status })
      const { deliveries, next_cursor } = expectData(await hook.deliveries.get({ query }))
      const reaches = deliveries.every(({ created_at }) => Date.parse(created_at) >= oldest)
      return { items: deliveries, next: reaches ? next_cursor : null }
    }
    const read = all ? eachEntry(page) : (await page({})).items
    for await (const one of read) {
      const status = String(one.http_status ?? 'none')
      if (wanted.event !== undefined && one.event_type !== wanted.event) continue
      if (wanted.http !== undefined && ![status, `${status[0]}xx`].includes(wanted.http)) continue
      if (Date.parse(one.created_at) >= oldest) found.push(one)
    }
  }
  return found.sort((a, b) => b.created_at.localeCompare(a.created_at))
}

const read = [
  ...columns,
  ...columnsOf`
    ended ENDED min, url URL wide, headers HEADERS wide ${({ headers }) => JSON.stringify(headers ?? {})},
    body BODY min`,
]
const ANY = { event: undefined, since: undefined, http: undefined }
const command = commandsOf('deliveries', { apis: ['tenant', 'operator'], columns })

/** `try 2 failed 503 http_5xx at 2026-01-01T00:00:05.000Z, next at 2026-01-01T00:05:05.000Z` */
function lineOf({ attempt, status, http_status, error_message, created_at, next_retry_at }: Delivery): string {
  const why = [http_status, error_message].filter((one) => one !== null).map((one) => ` ${one}`)
  return `try ${attempt} ${status}${why.join('')} at ${created_at}${next_retry_at ? `, next at ${next_retry_at}` : ''}`
}

/** The attempt in the list whose id starts with `id`. @throws CommandFailed 3 */
function findAttempt(all: readonly Delivery[], id: string): Delivery {
  const found = all.find((one) => one.id.startsWith(id))
  if (found) return found
  throw notFoundFailure(`No attempt ${id} among the newest.`, 'svc-admin deliveries list')
}

const replayed = columnsOf`delivery_id DELIVERY, retried RETRIED flag`
/** Retries per second: low, because the receiver may have just recovered. */
const RATE = 5
const [POLL_MS, PATIENCE_MS] = [250, 20_000]
const NOTHING = 'No failed delivery can be sent again.'

/** For each event of a webhook, only the newest attempt counts. */
function stillFailed(newestFirst: readonly Delivery[]): Delivery[] {
  const seen = new Set<string>()
  return newestFirst.filter(({ webhook_id, event_id, status, next_retry_at }) => {
    const isNewest = !seen.has(`${webhook_id} ${event_id}`)
    seen.add(`${webhook_id} ${event_id}`)
    return isNewest && status === 'failed' && next_retry_at === null
  })
}

/** Sends again, and with `wait` shows each new attempt. Exits 9 when one failed, 8 when one has not ended in time. */
async function replay(shell: Shell, all: readonly Delivery[], pauseMs: number, wait = false): Promise<void> {
  const { api } = await apiOf(shell)
  const done: object[] = []
  const known = new Set((wait ? await attemptsOf(shell, all) : []).map(({ id }) => id))
  try {
    for (const [at, { id, webhook_id }] of all.entries()) {
      if (at > 0) await shell.clock.sleep(pauseMs, shell.signal)
      if (shell.signal.aborted) break
      done.push(expectData(await api.webhooks({ id: webhook_id }).deliveries({ deliveryId: id }).retry.post()))
    }
  } finally {
    if (!wait && (done.length || !all.length)) shell.print.list(done, replayed, NOTHING)
  }
  if (!wait) return
  const found = all.slice(0, done.length)
  let ended: Delivery[] = []
  await poll(shell, { within: PATIENCE_MS, every: POLL_MS }, async () => {
    const fresh = (await attemptsOf(shell, found)).filter(({ id }) => !known.has(id))
    ended = found.flatMap(
      (one) => fresh.find((other) => one.event_id === other.event_id && one.webhook_id === other.webhook_id) ?? [],
    )
    return ended.length === found.length ? ended : undefined
  })
  shell.print.list(ended, columns, NOTHING)
  if (ended.some(({ status }) => status === 'failed')) throw new CheckFailed()
  if (ended.length < found.length) shell.note(`${found.length - ended.length} of ${found.length} are still pending.`)
}

/** The newest attempts of these deliveries' webhooks. */
async function attemptsOf(shell: Shell, found: readonly Delivery[]): Promise<Delivery[]> {
  const ids = [...new Set(found.map(({ webhook_id }) => webhook_id))]
  const some = ids.map((webhook) => attempts(shell, { ...ANY, webhook }))
  return (await Promise.all(some)).flat()
}

export const deliveryCommands = [
  command`list: List delivery attempts, newest first
  Lists the newest of each webhook. With --watch the list is read again every two seconds.
  $ deliveries list --status failed --http 5xx
  $ deliveries list --webhook 31aa07c2-… --watch`({
    flags: {
      ...filters,
      status: choice(['success', 'failed'], 'only attempts with this result'),
      limit: whole('N', 'how many of each webhook at most; 50 by default', { min: 1, max: 100 }),
    },
    answer: ({ shell }, wanted) => attempts(shell, wanted),
    empty: 'No deliveries yet.',
  }),
  command`tail (live): Print delivery attempts as they end
  Runs until Ctrl-C. In a pipe, and with -o json, each attempt is one line of JSON.
  $ deliveries tail --failed
  $ deliveries tail --webhook 31aa07c2-… -o jsonl`({
    flags: { webhook: WEBHOOK_FLAG, failed: flag('only failed attempts'), last: LAST },
    async run(shell, { webhook, failed, last = 10 }) {
      const wanted = { ...ANY, webhook, status: failed ? ('failed' as const) : undefined }
      await tail(shell, { columns, newest: () => attempts(shell, wanted), last, what: 'attempt' })
    },
  }),
  command`get: Show one delivery attempt, its result, and the other attempts of the event
  Finds one of the fifty newest attempts of its webhook. --body also reads the body that was sent, which is recorded.
  $ deliveries get 9c1f…
  $ deliveries get 9c1f… --webhook 31aa07c2-… --body --json`({
    columns: read,
    args: { id: argument('id of the attempt, or the start of it') },
    flags: { webhook: WEBHOOK_FLAG, body: flag('show the headers and body that were sent; recorded') },
    async run(shell, { id, webhook, body }) {
      const known = await attempts(shell, { ...ANY, webhook })
      const found = findAttempt(known, id)
      const isOfSame = (one: Delivery) => one.event_id === found.event_id && one.webhook_id === found.webhook_id
      for (const one of known.filter(isOfSame).toReversed()) shell.note(lineOf(one))
      if (!body) return shell.print.item(found, read)
      const hook = await webhookAt(shell, found.webhook_id)
      shell.print.item(expectData(await hook.deliveries({ deliveryId: found.id }).get()), read)
    },
  }),
  command`replay (moderate, exits 3 5 8 9): Send the events of failed attempts again
  Sends the same bytes to the current address, signed with the current secret. --all takes every event that matches the filters and whose newest attempt failed; --dry-run counts them. With --wait it exits 9 when one fails again, and 8 when one is still pending.
  $ deliveries replay 9c1f…
  $ deliveries replay --all --webhook 31aa07c2-… --since 24h --yes`({
    columns: replayed,
    args: { ids: words('ids of the attempts, or the start of each id') },
    flags: {
      ...filters,
      all: flag('all failed events that match the filters, instead of ids'),
      wait: flag('wait for each result, at most 20 seconds'),
      rate: whole('N', `deliveries per second; ${RATE} by default`, { min: 1, max: 100 }),
    },
    async find(shell, { ids, all, wait: _, rate: __, ...wanted }) {
      if (!ids.length && !all)
        throw usageFailure('deliveries replay needs the id of an attempt, or --all.', 'svc-admin deliveries list')
      const known = await attempts(shell, wanted, all)
      const failed = () => shell.print.kept(stillFailed(known), columns)
      return { found: all ? failed() : ids.map((id) => findAttempt(known, id)) }
    },
    action: ({ found }) => `send ${counted(found.length, 'delivery', 'deliveries')} again`,
    question: ({ found }) => (found.length > 1 ? undefined : null),
    run: (shell, { found, wait, rate = RATE }) => replay(shell, found, 1_000 / rate, wait),
  }),
  command`export: Write every stored delivery attempt as CSV or JSON lines, newest first
  Attempts are stored as long as events, 30 days by default. The file is CSV; with -o jsonl it has one attempt per line.
  $ deliveries export --out deliveries.csv
  $ deliveries export --status failed --since 24h -o jsonl`({
    flags: {
      ...filters,
      status: choice(['success', 'failed'], 'only attempts with this result'),
      out: text('FILE', 'file to write instead of stdout; readable only by you'),
    },
    async run(shell, { out, ...wanted }) {
      const isCsv = fileFormat(shell, 'deliveries export') === 'csv'
      const all = await attempts(shell, wanted, true)
      const lines = isCsv ? csvOf(all, columns) : all.map((one) => safeJson(one))
      const text = `${isCsv ? CSV_BEGIN : ''}${lines.map((line) => `${line}\n`).join('')}`
      await deliver(shell, Readable.from([Buffer.from(text)]), out)
    },
  }),
]
