import type { Correction, Preference } from '../../../../../routing/schema'
import { MODES } from '../../shell/modes'
import { scopeOf, useCounts, usedColumn } from '../../shell/rule-set'
import { defineScreen } from '../../shell/screen'
import { defineTabs } from '../../shell/tabs'
import { changedColumn, column, timeColumn } from '../../ui/columns'
import { Id } from '../../ui/controls'
import { field } from '../../ui/fields'
import { Time, whole } from '../../ui/format'
import { PreferenceEditor } from './editor'

const Matched = ({ id }: Preference) => <>{useCounts('preference')(id)?.text ?? '–'}</>

export const Preferences = defineScreen<Preference>('routing', 'Routing', {
  list: { path: '/routing-preferences', rows: 'routing_preferences', query: scopeOf },
  columns: [
    column('name', 'Name', { main: true, width: 'minmax(0, 1.6fr)' }),
    usedColumn,
    column('rules', 'Rules', { cell: ({ rules }) => whole(rules.length), number: true, main: true }),
    column('examples', 'Examples', { cell: ({ examples }) => whole(examples.length), number: true }),
    column('keys', 'Keys', { cell: (it) => whole(it.bound_key_count), number: true }),
    column('matched', 'Matched, 30 days', { cell: (it) => <Matched {...it} />, number: true, width: '132px' }),
    changedColumn(({ updated }) => updated),
  ],
  empty: {
    text: 'Every prompt is routed by the classifier. A preference has rules and examples of your own.',
    command: 'svc-admin routing create -f preference.json',
  },
  detail: {
    path: (id) => `/routing-preferences/${id}`,
    titleOf: ({ name }) => name,
    body: PreferenceEditor,
    wide: true,
  },
  create: { label: 'New preference', permission: 'manageWebhooks', form: PreferenceEditor, wide: true },
})

type Suggested = { suggested_rule: { pattern: string; target_mode: string; confidence: number } }

const Corrections = defineScreen<Correction>('routing', 'Routing', {
  list: { path: '/routing-corrections', rows: 'routing_corrections' },
  columns: [
    column('prompt', 'Prompt or request', {
      cell: ({ prompt, completion_id }) => prompt ?? completion_id ?? '–',
      main: true,
      width: 'minmax(0, 2fr)',
    }),
    column('was', 'Was', { cell: ({ resolved_mode }) => resolved_mode ?? '–', width: '112px' }),
    column('should', 'Should be', { cell: ({ expected_mode }) => expected_mode, main: true, width: '112px' }),
    timeColumn('time', 'Time', ({ created }) => created, { main: false, number: true }),
  ],
  filters: [{ name: 'expected_mode', label: 'Should be', values: MODES }],
  empty: { text: 'No corrections. Correct a mode from any request.' },
  detail: {
    titleOf: ({ expected_mode }) => `Should be ${expected_mode}`,
    actions: ({ expected_mode }) => ({
      touches: ['/routing-preferences'],
      actions: [
        {
          label: 'Suggest a rule',
          path: '/routing-preferences/suggest-rule',
          body: { expected_mode },
          shows: ({ suggested_rule: rule }: Suggested) => (
            <p className="notice good" role="status">
              Add to a preference: <code>{rule.pattern}</code> → {rule.target_mode}, confidence {rule.confidence}.
            </p>
          ),
        },
      ],
    }),
    facts: (it) => ({
      Prompt: it.prompt ?? 'not kept',
      'Was answered as': it.resolved_mode ?? 'not known',
      'Should be': it.expected_mode,
      Completion: it.completion_id ? <Id id={it.completion_id} /> : 'none',
      Note: it.note ?? 'none',
      Time: <Time at={it.created} />,
    }),
  },
  create: {
    label: 'Record a correction',
    form: {
      fields: [
        field('prompt', 'Prompt', { kind: 'area', required: true }),
        field('resolved_mode', 'Was answered as', { help: 'Empty: not known.' }),
        field('expected_mode', 'Should be', { kind: 'choice', choices: MODES }),
        field('note', 'Note'),
      ],
    },
  },
})

export default defineTabs('routing', [
  { id: 'preferences', label: 'Preferences', screen: Preferences },
  { id: 'corrections', label: 'Corrections', screen: Corrections },
])
