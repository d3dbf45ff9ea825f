import { Link } from 'wouter'
import type { Member } from '../../../../../accounts/orgs/schema'
import type { AuditEvent, Integrity } from '../../../../../audit/schema'
import { type Query, useGet, useOwner } from '../../shell/api'
import { boot } from '../../shell/boot'
import { momentFilters, rangeFilter } from '../../shell/range'
import { defineScreen } from '../../shell/screen'
import { column, timeColumn } from '../../ui/columns'
import { Button, Chip, Code, Id, toneOf } from '../../ui/controls'
import { EventBody } from '../../ui/facts'
import { plural, short, Time } from '../../ui/format'
import { Failed } from '../../ui/states'

/** The actor: the reader, a member of the organization by name, or an id. */
function Who({ userId }: AuditEvent) {
  const { id, looksAt } = useOwner()
  const team = useGet<{ members: Member[] }>(`/orgs/${id}/members`, {}, { off: id === null || looksAt !== undefined })
  if (userId === null) return <>–</>
  if (userId === boot.user.id) return <>you</>
  const member = team.data?.members.find(({ user_id }) => user_id === userId)
  return <span title={userId}>{member?.name ?? member?.email ?? short(userId)}</span>
}

function RequestLink({ requestId }: AuditEvent) {
  const { slug } = useOwner()
  return <Link href={`/${slug}/requests/${requestId}`}>{requestId}</Link>
}

/** Status of the recorded answer. A dash if the event has none. */
const Result = ({ outputSummary: { status } }: AuditEvent) =>
  typeof status === 'number' ? <Chip state={toneOf(status)}>{status}</Chip> : '–'

const ENTITIES = (
  'completion response api_key skill job image video document audio embedding canvas workflow workflow_run hook ' +
  'webhook guardrail_policy routing_preference iframe conversation memory file settings organization billing rate_limit'
).split(' ')

/** Recomputes the hash chain of the listed events, and shows the result in words. */
function Verify({ query }: { query: Query }) {
  const { scope, from, to } = query
  const check = useGet<Integrity>('/audit/integrity', { scope, from, to }, { off: true })
  const { data: found, error: problem } = check
  return (
    <section className="above-part" aria-label="The chain of events">
      <div className="actions">
        <Button busy={check.isFetching} onClick={() => void check.refetch()}>
          Verify
        </Button>
        {!found && (
          <p className="faint">
            Each event has the hash of the one before it, so nothing can be changed or left out unseen.
          </p>
        )}
        <span role="status">
          {found && (
            <Chip state={found.valid ? 'good' : 'bad'}>
              {found.valid
                ? `${plural(found.events_checked, 'event')} checked, each follows from the one before`
                : `the chain is broken at ${found.broken_at}`}
            </Chip>
          )}
        </span>
      </div>
      {found && (
        <>
          <p className="faint">
            Newest hash <code title={found.head_hash}>{short(found.head_hash)}</code>. Verify it yourself:
          </p>
          <Code text="svc-admin audit verify" label="command" />
        </>
      )}
      {problem && <Failed problem={problem} />}
    </section>
  )
}

export default defineScreen<AuditEvent>('audit', 'Audit', {
  list: { path: '/audit', rows: 'events', query: ({ id, looksAt }) => (looksAt ? {} : { scope: id ? 'org' : 'user' }) },
  views: true,
  above: Verify,
  file: {
    path: '/audit/export',
    formats: ['csv', 'jsonl'],
    line: ({ id, timestamp, action, outputSummary, inputSummary, hash, ...it }) => ({
      ...{ id, timestamp, action, entity_type: it.entityType, entity_id: it.entityId, user_id: it.userId },
      ...{ org_id: it.orgId, api_key_id: it.apiKeyId, request_id: it.requestId, status: outputSummary.status },
      ...{ input_summary: inputSummary, output_summary: outputSummary, prev_hash: it.prevHash, hash },
    }),
  },
  columns: [
    timeColumn('time', 'Time', ({ timestamp }) => timestamp, { width: '136px' }),
    column('action', 'Action', { main: true, width: 'minmax(184px, 1.2fr)' }),
    column('entity', 'About', {
      cell: ({ entityType, entityId }) => (
        <span title={entityId ?? undefined}>
          {entityType.replaceAll('_', ' ')} {entityId && short(entityId)}
        </span>
      ),
      main: true,
    }),
    column('result', 'Result', { cell: Result, width: '88px' }),
    column('who', 'Person', { cell: (event) => <Who {...event} />, width: 'minmax(104px, 0.7fr)' }),
    column('request', 'Request', { cell: (it) => <code>{it.requestId}</code>, width: 'minmax(0, 1.2fr)' }),
  ],
  filters: [
    { name: 'action', label: 'Action', hint: 'Action, such as key.*' },
    rangeFilter,
    { name: 'entity_type', label: 'About', values: ENTITIES.map((type) => [type, type.replaceAll('_', ' ')] as const) },
    { name: 'actor', label: 'Who', hint: 'Actor: id of a person or key' },
    ...momentFilters,
    { name: 'status', label: 'Result', hint: 'Result: 200, 403' },
    { name: 'entity_id', label: 'Id of the object' },
    { name: 'request_id', label: 'Request id' },
  ],
  empty: { text: 'Nothing was recorded here yet.' },
  detail: {
    titleOf: ({ action }) => action,
    facts: (event) => ({
      Time: <Time at={event.timestamp} />,
      Event: <Id id={event.id} />,
      About: `${event.entityType.replaceAll('_', ' ')} ${event.entityId ?? ''}`,
      Person: <Who {...event} />,
      Key: event.apiKeyId ?? 'none',
      Request: <RequestLink {...event} />,
      Hash: <code>{event.hash}</code>,
      'Hash before': <code>{event.prevHash}</code>,
    }),
    body: EventBody,
  },
})
