import { useEffect, useState } from 'react'
import type { Member } from '../../../../../accounts/orgs/schema'
import type { ModelEntry } from '../../../../../engines/schema'
import type { RequestRow, UsageSeries } from '../../../../../usage/schema'
import { type Query, useGet, useOwner } from '../../shell/api'
import { curlOf, FIRST_CALL } from '../../shell/curl'
import { RECORDED } from '../../shell/modes'
import { momentFilters, rangeFilter } from '../../shell/range'
import { lineOfCall } from '../../shell/save-as'
import { defineScreen, type Screen } from '../../shell/screen'
import { column, durationColumn, moneyColumn, timeColumn } from '../../ui/columns'
import { useFilters } from '../../ui/filters'
import { clock, dayOf, number, plural, short, size } from '../../ui/format'
import { Histogram } from '../../ui/histogram'
import { RequestBody, State, TraceBody } from './detail'

const useKeyNames = () => {
  const keys = useGet<{ keys: { id: string; name: string }[] }>('/keys', { limit: 100 })
  return keys.data?.keys.map(({ id, name }) => [id, name] as const) ?? []
}
const useEngines = () => {
  const { looksAt } = useOwner()
  const { data } = useGet<{ models: ModelEntry[] }>('/models', {}, { off: looksAt !== undefined })
  return [...new Set(data?.models.map(({ model_id }) => model_id))]
}
const usePeople = () => {
  const { id } = useOwner()
  const team = useGet<{ members: Member[] }>(`/orgs/${id}/members`, {}, { off: id === null })
  return team.data?.members.map(({ user_id, name, email }) => [user_id, name ?? email] as const) ?? []
}

function Person({ user_id: id }: RequestRow) {
  const people = usePeople()
  if (id === null) return <>–</>
  return <span title={id}>{people.find(([person]) => person === id)?.[1] ?? short(id)}</span>
}

/** Special properties of a call, one word each. */
const Marks = ({ cached, stream, fallback, guardrails, tools }: RequestRow) => {
  const marks = [
    cached && 'cached',
    stream && 'stream',
    fallback && 'fallback',
    guardrails > 0 && `guard ${guardrails}`,
    tools > 0 && `tools ${tools}`,
  ].filter((mark) => mark !== false)
  return (
    <span title={marks.join(', ')}>
      {marks.map((mark) => (
        <span key={mark} className="mark-chip">
          {mark}
        </span>
      ))}
    </span>
  )
}

/** Number of calls that match the filters, over time. Dragging selects a period. */
function Activity({ query }: { query: Query }) {
  const { given, set } = useFilters()
  // Delayed, so that the rows load first.
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), LATER_MS)
    return () => clearTimeout(timer)
  }, [])
  const { data } = useGet<UsageSeries>('/usage/series', query, { off: !isLate })
  const [all] = data?.series ?? []
  const buckets = data?.buckets.map((begun, n) => ({
    at: begun,
    many: all?.requests[n] ?? 0,
    failed: all?.errors[n] ?? 0,
  }))
  const { requests, errors } = data?.totals ?? {}
  // With a filter it stays, so that nothing moves while one is changed.
  if (requests === 0 && Object.keys(given).length === 0) return null
  return (
    <Histogram
      label={data ? `${plural(requests ?? 0, 'request')}, ${number(errors ?? 0)} refused or failed` : 'Requests'}
      buckets={buckets ?? []}
      spell={({ at: begun, many, failed }) =>
        `${dayOf(begun)}, ${clock.format(new Date(begun))}: ${plural(many, 'request')}, ${number(failed)} refused or failed`
      }
      onRange={(from, to) =>
        data && set({ range: '', from: data.buckets[from]!, to: data.buckets[to + 1] ?? data.period.to })
      }
    />
  )
}

const LATER_MS = 300
/** Turns `team=search` into a filter for the member `team`. */
function metadataOf(text: string): Query {
  const [name = '', ...value] = text.split('=')
  return name.trim() && value.length ? { [`metadata.${name.trim()}`]: value.join('=').trim() } : {}
}
const isIn = { true: 'yes', false: 'no' }

