import { Link } from 'wouter'
import type { AuditEvent } from '../../../../../audit/schema'
import type { RequestLine } from '../../../../../cluster/traffic'
import type { RequestTrace } from '../../../../../operators/schema'
import type { WidgetSession } from '../../../../../widgets/schema-sessions'
import { useGet } from '../../shell/api'
import { defineScreen } from '../../shell/screen'
import { agoColumn, chipColumn, column, durationColumn, moneyColumn, timeColumn } from '../../ui/columns'
import { Chip, Id, toneOf } from '../../ui/controls'
import { EventBody, Facts, Lines } from '../../ui/facts'
import { field } from '../../ui/fields'
import { Ago, duration, Time } from '../../ui/format'
import { Shown } from '../../ui/states'
import { Trace } from '../../ui/waterfall'

/* Lists of all owners at once: the newest rows with names of owners and keys. They use the dashboard's topics. */
const MOST = 1_000
const newestOf = <Row,>(topic: string, isShown: (row: Row) => boolean = () => true) => ({
  path: '/snapshot',
  query: { topics: topic, most: MOST },
  rows: ({ topics }: { topics: { rows: Row[] }[] }) => topics[0]!.rows.filter(isShown),
  everyMs: 5_000,
})

function RequestBody({ row }: { row: RequestLine }) {
  const trace = useGet<RequestTrace>(`/requests/${row.id}`)
  return (
    <Shown of={trace}>
      {(found) => (
        <>
          <Facts
            of={{
              Status: <Chip state={toneOf(row.status)}>{`${row.status} ${row.code ?? ''}`}</Chip>,
              Request: <Id id={row.id} />,
              Route: <code>{`${row.method} ${row.path}`}</code>,
              Time: <Time at={row.at} />,
              Owner: found.owner ? <Link href={`/${found.owner}`}>{found.owner}</Link> : 'none',
              Key: row.key ?? 'none',
              Duration: duration(row.ms),
            }}
          />
          <Trace of={found} at={row.at} total={row.ms} />
        </>
      )}
    </Shown>
  )
}

