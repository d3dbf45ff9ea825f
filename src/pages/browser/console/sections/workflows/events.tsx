import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { BusEvent, PublishedEvent } from '../../../../../events/schema'
import { type Failure, type Query, useCalls, useOwner } from '../../shell/api'
import { boot } from '../../shell/boot'
import { defineScreen } from '../../shell/screen'
import { column, timeColumn } from '../../ui/columns'
import { Chip, Code, End, Id } from '../../ui/controls'
import { Lines, ShownPart } from '../../ui/facts'
import { type FormField, field } from '../../ui/fields'
import { plural, Time } from '../../ui/format'

/** A recorded effect of an event: a run of a hook or workflow, or a delivery. */
type Started = { key: string; place: string; name: string; state: string; isGood: boolean }

const STARTERS = [
  {
    list: '/hooks',
    member: 'hooks',
    patterns: (hook: Row) => [hook.event_pattern],
    place: (id: string) => `workflows/${id}?tab=hooks`,
    nameOf: (hook: Row) => `hook ${hook.name || hook.skill_slug}`,
    runs: (id: string) => [`/hooks/${id}/executions`, 'executions', { limit: 100 }] as const,
    isOf: (run: Row, { id }: BusEvent) => run.eventId === id,
  },
  {
    list: '/workflows',
    member: 'workflows',
    patterns: (flow: Row) => [(flow.triggerConfig as { eventPattern?: string }).eventPattern],
    place: (id: string) => `workflows/${id}`,
    nameOf: (flow: Row) => `workflow ${flow.name}`,
    runs: (id: string) => [`/workflows/${id}/runs`, 'runs', { limit: 50 }] as const,
    isOf: (run: Row, { id }: BusEvent) => (run.triggerData as { eventId?: string } | null)?.eventId === id,
  },
  {
    list: '/webhooks',
    member: 'webhooks',
    patterns: (end: Row) => end.event_types as string[],
    place: (id: string) => `webhooks/${id}`,
    nameOf: (end: Row) => `endpoint ${end.url}`,
    runs: (id: string, { id: event_id }: BusEvent) =>
      [`/webhooks/${id}/deliveries`, 'deliveries', { event_id }] as const,
    isOf: () => true,
  },
] as const
type Row = Record<string, unknown>

/** Maximum number of items to read per kind, so that opening a screen needs at most 12 requests. */
const MAX_READ = 3

/** Reads what the event could have started, by its first word. `left` counts the ones not read. */
function useStarted(event: BusEvent) {
  const owner = useOwner()
  const calls = useCalls()
  const read = async (path: string, member: string, query: Query): Promise<Row[]> =>
    calls.json<Record<string, Row[]>>('GET', path, { query }).then(
      (page) => page[member]!,
      (error: Failure) => {
        // A reader without permission for hooks or endpoints sees the rest.
        if (error.status === 403) return []
        throw error
      },
    )
  const begun = ['*', event.eventType.split('.')[0]]
  return useQuery<{ rows: Started[]; left: number }, Failure>({
    queryKey: [owner.slug, '/events', 'started', event.id],
    queryFn: async () => {
      const found = STARTERS.map(async ({ list, member, patterns, place, nameOf, runs, isOf }) => {
        const all = await read(list, member, { limit: 100 })
        const isBegun = (pattern?: unknown) => begun.includes(pattern?.toString().split('.')[0])
        const could = all.filter((one) => patterns(one).some(isBegun))
        const started = could.slice(0, MAX_READ).map(async (one) => {
          const id = String(one.id)
          const [path, name, query] = runs(id, event)
          const its = (await read(path, name, query)).filter((run) => isOf(run, event))
          return its.map(({ id: run, attempt = '', status }) => ({
            ...{ key: `${run} ${attempt}`, place: place(id), name: nameOf(one) },
            state: String(status).replaceAll('_', ' '),
            isGood: !['failed', 'skipped_credits', 'skipped_cap'].includes(String(status)),
          }))
        })
        return { rows: (await Promise.all(started)).flat(), left: Math.max(0, could.length - MAX_READ) }
      })
      const all = await Promise.all(found)
      return { rows: all.flatMap(({ rows }) => rows), left: all.reduce((sum, { left }) => sum + left, 0) }
    },
    enabled: owner.looksAt === undefined,
  })
}

function Matched({ event }: { event: BusEvent }) {
  const { slug } = useOwner()
  const started = useStarted(event)
  return (
    <ShownPart title="What it started" of={started} rows={2}>
      {({ rows, left }) => (
        <>
          <Lines
            of={rows}
            {...(left ? {} : { empty: 'No hook, workflow or endpoint.' })}
            line={({ key, place, name, state, isGood }) => ({
              key,
              mark: <Chip state={isGood ? 'good' : 'bad'}>{state}</Chip>,
              text: <Link href={`/${slug}/${place}`}>{name}</Link>,
            })}
          />
          {left > 0 && <p className="faint">Not looked at: {left} more that could have been started.</p>}
        </>
      )}
    </ShownPart>
  )
}

const EventBody = ({ row: event }: { row: BusEvent }) => (
  <>
    <Code text={JSON.stringify(event.payload, null, 2) ?? 'null'} label="payload" />
    <Matched event={event} />
  </>
)

function usePublish() {
  const { id } = useOwner()
  return {
    fields: PUBLISHED,
    values: { payload: {} },
    touches: ['/events', '/hooks', '/workflows', '/webhooks'],
    verb: 'Publish event',
    more: { orgId: id ?? boot.user.id },
    after: (sent: PublishedEvent, close: () => void) => (
      <>
        <p className="notice good" role="status">
          “{sent.eventType}” is published. It matches {plural(sent.matchedHooks, 'hook')},{' '}
          {plural(sent.matchedWorkflows, 'workflow')} and {plural(sent.matchedWebhooks, 'endpoint')}.
        </p>
        <End onClose={close} />
      </>
    ),
  }
}

const PUBLISHED: readonly FormField[] = [
  field('eventType', 'Event', { required: true, help: 'Words joined by dots, such as order.created.' }),
  field('payload', 'Payload, as JSON', { kind: 'json', rows: 6 }),
]

export const Events = defineScreen<BusEvent>('workflows', 'Workflows', {
  list: {
    path: '/events',
    rows: 'events',
    query: ({ id, looksAt }) => (looksAt === undefined ? { orgId: id ?? boot.user.id } : {}),
    everyMs: 30_000,
  },
  columns: [
    timeColumn('time', 'Time', ({ timestamp }) => timestamp),
    column('type', 'Event', { cell: ({ eventType }) => <code>{eventType}</code>, main: true }),
    column('from', 'From', { cell: ({ sourceConnector }) => sourceConnector ?? 'this server', main: true }),
    column('payload', 'Payload', { cell: ({ payload }) => JSON.stringify(payload), width: 'minmax(0, 2fr)' }),
  ],
  filters: [{ name: 'eventType', label: 'Event', hint: 'Event, such as order.*' }],
  empty: { text: 'No events. What happens here, or is published, starts hooks, workflows and deliveries.' },
  detail: {
    titleOf: ({ eventType }) => eventType,
    facts: (event) => ({
      Time: <Time at={event.timestamp} />,
      Id: <Id id={event.id} />,
      From: event.sourceConnector ?? 'this server',
    }),
    body: EventBody,
  },
  create: { label: 'Publish an event', useForm: usePublish },
})
