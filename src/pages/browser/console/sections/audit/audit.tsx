import { Link } from 'wouter'
import type { Member } from '../../../../../accounts/orgs/schema'
import type { AuditEvent } from '../../../../../audit/schema'
import { useGet, useOwner } from '../../shell/api'
import { boot } from '../../shell/boot'
import { defineScreen } from '../../shell/screen'
import { Code, Id } from '../../ui/controls'
import { Facts } from '../../ui/facts'
import { short, Time } from '../../ui/format'

/** Who did it: the reader, somebody of the organization by name, or an id. */
function Who({ userId }: AuditEvent) {
  const { id, looksAt } = useOwner()
  const team = useGet<{ members: Member[] }>(`/orgs/${id}/members`, {}, { off: id === null || looksAt !== undefined })
  if (userId === null) return <>–</>
  if (userId === boot.user.id) return <>you</>
  const member = team.data?.members.find(({ user_id }) => user_id === userId)
  return <span title={userId}>{member?.name ?? member?.email ?? short(userId)}</span>
}

function EventBody({ row: event }: { row: AuditEvent }) {
  const owner = useOwner()
  return (
    <>
      <Facts
        facts={[
          ['Time', <Time key="time" at={event.timestamp} />],
          ['Event', <Id key="id" id={event.id} />],
          ['About', `${event.entityType} ${event.entityId ?? ''}`],
          ['Person', <Who key="who" {...event} />],
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
  views: true,
  idOf: ({ id }) => id,
  columns: [
    { key: 'time', head: 'Time', cell: ({ timestamp }) => <Time at={timestamp} />, main: true, width: '136px' },
    { key: 'action', head: 'Action', cell: ({ action }) => action, main: true },
    {
      key: 'entity',
      head: 'About',
      cell: ({ entityType, entityId }) => (
        <span title={entityId ?? undefined}>
          {entityType} {entityId && short(entityId)}
        </span>
      ),
      main: true,
    },
    { key: 'who', head: 'Person', cell: (event) => <Who {...event} />, width: 'minmax(104px, 0.7fr)' },
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