export const AllRequests = defineScreen<RequestLine>('requests', 'Requests', {
  isOperators: true,
  list: newestOf<RequestLine>('logs', ({ path }) => /^\/(api\/)?v1\//.test(path)),
  columns: [
    timeColumn('time', 'Time', ({ at }) => at, { width: '112px' }),
    chipColumn('status', 'Status', ({ status }) => [toneOf(status), status], { width: '92px' }),
    column('route', 'Route', {
      cell: ({ method, path }) => <code title={path}>{`${method} ${path.replace(/^\/api\/v1|^\/v1/, '')}`}</code>,
      main: true,
      width: 'minmax(0, 2.4fr)',
    }),
    column('key', 'Key'),
    column('code', 'Error'),
    durationColumn('took', 'Duration', ({ ms }) => ms, { main: true }),
    moneyColumn('cost', 'Cost', ({ cost_cents }) => cost_cents),
  ],
  filters: [
    { name: 'q', label: 'Route, key or id', match: ['path', 'key', 'id'] },
    {
      name: 'status',
      label: 'Status',
      values: { 2: '✓ ok', 4: '! refused (4xx)', 5: '✗ failed (5xx)' },
      match: ({ status }, first) => String(status).startsWith(first),
    },
  ],
  empty: { text: 'No API calls since you opened this page.', command: 'svc-admin logs tail' },
  detail: { titleOf: ({ id }) => <code>{id}</code>, body: RequestBody },
})

const JOBS = { queued: 'wait', active: 'run', completed: 'good', failed: 'bad' } as const
type AnyJob = Record<'id' | 'type' | 'text' | 'asked' | 'created_at', string> &
  Record<'owner' | 'stage' | 'key' | 'error' | 'started_at' | 'completed_at', string | null> & {
    status: keyof typeof JOBS
    attempts: number
    progress: number
    place: number | null
  }

const JobState = ({ status, place }: AnyJob) => (
  <Chip state={JOBS[status]}>
    {status}
    {place !== null && `, ${place} in line`}
  </Chip>
)

export const AllJobs = defineScreen<AnyJob>('jobs', 'Jobs', {
  isOperators: true,
  list: newestOf<AnyJob>('jobs'),
  columns: [
    column('type', 'Kind', { main: true }),
    column('state', 'State', { cell: JobState, main: true, width: '156px' }),
    column('owner', 'Owner', { main: true }),
    column('text', 'Prompt', { width: 'minmax(0, 2fr)' }),
    agoColumn('made', 'Created', ({ created_at }) => created_at),
  ],
  filters: [
    { name: 'status', label: 'State', values: Object.keys(JOBS), match: 'same' },
    { name: 'q', label: 'Owner, key or kind', match: ['owner', 'key', 'type'] },
  ],
  empty: { text: 'No jobs yet. Research and videos appear here.', command: 'svc-admin jobs list' },
  detail: {
    titleOf: ({ type }) => `A ${type} job`,
    actions: ({ id, status }) => ({
      touches: ['/snapshot', '/jobs'],
      role: 'admin',
      actions: [
        (status === 'queued' || status === 'active') && {
          ...{ label: 'Cancel…', path: `/jobs/${id}/cancel`, danger: true },
          ask: 'It ends as failed, and its reserved credit is released.',
        },
        status === 'failed' && { label: 'Run again', path: `/jobs/${id}/retry` },
      ],
    }),
    facts: (job) => ({
      State: JobState(job),
      Owner: job.owner ?? 'none',
      Key: job.key ?? 'none',
      Step: job.stage ?? 'none',
      Done: `${job.progress} %`,
      Attempts: job.attempts,
      Prompt: job.text || 'not shown to your role',
      With: job.asked || 'nothing else',
      Created: <Time at={job.created_at} />,
      Ended: job.completed_at ? <Time at={job.completed_at} /> : 'not yet',
      Error: job.error ?? 'none',
      Id: <Id id={job.id} />,
    }),
  },
})

type AnyEvent = AuditEvent & { owner: string | null; key: string | null; scope: string }

export const AllEvents = defineScreen<AnyEvent>('audit', 'Audit', {
  isOperators: true,
  list: newestOf<AnyEvent>('audit'),
  columns: [
    timeColumn('time', 'Time', ({ timestamp }) => timestamp, { width: '136px' }),
    column('action', 'Action', { main: true }),
    column('owner', 'Chain', { cell: ({ owner, scope }) => owner ?? scope, main: true }),
    column('entity', 'About', { cell: ({ entityType, entityId }) => `${entityType} ${entityId ?? ''}` }),
    column('request', 'Request', { cell: ({ requestId }) => <code>{requestId}</code>, width: 'minmax(0, 1.2fr)' }),
  ],
  filters: [
    { name: 'action', label: 'Action', match: ['action'] },
    { name: 'owner', label: 'Chain', match: ['owner', 'scope'] },
  ],
  empty: { text: 'Nothing was recorded here yet.', command: 'svc-admin audit list' },
  detail: {
    titleOf: ({ action }) => action,
    facts: (event) => ({
      Time: <Time at={event.timestamp} />,
      Chain: event.owner ?? event.scope,
      About: `${event.entityType} ${event.entityId ?? ''}`,
      Person: event.userId ?? 'none',
      Key: event.key ?? 'none',
      Request: <Id id={event.requestId} />,
      Hash: <code>{event.hash}</code>,
      Event: <Id id={event.id} />,
    }),
    body: EventBody,
  },
})

const CHATS = { ai: 'off', requested: 'warn', human: 'live' } as const
type Chat = WidgetSession

const ChatState = ({ takeover_status: status }: Chat) => (
  <Chip state={CHATS[status]}>
    {{ ai: 'with the assistant', requested: 'waiting', human: 'with a person' }[status]}
  </Chip>
)

type Message = { id: string; role: string; content: string; created_at: string }

const pathOf = ({ config_id, session_id }: Chat) => `/iframes/${config_id}/conversations/${session_id}`

function Messages({ row }: { row: Chat }) {
  const read = useGet<{ messages: Message[] }>(pathOf(row), {}, { everyMs: 5_000 })
  return (
    <Shown of={read} rows={3}>
      {({ messages }) => (
        <Lines
          of={messages}
          line={({ id, role, content, created_at }) => ({
            ...{ key: id, mark: <b>{role}</b>, text: content, end: <Time at={created_at} /> },
          })}
        />
      )}
    </Shown>
  )
}

export const AllChats = defineScreen<Chat>('inbox', 'Inbox', {
  isOperators: true,
  list: { path: '/takeovers', rows: 'conversations', everyMs: 5_000 },
  idOf: ({ session_id }) => session_id,
  columns: [
    column('visitor', 'Visitor', {
      cell: ({ visitor }) => visitor.identity?.name ?? `Visitor ${visitor.id.slice(0, 6)}`,
      main: true,
    }),
    column('state', 'State', { cell: ChatState, main: true, width: '136px' }),
    column('page', 'Page', { cell: ({ visitor }) => visitor.page_url ?? '–', width: 'minmax(0, 2fr)' }),
    column('reason', 'Reason'),
    column('last', 'Last message', {
      cell: ({ last_message_at }) => (last_message_at ? <Ago at={last_message_at} /> : '–'),
      number: true,
      main: true,
      width: '136px',
    }),
  ],
  empty: { text: 'Nobody is waiting.', command: 'svc-admin takeovers list' },
  detail: {
    titleOf: ({ visitor }) => visitor.identity?.name ?? 'A visitor',
    actions: (chat) => ({
      touches: ['/takeovers', '/iframes'],
      role: 'support',
      actions: [
        chat.takeover_status === 'requested' && { label: 'Take over', path: `${pathOf(chat)}/takeover`, body: {} },
        chat.takeover_status === 'human' && {
          label: 'Reply…',
          path: `${pathOf(chat)}/messages`,
          fields: [field('content', 'Your reply', { kind: 'area', required: true })],
        },
        chat.takeover_status === 'human' && { label: 'Give back', path: `${pathOf(chat)}/release`, body: {} },
      ],
    }),
    facts: (chat) => ({
      State: <ChatState {...chat} />,
      Visitor: chat.visitor.identity?.name ?? 'has not said',
      Page: chat.visitor.page_url ?? 'not shown to your role',
      Reason: chat.reason ?? 'none',
      'Last message': chat.last_message_at ? <Ago at={chat.last_message_at} /> : 'none',
    }),
    body: Messages,
  },
})
