import { iso, isoOrNull } from '../../kernel/clock'
import { defineResource } from '../../resource'
import { workflowSettings } from './config'
import * as words from './schema'
import { type WorkflowRow, workflows } from './table'

/** Workflows (contract 10): an organization's key has its organization's, a person also their active one's. */
export const workflow = defineResource({
  name: 'workflow',
  title: { one: 'workflow', many: 'workflows' },
  path: '/workflows',
  plural: 'workflows',
  table: workflows,
  id: words.WorkflowId,
  words: {
    New: words.NewWorkflow,
    Patch: words.WorkflowPatch,
    View: words.Workflow,
    Query: words.WorkflowQuery,
    Page: words.WorkflowPage,
  },
  summaries: {
    create: 'Create a workflow',
    list: 'List your workflows, newest first',
    get: 'Read one workflow',
    update: 'Change a workflow; runs that already started keep their steps',
    remove: 'Delete a workflow; runs that already started will finish',
  },
  owned: 'account',
  reach: 'active org',
  permission: 'manageConnectors',
  wrap: 'workflow',
  holds: ['triggerConfig', 'config'],
  max: workflowSettings.maxWorkflows,
  empty: {
    api_key_id: null,
    active_org_id: null,
    trigger_config: {},
    steps: [],
    enabled: true,
    next_run_at: null,
    last_run_at: null,
    canvas_id: null,
  },
  present: (row: WorkflowRow): words.Workflow => ({
    id: row.id,
    userId: row.user_id,
    name: row.name,
    triggerType: row.trigger_type,
    triggerConfig: row.trigger_config,
    steps: row.steps,
    enabled: row.enabled,
    nextRunAt: isoOrNull(row.next_run_at),
    lastRunAt: isoOrNull(row.last_run_at),
    canvasId: row.canvas_id,
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  }),
})
