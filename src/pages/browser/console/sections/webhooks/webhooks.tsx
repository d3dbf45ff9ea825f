import { useState } from 'react'
import type { Rotated, Webhook, WebhookStats } from '../../../../../webhooks/schema'
import { Actions, type ActionsProps, deletion } from '../../shell/actions'
import { useGet, useMay } from '../../shell/api'
import { defineScreen } from '../../shell/screen'
import { agoColumn, column } from '../../ui/columns'
import { Chip, Id, Menu } from '../../ui/controls'
import { Facts, Part } from '../../ui/facts'
import { Ago, plural, whole } from '../../ui/format'
import { DeliveryList } from './deliveries'
import { EndpointForm, EVENTS, NewSecret } from './endpoint'

function State({ enabled, disabled_reason, failure_count }: Webhook) {
  if (!enabled) return <Chip state="off">{disabled_reason ? 'off by the server' : 'off'}</Chip>
  return failure_count > 0 ? <Chip state="bad">failing {failure_count}×</Chip> : <Chip state="good">ok</Chip>
}

/** An endpoint without an address is one that somebody's command line listens to. */
const nameOf = ({ url }: Webhook) => (url === 'listen:' ? 'svc-admin webhooks listen' : url)
const RETRIED_MS = 7 * 86_400_000
const GRACE_S = 86_400
const TESTS = EVENTS.map(([name]) => name)

function actionsOf(row: Webhook, close: () => void): Omit<ActionsProps, 'touches'> {
  const path = `/webhooks/${row.id}`
  const lost = `Nothing more is delivered to ${nameOf(row)}. Its record of deliveries goes too. This cannot be undone.`
  return {
    permission: 'manageWebhooks',
    actions: [
      {
        label: 'Rotate the secret…',
        path: `${path}/rotate-secret`,
        body: { grace_seconds: GRACE_S },
        ask: ROTATION,
        shows: ({ signing_secret }: Rotated) => <NewSecret secret={signing_secret} onDone={close} />,
      },
      { label: row.enabled ? 'Switch off' : 'Switch on', method: 'PATCH', path, body: { enabled: !row.enabled } },
      deletion(path, lost, close),
    ],
  }
}

function WebhookBody({ row }: { row: Webhook }) {
  const path = `/webhooks/${row.id}`
  const may = useMay('manageWebhooks')
  const stats = useGet<WebhookStats>(`${path}/stats`)
  const [tested, setTested] = useState('completion.created')
  const { success_rate_percent: rate = null, pending = 0 } = stats.data?.deliveries ?? {}
  return (
    <>
      <Facts
        of={{
          State: <State {...row} />,
          Id: <Id id={row.id} />,
          Events: row.event_types.join(', '),
          Note: row.description ?? 'none',
          'In order': row.ordered ? 'yes' : 'no',
          'Last delivered': row.last_delivered_at ? <Ago at={row.last_delivered_at} /> : 'never',
          Success: stats.data ? `${rate === null ? 'no deliveries yet' : `${rate} %`}, ${whole(pending)} waiting` : '…',
        }}
      />
      <Part title="Deliveries">
        {may && (
          <Actions
            touches={['/webhooks']}
            actions={[
              {
                label: 'Send a test',
                path: `${path}/test`,
                body: { event_type: tested, data: EVENTS.find(([name]) => name === tested)?.[1].data ?? {} },
              },
              row.enabled && {
                label: 'Retry all failed…',
                path: `${path}/retry-failed`,
                body: () => ({ from: new Date(Date.now() - RETRIED_MS).toISOString() }),
                ask: `Every event of the last 7 days that ${row.url} did not take is sent again, at most 10,000. What is sent cannot be taken back.`,
                shows: ({ queued }: { queued: number }) => (
                  <p className="notice good" role="status">
                    {plural(queued, 'event')} sent again, ten a second.
                  </p>
                ),
              },
            ]}
          >
            <Menu aria-label="Event of the test" value={tested} choices={TESTS} onChange={setTested} />
          </Actions>
        )}
        <DeliveryList webhook={row} />
      </Part>
      {may && (
        <Part title="Change it">
          <EndpointForm key={row.updated_at} of={row} onDone={() => {}} />
        </Part>
      )}
    </>
  )
}

const ROTATION =
  'The new secret is shown once. For 24 hours, deliveries have a signature of the old one too, in the header webhook-signature. The header svc-webhook-signature has the new one at once.'

const NewWebhook = ({ close }: { close(): void }) => <EndpointForm onDone={close} onCancel={close} />

export default defineScreen<Webhook>('webhooks', 'Webhooks', {
  list: { path: '/webhooks', rows: 'webhooks', everyMs: 10_000 },
  columns: [
    column('url', 'Endpoint', { cell: nameOf, main: true, width: 'minmax(0, 2fr)' }),
    column('state', 'State', { cell: State, main: true, width: '140px' }),
    column('events', 'Events', { cell: ({ event_types }) => event_types.join(', ') }),
    agoColumn('last', 'Last delivery', ({ last_delivered_at: at }) => at, { number: false, width: '124px' }),
  ],
  empty: { text: 'No endpoints. An endpoint is called when something happens here.' },
  detail: { path: (id) => `/webhooks/${id}`, titleOf: nameOf, actions: actionsOf, body: WebhookBody, wide: true },
  create: { label: 'Add endpoint', permission: 'manageWebhooks', form: NewWebhook },
})
