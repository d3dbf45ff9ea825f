import type { Workflow } from '../../../../../automation/workflows-schema'
import { rangeFilter } from '../../shell/range'
import { defineScreen } from '../../shell/screen'
import { defineTabs } from '../../shell/tabs'
import { agoColumn, chipColumn, column, timeColumn } from '../../ui/columns'
import { Chip } from '../../ui/controls'
import { whole } from '../../ui/format'
import { Canvases } from './canvases'
import { WorkflowBody, WorkflowEditor } from './editor'
import { Events } from './events'
import { Hooks } from './hooks'
import { TRIGGERS } from './runs'

const Workflows = defineScreen<Workflow>('workflows', 'Workflows', {
  list: { path: '/workflows', rows: 'workflows', query: { failedFrom: rangeFilter.sends('7d').from } },
  columns: [
    column('name', 'Name', { main: true, width: 'minmax(0, 1.6fr)' }),
    column('trigger', 'Starts', { cell: ({ triggerType }) => TRIGGERS[triggerType], width: '112px' }),
    chipColumn('on', 'State', ({ enabled }) => [enabled ? 'good' : 'off', enabled ? 'on' : 'off'], { width: '96px' }),
    column('steps', 'Steps', { cell: ({ steps }) => whole(steps.length), number: true }),
    agoColumn('last', 'Last run', ({ lastRunAt }) => lastRunAt),
    column('failed', 'Failed, 7 days', {
      cell: ({ failedRuns: many }) => (many ? <Chip state="bad">{whole(many)}</Chip> : 0),
      number: true,
      width: '116px',
    }),
    timeColumn('next', 'Next run', ({ nextRunAt }) => nextRunAt, { main: false, number: true }),
  ],
  empty: {
    text: 'No workflows. A workflow runs steps one after the other: by call, by time or when something happens.',
    command: 'svc-admin workflows create -f workflow.json',
  },
  detail: {
    path: (id) => `/workflows/${id}`,
    member: 'workflow',
    titleOf: ({ name }) => name,
    body: WorkflowBody,
    wide: true,
  },
  create: { label: 'New workflow', permission: 'manageConnectors', form: WorkflowEditor, wide: true },
})

export default defineTabs('workflows', [
  { id: 'workflows', label: 'Workflows', screen: Workflows },
  { id: 'canvases', label: 'Canvases', screen: Canvases },
  { id: 'hooks', label: 'Hooks', screen: Hooks },
  { id: 'events', label: 'Events', screen: Events },
])
