import type { BusEvent } from '../../../../../events/schema'
import { useOwner } from '../../shell/api'
import { boot } from '../../shell/boot'
import { Form } from '../../shell/form'
import { defineScreen } from '../../shell/screen'
import { Code, Id } from '../../ui/controls'
import { Facts } from '../../ui/facts'
import { Time } from '../../ui/format'

const EventBody = ({ row: event }: { row: BusEvent }) => (
  <>
    <Facts
      facts={[
        ['Time', <Time key="time" at={event.timestamp} />],
        ['Id', <Id key="id" id={event.id} />],
        ['From', event.sourceConnector ?? 'the API'],
      ]}
    />
    <Code text={JSON.stringify(event.payload, null, 2) ?? 'null'} label="payload" />
  </>
)

function Publish({ close }: { close(): void }) {
  const { id } = useOwner()
  return (
    <Form
      fields={[
        { name: 'eventType', label: 'Event', required: true, help: 'Words joined by dots, such as order.created.' },
        { name: 'payload', label: 'Payload, as JSON', kind: 'json', rows: 6 },
      ]}
      values={{ payload: {} }}
      method="POST"
      path="/events"
      touches={['/events', '/hooks', '/workflows', '/webhooks']}
      verb="Publish event"
      more={{ orgId: id ?? boot.user.id }}
      onCancel={close}
      onDone={close}
    />
  )
}

export const Events = defineScreen<BusEvent>({
  section: 'workflows',
  title: 'Workflows',
  list: {
    path: '/events',
    rows: 'events',
    query: ({ id, looksAt }) => (looksAt === undefined ? { orgId: id ?? boot.user.id } : {}),
    everyMs: 30_000,
  },
  idOf: ({ id }) => id,
  columns: [
    { key: 'time', head: 'Time', cell: ({ timestamp }) => <Time at={timestamp} />, main: true, width: '144px' },
    { key: 'type', head: 'Event', cell: ({ eventType }) => <code>{eventType}</code>, main: true },
    { key: 'from', head: 'From', cell: ({ sourceConnector }) => sourceConnector ?? 'the API', main: true },
    { key: 'payload', head: 'Payload', cell: ({ payload }) => JSON.stringify(payload), width: 'minmax(0, 2fr)' },
  ],
  filters: [{ name: 'eventType', label: 'Event', hint: 'Event, such as order.*' }],
  empty: { text: 'No events. What happens here, or is published, starts hooks, workflows and deliveries.' },
  detail: { titleOf: ({ eventType }) => eventType, body: EventBody },
  create: { label: 'Publish an event', form: Publish },
})
