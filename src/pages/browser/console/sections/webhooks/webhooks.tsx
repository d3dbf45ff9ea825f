import { useState } from 'react'
import type { Deliveries, Webhook, WebhookStats } from '../../../../../webhooks/schema'
import { useGet, useMay, useSend } from '../../shell/api'
import { DOCS } from '../../shell/boot'
import { defineScreen } from '../../shell/screen'
import { Button, Chip, Choices, CopyButton, Field, Id } from '../../ui/controls'
import { Facts } from '../../ui/facts'
import { Ago, duration, plural, Time, whole } from '../../ui/format'
import { Ask } from '../../ui/overlay'
import { Failed, Shown } from '../../ui/states'

function State({ enabled, disabled_reason, failure_count }: Webhook) {
  if (!enabled) return <Chip state="off">{disabled_reason ? 'off by the server' : 'off'}</Chip>
  return failure_count > 0 ? <Chip state="bad">failing {failure_count}×</Chip> : <Chip state="good">ok</Chip>
}

const RETRIED_MS = 7 * 86_400_000
const RESULTS = [
  { value: '', label: 'All' },
  { value: 'failed', label: 'Failed' },
  { value: 'success', label: 'Delivered' },
] as const

function WebhookBody({ row, close }: { row: Webhook; close(): void }) {
  const path = `/webhooks/${row.id}`
  const may = useMay('manageWebhooks')
  const stats = useGet<WebhookStats>(`${path}/stats`)
  const [status, setStatus] = useState('')
  const [isRetrying, setRetrying] = useState(false)
  const deliveries = useGet<Deliveries>(`${path}/deliveries`, { status })
  const retry = useSend<{ queued: number }, object>('POST', `${path}/retry-failed`, ['/webhooks'])
  const change = useSend<unknown, object>('PATCH', path, ['/webhooks'])
  const test = useSend<unknown, object>('POST', `${path}/test`, ['/webhooks'])
  const remove = useSend<unknown>('DELETE', path, ['/webhooks'])
  const [isAsked, setAsked] = useState(false)
  const problem = change.error ?? test.error ?? remove.error
  return (
    <>
      {may && (
        <div className="actions">
          <Button busy={test.isPending} onClick={() => test.mutate({})}>
            Send a test
          </Button>
          <Button busy={change.isPending} onClick={() => change.mutate({ enabled: !row.enabled })}>
            {row.enabled ? 'Switch off' : 'Switch on'}
          </Button>
          <Button kind="danger" onClick={() => setAsked(true)}>
            Delete…
          </Button>
        </div>
      )}
      {problem && <Failed problem={problem} docs={DOCS} />}
      <Facts
        facts={[
          ['State', <State key="state" {...row} />],
          ['Id', <Id key="id" id={row.id} />],
          ['Events', row.event_types.join(', ')],
          ['Note', row.description ?? 'none'],
          ['In order', row.ordered ? 'yes' : 'no'],
          ['Last delivered', row.last_delivered_at ? <Ago key="last" at={row.last_delivered_at} /> : 'never'],
          [
            'Success',
            stats.data
              ? `${stats.data.deliveries.success_rate_percent ?? '–'} %, ${whole(stats.data.deliveries.pending)} waiting`
              : '…',
          ],
        ]}
      />
      <section aria-labelledby="deliveries">
        <h3 id="deliveries">Deliveries</h3>
        <div className="actions">
          <Choices label="Result" choices={RESULTS} value={status} onChange={setStatus} />
          {may && row.enabled && <Button onClick={() => setRetrying(true)}>Retry all failed…</Button>}
        </div>
        {retry.error && <Failed problem={retry.error} docs={DOCS} />}
        {retry.data && (
          <p className="notice good" role="status">
            {plural(retry.data.queued, 'event')} sent again, ten a second.
          </p>
        )}
        <Shown of={deliveries} docs={DOCS} rows={3}>
          {({ deliveries: found }) =>
            found.length === 0 ? (
              <p className="faint">No deliveries yet. Send a test.</p>
            ) : (
              <ul className="plain-list">
                {found.map(
                  ({ id, created_at, event_type, status, http_status, attempt, duration_ms, error_message }) => (
                    <li key={id}>
                      <Chip state={status === 'success' ? 'good' : 'bad'}>{http_status ?? status}</Chip>
                      <span>
                        {event_type}
                        <small>{error_message ?? `attempt ${attempt}, ${duration(duration_ms)}`}</small>
                      </span>
                      <Time at={created_at} />
                    </li>
                  ),
                )}
              </ul>
            )
          }
        </Shown>
      </section>
      {isRetrying && (
        <Ask
          title="Retry all failed"
          verb="Retry"
          busy={retry.isPending}
          onClose={() => setRetrying(false)}
          onDo={() => {
            const from = new Date(Date.now() - RETRIED_MS).toISOString()
            retry.mutate({ from }, { onSettled: () => setRetrying(false) })
          }}
        >
          <p>
            Every event of the last 7 days that {row.url} did not take is sent again, at most 10,000. What is sent
            cannot be taken back.
          </p>
        </Ask>
      )}
      {isAsked && (
        <Ask
          title="Delete the endpoint"
          verb="Delete"
          danger
          busy={remove.isPending}
          onClose={() => setAsked(false)}
          onDo={() => remove.mutate(undefined, { onSuccess: close })}
        >
          <p>Nothing more is delivered to {row.url}. Its record of deliveries goes too. This cannot be undone.</p>
        </Ask>
      )}
    </>
  )
}