const shared = {
  file: { path: '/usage/export', formats: ['csv', 'jsonl'], line: lineOfCall },
  idOf: ({ request_id }) => request_id,
  columns: [
    timeColumn('time', 'Time', ({ timestamp }) => timestamp, { width: '96px' }),
    column('status', 'Status', { cell: State, main: true, width: '84px', sort: ({ status }) => status }),
    column('mode', 'Mode', {
      main: true,
      width: 'minmax(88px, 1.1fr)',
      sort: ({ resolved_mode }) => resolved_mode,
      cell: ({ mode, resolved_mode }) =>
        mode === resolved_mode || !resolved_mode ? mode : `${mode ?? '–'} → ${resolved_mode}`,
    }),
    column('model', 'Engine', { width: 'minmax(104px, 1.1fr)', sort: true }),
    column('key', 'Key', {
      width: 'minmax(72px, 1fr)',
      cell: ({ api_key_id: id, api_key_name }) => api_key_name ?? (id === null ? 'session' : short(id)),
    }),
    column('person', 'Person', { width: 'minmax(96px, 1fr)', cell: (row) => <Person {...row} />, extra: true }),
    column('tokens', 'Tokens in / out', {
      cell: (row) => `${number(row.prompt_tokens)} / ${number(row.completion_tokens)}`,
      number: true,
      width: '92px',
      sort: ({ prompt_tokens, completion_tokens }) => prompt_tokens + completion_tokens,
    }),
    durationColumn('first', 'First token', ({ ttft_ms }) => ttft_ms, { width: '76px' }),
    durationColumn('total', 'Total', ({ latency_ms }) => latency_ms, { width: '68px' }),
    moneyColumn('cost', 'Cost', ({ cost_cents }) => cost_cents, { main: true, width: '68px' }),
    column('marks', 'Marks', { cell: Marks, width: 'minmax(84px, 0.8fr)' }),
    column('code', 'Code', { width: 'minmax(112px, 1fr)', extra: true }),
    column('endpoint', 'Endpoint', {
      cell: ({ method, endpoint }) => <code>{`${method} ${endpoint}`}</code>,
      width: 'minmax(128px, 1fr)',
      extra: true,
    }),
    column('size', 'Size in / out', {
      cell: ({ bytes_in, bytes_out }) => (bytes_in === null ? '–' : `${size(bytes_in)} / ${size(bytes_out)}`),
      number: true,
      width: '132px',
      extra: true,
    }),
    column('conversation', 'Conversation', {
      cell: ({ conversation_id: id }) => (id === null ? '–' : <span title={id}>{short(id)}</span>),
      width: 'minmax(112px, 1fr)',
      extra: true,
    }),
    column('metadata', 'Metadata', {
      cell: ({ metadata }) =>
        Object.entries(metadata ?? {})
          .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
          .join(', ') || '–',
      width: 'minmax(128px, 1.4fr)',
      extra: true,
    }),
    column('id', 'Request id', {
      cell: ({ request_id }) => <code>{request_id}</code>,
      width: 'minmax(128px, 1fr)',
      extra: true,
    }),
  ],
  filters: [
    { name: 'q', label: 'Request id', hint: 'Request id or its beginning' },
    rangeFilter,
    {
      name: 'status',
      label: 'Status',
      values: [
        ['2xx', '✓ ok'],
        ['4xx', '! refused (4xx)'],
        ['429', '! limited (429)'],
        ['402', '! no credit (402)'],
        ['5xx', '✗ failed (5xx)'],
      ],
    },
    { name: 'mode', label: 'Mode', values: RECORDED },
    ...momentFilters,
    { name: 'model', label: 'Engine', values: useEngines },
    { name: 'key_id', label: 'Key', values: useKeyNames },
    { name: 'user_id', label: 'Person', values: usePeople },
    { name: 'metadata', label: 'Metadata', hint: 'Metadata: team=search', sends: metadataOf },
    { name: 'conversation_id', label: 'Conversation', hint: 'Conversation id' },
    { name: 'min_ms', label: 'Minimum ms', kind: 'number' },
    { name: 'min_cost_cents', label: 'Minimum cents', kind: 'number' },
    { name: 'stream', label: 'Streamed', values: isIn },
    { name: 'cached', label: 'Cached', values: isIn },
    { name: 'fallback', label: 'Fallback', values: isIn },
    { name: 'endpoint', label: 'Endpoint', hint: 'Endpoint: /chat/completions' },
    { name: 'code', label: 'Code', hint: 'Error code' },
    { name: 'guardrail', label: 'Guardrail', hint: 'Guardrail that fired' },
    { name: 'tool', label: 'Tool', hint: 'Tool that was used' },
    { name: 'skill', label: 'Skill', hint: 'Skill that was active' },
  ],
  empty: {
    text: 'No requests in the last 30 days. Make one:',
    command: curlOf('/completions', FIRST_CALL),
    link: { text: 'Open the playground', section: 'playground' },
  },
} satisfies Partial<Screen<RequestRow>>

export default defineScreen<RequestRow>('requests', 'Requests', {
  ...shared,
  list: { path: '/requests', rows: 'requests', live: 'requests' },
  views: true,
  above: Activity,
  detail: {
    titleOf: ({ request_id }) => <code>{request_id}</code>,
    path: (id, row) => (row?.has_trace === false ? undefined : `/requests/${id}`),
    member: 'request',
    body: RequestBody,
  },
})

/** The same list for another owner, for operators. */
export const OwnersRequests = defineScreen<RequestRow>('requests', 'Requests', {
  ...shared,
  list: { path: '/requests', rows: 'requests', everyMs: 10_000 },
  detail: { titleOf: ({ request_id }) => <code>{request_id}</code>, body: TraceBody },
})
