import { line, type Span, textSpan } from '../draw/line'
import { clockOf, momentOf, spellMs } from '../draw/spell'
import { type Model, type RowOf, rowsOf } from '../state/model'
import { column, dialog, its, listView } from './list-view'

type Delivery = RowOf<'deliveries'>

function resultOf({ status, next_retry_at }: Delivery): Span {
  if (status === 'success') return textSpan('✓ ok', 'good')
  return next_retry_at ? textSpan('↻ retry', 'retry') : textSpan('✗ failed', 'bad')
}

function sentOf({ bytes, signature, secret_version, webhook }: Delivery): string {
  const owner = `owner ${webhook.owner ?? '–'}   `
  return bytes === null
    ? `nothing was sent   ${owner}`
    : `${signature}   secret v${secret_version}   ${owner}body ${bytes} B `
}

const placeOf = ({ webhook }: Delivery): string => webhook.url.replace(/^https?:\/\//, '')

/** All loaded attempts for the same event and webhook, oldest first. */
function triesOf({ event_id, webhook_id }: Delivery, model: Model): string {
  return rowsOf(model, 'deliveries')
    .filter((one) => one.event_id === event_id && one.webhook_id === webhook_id)
    .toSorted((a, b) => a.created_at.localeCompare(b.created_at))
    .map(
      ({ attempt, created_at, http_status }) =>
        `${attempt} ${clockOf(Date.parse(created_at))} ${http_status ?? 'none'}`,
    )
    .slice(-4)
    .join('   ')
}

/** Why the delivery stopped, and what to do. */
function why({ status, next_retry_at, attempt, webhook }: Delivery): string[] {
  if (status === 'success') return ['Delivered: the endpoint accepted it.']
  if (!webhook.enabled) {
    const reason = webhook.disabled_reason === 'gone' ? 'it answered 410' : 'it kept failing'
    return [`The webhook is disabled: ${reason}.`, 'Fix the endpoint, press e to enable it, then R.']
  }
  if (next_retry_at)
    return [`Try ${attempt + 1} is at ${clockOf(Date.parse(next_retry_at))}. You do not need to do anything.`]
  return [
    `All ${attempt} tries failed; this endpoint has failed ${webhook.failure_count} times in a row.`,
    'Fix the endpoint, then press R.',
  ]
}

export const deliveries = listView<Delivery>({
  margin: 4,
  order: 'following newest',
  columns: [
    column('RESULT', 10, ({ status }) => status, { cell: resultOf }),
    column('EVENT', 20, ({ event_type }) => event_type),
    column('ENDPOINT', 21, placeOf, { grows: true }),
    column('HTTP', 6, ({ http_status }) => http_status ?? 0, {
      right: true,
      cell: ({ http_status }) => (http_status === null ? 'none' : String(http_status)),
    }),
    column('TRY', 5, ({ attempt }) => attempt, { right: true, spare: true }),
    column('TIME', 7, ({ duration_ms }) => duration_ms, {
      right: true,
      cell: ({ duration_ms }) => spellMs(duration_ms),
    }),
    column('AT', 7, ({ created_at }) => created_at, {
      right: true,
      cell: ({ created_at }, { now }) => momentOf(created_at, now).slice(0, 5),
    }),
  ],
  fields: {
    ...its<Delivery>('id'),
    status: (one) => (one.status === 'success' ? 'ok success' : one.next_retry_at ? 'retry failed' : 'failed'),
    event: ({ event_type }) => event_type,
    endpoint: placeOf,
    http: ({ http_status }) => http_status,
    try: ({ attempt }) => attempt,
    time: ({ duration_ms }) => duration_ms,
    error: ({ error_message }) => error_message,
  },
  total: ({ topics }) => Number((topics.overview?.facts.delivery as { total?: number } | undefined)?.total ?? 0),
  title: ({ id, event_id }) => `${id.slice(0, 8)}  ${event_id.slice(0, 12)}`,
  drawerRows: 8,
  drawer: (one, model, width) => [
    line(
      textSpan(' REQUEST  ', 'strong'),
      `POST ${one.webhook.url}`.slice(0, width - 34).padEnd(width - 34),
      ` webhook ${one.webhook.description ? `"${one.webhook.description}"` : one.webhook_id.slice(0, 8)}`,
    ),
    line(textSpan('   signature ', 'dim'), sentOf(one), textSpan('hidden: press b', 'dim')),
    line(
      textSpan(' RESPONSE ', 'strong'),
      `${one.http_status ?? 'none'} after ${spellMs(one.duration_ms)}`,
      one.error_message ? `   ${one.error_message}` : '',
    ),
    line(textSpan(' HISTORY  ', 'strong'), triesOf(one, model)),
    ...why(one).map((text, at) => line(textSpan(at ? '          ' : ' WHY      ', 'strong'), text)),
  ],
  empty: ['No deliveries yet.', 'Add a webhook: press n, or svc-admin webhooks create --url …'],
  hints: '⏎ open  R replay  A replay all shown  b body  e webhook on  f follow  ?',
  actions: {
    'deliveries.replay': (rows) => replay(rows.filter(({ status }) => status === 'failed')),
    'deliveries.replay-all': (rows) => replay(rows.filter(({ status }) => status === 'failed')),
    'deliveries.create': () => ({ begin: 'webhooks create --url ' }),
    // The body holds the tenant's data, so reading it is recorded.
    'deliveries.body': ([row]) =>
      row
        ? { run: ['deliveries', 'get', row.id, '--webhook', row.webhook_id, '--body', '-o', 'yaml'], write: false }
        : 'No attempt is selected.',
    'deliveries.enable': ([row]) =>
      !row || row.webhook.enabled
        ? 'This webhook is already enabled.'
        : dialog(
            `Enable the webhook?`,
            [`Events are sent to ${row.webhook.url} again.`, 'Undo: svc-admin webhooks disable'],
            [['webhooks', 'enable', row.webhook_id]],
            'Switch on',
          ),
  },
})

function replay(rows: readonly Delivery[]) {
  if (!rows.length) return 'Only failed attempts can be sent again.'
  return dialog(
    rows.length === 1 ? 'Send it again?' : `Send ${rows.length} deliveries again?`,
    ['The same bytes are sent to the current address.'],
    [['deliveries', 'replay', ...rows.map(({ id }) => id), '--yes']],
    'Send again',
  )
}
