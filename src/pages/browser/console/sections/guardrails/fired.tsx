import { useLocation } from 'wouter'
import type { GuardrailCatalogue } from '../../../../../guardrails/schema'
import type { RequestDetail, RequestRow, UsageSeries } from '../../../../../usage/schema'
import { type Query, useGet, useOwner } from '../../shell/api'
import { SplitChart } from '../../shell/charts'
import { momentFilters, rangeFilter } from '../../shell/range'
import { defineScreen } from '../../shell/screen'
import { handed } from '../../shell/value'
import { chipColumn, column, timeColumn } from '../../ui/columns'
import { Button, Chip, Id } from '../../ui/controls'
import { Lines } from '../../ui/facts'
import { useFilters } from '../../ui/filters'
import { Time, whole } from '../../ui/format'
import { Shown } from '../../ui/states'
import { PHASES } from './editor'

const useGuardrails = () => {
  const { data } = useGet<GuardrailCatalogue>('/guardrails')
  return data?.guardrails.map(({ guardrail_id: id }) => [id, id.replaceAll('_', ' ')] as const) ?? []
}

/** How often each guardrail fired, with its verdict, during the list's period. */
function Over({ query }: { query: Query }) {
  const { set } = useFilters()
  const off = useOwner().looksAt === null
  const series = useGet<UsageSeries>('/usage/series', { ...query, group_by: 'guardrail', top: 6 }, { off })
  if (off || series.data?.series.length === 0) return null
  return (
    <Shown of={series} rows={3}>
      {(found) => (
        <SplitChart
          title="Guardrails that fired"
          of={found}
          figure="requests"
          spell={whole}
          onRange={(from, to) => set({ range: '', from, to })}
        />
      )}
    </Shown>
  )
}

/** Guardrails that fired in one request, with a link to the rule and the text, if it is stored. */
function FiredBody({ row }: { row: RequestRow }) {
  const owner = useOwner()
  const [, navigate] = useLocation()
  const isOperators = owner.looksAt !== undefined
  const test = (policy: string, bodies: RequestDetail['bodies'], phase: string) => {
    handed.set({ phase, text: textOf(bodies, phase) })
    navigate(`/${owner.slug}/guardrails/${policy}`)
  }
  const request = useGet<RequestDetail>(`/requests/${row.request_id}`, {}, { off: isOperators })
  return (
    <>
      {!isOperators && (
        <Shown of={request} rows={2}>
          {({ guardrails, guardrail_policy_id: policy, bodies }) => (
            <Lines
              of={guardrails}
              line={({ guardrail_id, phase, verdict, detail }) => ({
                key: `${guardrail_id} ${phase} ${detail}`,
                mark: <Chip state={verdict === 'block' ? 'bad' : 'warn'}>{verdict}</Chip>,
                text: `${guardrail_id.replaceAll('_', ' ')} in the ${PHASES[phase as keyof typeof PHASES] ?? phase}`,
                small: detail,
                end: policy && <Button onClick={() => test(policy, bodies, phase)}>This was wrong</Button>,
              })}
            />
          )}
        </Shown>
      )}
      <div className="actions">
        <Button onClick={() => navigate(`/${owner.slug}/requests/${row.request_id}`)}>Open the request</Button>
      </div>
    </>
  )
}

/** The checked text, if it is stored. */
function textOf({ request, response }: RequestDetail['bodies'], phase: string): string {
  if (phase === 'output') return response ?? ''
  const { prompt, messages } = (request ?? {}) as { prompt?: unknown; messages?: { content?: unknown }[] }
  const text = prompt ?? messages?.at(-1)?.content
  return phase === 'input' && typeof text === 'string' ? text : ''
}

export const Fired = defineScreen<RequestRow>('guardrails', 'Guardrails', {
  list: { path: '/requests', rows: 'requests', query: { guardrail: '*' } },
  idOf: ({ request_id }) => request_id,
  columns: [
    timeColumn('time', 'Time', ({ timestamp }) => timestamp),
    column('fired', 'Fired', { cell: ({ guardrails }) => whole(guardrails), number: true, main: true }),
    chipColumn(
      'status',
      'Request',
      ({ status }) => [status < 400 ? 'good' : 'warn', status < 400 ? 'answered' : status],
      { width: '128px' },
    ),
    column('mode', 'Mode', { cell: ({ resolved_mode, mode }) => resolved_mode ?? mode ?? '–' }),
    column('key', 'Key', { cell: ({ api_key_name }) => api_key_name ?? 'session', main: true }),
  ],
  filters: [rangeFilter, { name: 'guardrail', label: 'Guardrail', values: useGuardrails }, ...momentFilters],
  empty: { text: 'No guardrail fired in the last 30 days.' },
  above: Over,
  detail: {
    titleOf: () => 'What fired',
    facts: (row) => ({
      Time: <Time at={row.timestamp} />,
      Status: row.status,
      Key: row.api_key_name ?? row.api_key_id ?? 'none: called from the console or the terminal',
      Request: <Id id={row.request_id} />,
    }),
    body: FiredBody,
  },
})