function NewWebhook({ close }: { close(): void }) {
  const create = useSend<Webhook & { signing_secret: string }, object>('POST', '/webhooks', ['/webhooks'])
  const [form, setForm] = useState({ url: '', events: '*', description: '' })
  const field = (name: keyof typeof form) => ({
    value: form[name],
    onChange: ({ target }: { target: { value: string } }) => setForm({ ...form, [name]: target.value }),
  })
  const problemOf = (path: string) => create.error?.details.find((detail) => detail.path.startsWith(path))?.message
  if (create.data) {
    return (
      <div className="form">
        <p className="notice good" role="status">
          The endpoint is ready. Its signing secret is shown only now.
        </p>
        <label className="field">
          Signing secret
          <input className="mono" readOnly value={create.data.signing_secret} />
        </label>
        <div className="actions">
          <CopyButton text={create.data.signing_secret} label="Copy secret" />
          <Button kind="primary" onClick={close}>
            I have stored it
          </Button>
        </div>
      </div>
    )
  }
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate({
          url: form.url.trim(),
          event_types: form.events.split(/[\s,]+/).filter(Boolean),
          ...(form.description ? { description: form.description } : {}),
        })
      }}
    >
      <Field label="Address" help="Of your server, reachable over https." problem={problemOf('url')}>
        {(props) => <input {...props} {...field('url')} type="url" required autoComplete="off" />}
      </Field>
      <Field
        label="Events"
        help="Types with blanks in between, such as job.completed or webhook.*; * for all."
        problem={problemOf('event_types')}
      >
        {(props) => <input {...props} {...field('events')} required autoComplete="off" />}
      </Field>
      <Field label="Note" problem={problemOf('description')}>
        {(props) => <input {...props} {...field('description')} autoComplete="off" />}
      </Field>
      {create.error && <Failed problem={create.error} docs={DOCS} />}
      <div className="actions end">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" kind="primary" busy={create.isPending}>
          Add endpoint
        </Button>
      </div>
    </form>
  )
}

export default defineScreen<Webhook>({
  section: 'webhooks',
  title: 'Webhooks',
  list: { path: '/webhooks', rows: 'webhooks' },
  idOf: ({ id }) => id,
  columns: [
    { key: 'url', head: 'Endpoint', cell: ({ url }) => url, main: true, width: 'minmax(0, 2fr)' },
    { key: 'state', head: 'State', cell: State, main: true, width: '140px' },
    { key: 'events', head: 'Events', cell: ({ event_types }) => event_types.join(', ') },
    {
      key: 'last',
      head: 'Last delivery',
      cell: ({ last_delivered_at: at }) => (at ? <Ago at={at} /> : 'never'),
      main: true,
      width: '124px',
    },
  ],
  empty: { text: 'No endpoints. An endpoint of yours is told when something happens here.' },
  detail: { path: (id) => `/webhooks/${id}`, titleOf: ({ url }) => url, body: WebhookBody },
  create: { label: 'Add endpoint', permission: 'manageWebhooks', form: NewWebhook },
})
