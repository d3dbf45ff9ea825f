import type { RequestRow } from '../../../../../usage/schema'
import { useGet } from '../../shell/api'
import { at } from '../../shell/boot'
import { defineScreen } from '../../shell/screen'
import { duration, money, number, Time } from '../../ui/format'
import { RequestBody, State } from './detail'

/** Names of keys by their ids: those of the first page; others are shown by the beginning of their id. */
function KeyName({ api_key_id: id }: RequestRow) {
  const keys = useGet<{ keys: { id: string; name: string }[] }>('/keys', { limit: 100 })
  if (id === null) return <>session</>
  return <>{keys.data?.keys.find((key) => key.id === id)?.name ?? `${id.slice(0, 8)}…`}</>
}

const isIn = [
  ['true', 'yes'],
  ['false', 'no'],
] as const
const MODES = ['fast', 'think', 'code', 'image', 'video', 'research', 'vision', 'data_extraction', 'genui'] as const

export default defineScreen<RequestRow>({
  section: 'requests',
  title: 'Requests',
  list: { path: '/requests', rows: 'requests', everyMs: 30_000 },
  views: true,
  idOf: ({ request_id }) => request_id,
  columns: [
    { key: 'time', head: 'Time', cell: ({ timestamp }) => <Time at={timestamp} />, main: true, width: '104px' },
    { key: 'status', head: 'Status', cell: State, main: true, width: '84px' },
    {
      key: 'mode',
      head: 'Mode',
      width: 'minmax(108px, 1.1fr)',
      cell: ({ mode, resolved_mode }) =>
        mode === resolved_mode || !resolved_mode ? mode : `${mode ?? '–'} → ${resolved_mode}`,
    },
    {
      key: 'model',
      head: 'Engine',
      width: 'minmax(112px, 1.1fr)',
      cell: ({ model, fallback }) => `${model ?? '–'}${fallback ? ' (fallback)' : ''}`,
    },
    { key: 'key', head: 'Key', width: 'minmax(96px, 1fr)', cell: (row) => <KeyName {...row} /> },
    {
      key: 'tokens',
      head: 'Tokens in / out',
      cell: ({ prompt_tokens, completion_tokens }) => `${number(prompt_tokens)} / ${number(completion_tokens)}`,
      number: true,
      width: '104px',
    },
    {
      key: 'first',
      head: 'First token',
      cell: ({ ttft_ms }) => (ttft_ms === null ? '–' : duration(ttft_ms)),
      number: true,
      width: '76px',
    },
    {
      key: 'total',
      head: 'Total',
      cell: ({ latency_ms }) => duration(latency_ms),
      main: true,
      number: true,
      width: '68px',
    },
    { key: 'cost', head: 'Cost', cell: ({ cost_cents }) => money(cost_cents), main: true, number: true, width: '68px' },
  ],
  filters: [
    { name: 'q', label: 'Request id', hint: 'Request id or its start' },
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
    { name: 'mode', label: 'Mode', values: MODES.map((mode) => [mode, mode] as const) },
    { name: 'stream', label: 'Streamed', values: isIn },
    { name: 'cached', label: 'Cached', values: isIn },
    { name: 'fallback', label: 'Fallback', values: isIn },
    { name: 'code', label: 'Code', hint: 'Code of an error' },
    { name: 'guardrail', label: 'Guardrail', hint: 'Guardrail that fired' },
    { name: 'tool', label: 'Tool', hint: 'Tool that was used' },
  ],
  empty: {
    text: 'No requests in the last 30 days. Make one:',
    command: `curl ${location.origin}${at('/api/v1')}/completions \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"prompt": "What is 17 * 23?"}'`,
    link: { text: 'Open the playground', section: 'playground' },
  },
  detail: {
    titleOf: ({ request_id }) => <code>{request_id}</code>,
    path: (id) => `/requests/${id}`,
    member: 'request',
    body: RequestBody,
  },
})
