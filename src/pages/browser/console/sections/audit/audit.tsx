import { Link } from 'wouter'
import type { AuditEvent } from '../../../../../audit/schema'
import { useOwner } from '../../shell/api'
import { defineScreen } from '../../shell/screen'
import { Code, Id } from '../../ui/controls'
import { Facts } from '../../ui/facts'
import { Time } from '../../ui/format'

function EventBody({ row: event }: { row: AuditEvent }) {
  const owner = useOwner()
  return (
    <>
      <Facts
        facts={[
          ['Time', <Time key="time" at={event.timestamp} />],
          ['Event', <Id key="id" id={event.id} />],
          ['About', `${event.entityType} ${event.entityId ?? ''}`],
          ['Person', event.userId ?? 'none'],
          ['Key', event.apiKeyId ?? 'none'],
          [
            'Request',
            <Link key="request" href={`/${owner.slug}/requests/${event.requestId}`}>
              {event.requestId}
            </Link>,
          ],
          ['Hash', <code key="hash">{event.hash}</code>],
          ['Hash before', <code key="before">{event.prevHash}</code>],
        ]}
      />
      <section aria-label="What was asked">
        <h3>Asked</h3>
        <Code text={JSON.stringify(event.inputSummary, null, 2)} label="what was asked" />
      </section>
      <section aria-label="What came of it">
        <h3>Came of it</h3>
        <Code text={JSON.stringify(event.outputSummary, null, 2)} label="what came of it" />
      </section>
    </>
  )
}

export default defineScreen<AuditEvent>({
  section: 'audit',
  title: 'Audit',
  list: { path: '/audit', rows: 'events', query: ({ id, looksAt }) => (looksAt ? {} : { scope: id ? 'org' : 'user' }) },
  idOf: ({ id }) => id,
  columns: [
    { key: 'time', head: 'Time', cell: ({ timestamp }) => <Time at={timestamp} />, main: true, width: '136px' },
    { key: 'action', head: 'Action', cell: ({ action }) => action, main: true },
    { key: 'entity', head: 'About', cell: ({ entityType, entityId }) => `${entityType} ${entityId ?? ''}`, main: true },
    { key: 'who', head: 'Person', cell: ({ userId }) => userId ?? '–' },
    {
      key: 'request',
      head: 'Request',
      cell: ({ requestId }) => <code>{requestId}</code>,
      width: 'minmax(0, 1.2fr)',
    },
  ],
  filters: [
    { name: 'action', label: 'Action', hint: 'Action, such as key.*' },
    { name: 'request_id', label: 'Request id' },
  ],
  empty: { text: 'Nothing was recorded here yet.' },
  detail: { titleOf: ({ action }) => action, body: EventBody },
})
