import { useState } from 'react'
import type { Deliveries, Rotated, Webhook, WebhookStats } from '../../../../../webhooks/schema'
import { useGet, useMay, useSend } from '../../shell/api'
import { defineScreen } from '../../shell/screen'
import { Button, Chip, Choices, Id } from '../../ui/controls'
import { Facts } from '../../ui/facts'
import { Ago, duration, plural, Time, whole } from '../../ui/format'
import { Ask } from '../../ui/overlay'
import { Failed, Shown } from '../../ui/states'
import { DeliveryDialog, problemOf } from './delivery'
import { EndpointForm, EVENTS, Secret } from './endpoint'

function State({ enabled, disabled_reason, failure_count }: Webhook) {
  if (!enabled) return <Chip state="off">{disabled_reason ? 'off by the server' : 'off'}</Chip>
  return failure_count > 0 ? <Chip state="bad">failing {failure_count}×</Chip> : <Chip state="good">ok</Chip>
}

const RETRIED_MS = 7 * 86_400_000
const GRACE_S = 86_400
const sampleOf = (type: string) => EVENTS.find(([name]) => name === type)?.[1].data ?? {}
const rateOf = (percent: number | null) => (percent === null ? 'no deliveries yet' : `${percent} %`)
const RESULTS = { '': 'All', failed: 'Failed', success: 'Delivered' } as const

function WebhookBody({ row, close }: { row: Webhook; close(): void }) {
  const path = `/webhooks/${row.id}`
  const may = useMay('manageWebhooks')
  const stats = useGet<WebhookStats>(`${path}/stats`)
  const [status, setStatus] = useState('')
  const [type, setType] = useState('')
  const [isRetrying, setRetrying] = useState(false)
  const deliveries = useGet<Deliveries>(`${path}/deliveries`, { status, event_type: type }, { everyMs: 5_000 })
  const retry = useSend<{ queued: number }, object>('POST', `${path}/retry-failed`, ['/webhooks'])
  const change = useSend<unknown, object>('PATCH', path, ['/webhooks'])
  const test = useSend<unknown, object>('POST', `${path}/test`, ['/webhooks'])
  const rotate = useSend<Rotated, object>('POST', `${path}/rotate-secret`, ['/webhooks'])
  const remove = useSend<unknown>('DELETE', path, ['/webhooks'])
  const [tested, setTested] = useState('')
  const [opened, setOpened] = useState<string | null>(null)
  const [isRotating, setRotating] = useState(false)
  const [isAsked, setAsked] = useState(false)
  const problem = change.error ?? test.error ?? rotate.error ?? remove.error
  if (rotate.data) return <Secret secret={rotate.data.signing_secret} onDone={rotate.reset} />
  return (
    <>
      {may && (
        <div className="actions">
          <select aria-label="Event of the test" value={tested} onChange={({ target }) => setTested(target.value)}>
            <option value="">completion.created</option>
            {EVENTS.map(([name]) => name !== 'completion.created' && <option key={name}>{name}</option>)}
          </select>
          <Button
            busy={test.isPending}
            onClick={() => test.mutate(tested ? { event_type: tested, data: sampleOf(tested) } : {})}
          >
            Send a test
          </Button>
          <Button onClick={() => setRotating(true)}>Rotate the secret…</Button>
          <Button busy={change.isPending} onClick={() => change.mutate({ enabled: !row.enabled })}>
            {row.enabled ? 'Switch off' : 'Switch on'}
          </Button>
          <Button kind="danger" onClick={() => setAsked(true)}>
            Delete…
          </Button>
        </div>
      )}
      {problem && <Failed problem={problem} />}
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
              ? `${rateOf(stats.data.deliveries.success_rate_percent)}, ${whole(stats.data.deliveries.pending)} waiting`
              : '…',
          ],
        ]}
      />
      <section aria-labelledby="deliveries">
        <h3 id="deliveries">Deliveries</h3>
        <div className="actions">
          <Choices label="Result" choices={RESULTS} value={status} onChange={setStatus} />
          <select aria-label="Event type" value={type} onChange={({ target }) => setType(target.value)}>
            <option value="">Event: any</option>
            {EVENTS.map(([name]) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          {may && row.enabled && <Button onClick={() => setRetrying(true)}>Retry all failed…</Button>}
        </div>
        {retry.error && <Failed problem={retry.error} />}
        {retry.data && (
          <p className="notice good" role="status">
            {plural(retry.data.queued, 'event')} sent again, ten a second.
          </p>
        )}
        <Shown of={deliveries} rows={3}>
          {({ deliveries: found }) =>
            found.length === 0 ? (
              <p className="faint">{status || type ? 'None matches.' : 'No deliveries yet. Send a test.'}</p>
            ) : (
              <ul className="plain-list">
                {found.map(
                  ({ id, created_at, event_type, status, http_status, attempt, duration_ms, error_message }) => (
                    <li key={id}>
                      <Chip state={status === 'success' ? 'good' : 'bad'}>{http_status ?? status}</Chip>
                      <span>
                        <button type="button" className="link" onClick={() => setOpened(id)}>
                          {event_type}
                        </button>
                        <small>
                          {[problemOf({ error_message, http_status }), `attempt ${attempt}, ${duration(duration_ms)}`]
                            .filter(Boolean)
                            .join(', ')}
                        </small>
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
      {may && (
        <section aria-labelledby="change">
          <h3 id="change">Change it</h3>
          <EndpointForm key={row.updated_at} of={row} onDone={() => {}} />
        </section>
      )}
      {opened && <DeliveryDialog webhook={row} id={opened} may={may} onClose={() => setOpened(null)} />}
      {isRotating && (
        <Ask
          title="Rotate the secret"
          verb="Rotate"
          busy={rotate.isPending}
          onClose={() => setRotating(false)}
          onDo={() => rotate.mutate({ grace_seconds: GRACE_S }, { onSettled: () => setRotating(false) })}
        >
          <p>
            The new secret is shown once. For 24 hours, deliveries have a signature of the old one too, in the header
            webhook-signature. The header svc-webhook-signature has the new one at once.
          </p>
        </Ask>
      )}
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

const NewWebhook = ({ close }: { close(): void }) => <EndpointForm onDone={close} onCancel={close} />

export default defineScreen<Webhook>({
  section: 'webhooks',
  title: 'Webhooks',
  list: { path: '/webhooks', rows: 'webhooks', everyMs: 10_000 },
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
  empty: { text: 'No endpoints. An endpoint is called when something happens here.' },
  detail: { path: (id) => `/webhooks/${id}`, titleOf: ({ url }) => url, body: WebhookBody },
  create: { label: 'Add endpoint', permission: 'manageWebhooks', form: NewWebhook },
})
