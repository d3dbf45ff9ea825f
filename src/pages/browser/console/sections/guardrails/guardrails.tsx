import type { GuardrailPolicy } from '../../../../../guardrails/schema'
import { scopeOf, useCounts, usedColumn } from '../../shell/rule-set'
import { defineScreen } from '../../shell/screen'
import { defineTabs } from '../../shell/tabs'
import { changedColumn, column } from '../../ui/columns'
import { whole } from '../../ui/format'
import { PolicyEditor } from './editor'
import { Fired } from './fired'

/** How often the policy's rules fired, by verdict. */
function Firings({ id, rules }: GuardrailPolicy) {
  const count = useCounts('policy')
  const found = [...new Set(rules.map(({ verdict }) => verdict))].map(
    (verdict) => [verdict, count(`${id}:${verdict}`)] as const,
  )
  if (found.some(([, it]) => it === null)) return <>–</>
  const fired = found.flatMap(([verdict, it]) => (it?.many ? [`${it.text} ${verdict}`] : []))
  return <>{fired.join(', ') || 'never'}</>
}

export const Policies = defineScreen<GuardrailPolicy>('guardrails', 'Guardrails', {
  list: { path: '/guardrail-policies', rows: 'guardrail_policies', query: scopeOf },
  columns: [
    column('name', 'Name', { main: true, width: 'minmax(0, 1.6fr)' }),
    usedColumn,
    column('does', 'Action', {
      cell: ({ rules }) => [...new Set(rules.map(({ verdict }) => verdict))].join(', ') || 'nothing',
    }),
    column('fired', 'Fired, 30 days', { cell: (it) => <Firings {...it} />, width: 'minmax(128px, 1fr)' }),
    column('rules', 'Rules', { cell: ({ rules }) => whole(rules.length), number: true, main: true }),
    column('keys', 'Keys', { cell: (it) => whole(it.bound_key_count), number: true }),
    changedColumn(({ updated }) => updated),
  ],
  empty: {
    text: 'No policy. Nothing is blocked, redacted or flagged.',
    command: 'svc-admin guardrails create -f policy.json',
  },
  detail: { path: (id) => `/guardrail-policies/${id}`, titleOf: ({ name }) => name, body: PolicyEditor, wide: true },
  create: { label: 'New policy', permission: 'manageWebhooks', form: PolicyEditor, wide: true },
})

export default defineTabs('guardrails', [
  { id: 'policies', label: 'Policies', screen: Policies },
  { id: 'fired', label: 'Fired', screen: Fired },
])
