import { iso, isoOrNull } from '../kernel/clock'
import { PageQuery } from '../kernel/page'
import { defineResource } from '../resource'
import { EMPTY_GRAPH, storable } from './canvases-graph'
import * as canvasWords from './canvases-schema'
import { canvasSettings, hookSettings, workflowSettings } from './config'
import * as hookWords from './schema'
import { type CanvasRow, canvases, type HookRow, hooks, type WorkflowRow, workflows } from './table'
import * as workflowWords from './workflows-schema'

/**
 * Canvases (docs/api.md 9). An organization's key has those of its organization. A person also has those of the active
 * one.
 */
export const canvas = defineResource({
  name: 'canvas',
  title: { one: 'canvas', many: 'canvases' },
  path: '/evi/canvases',
  plural: 'canvases',
  table: canvases,
  id: canvasWords.CanvasId,
  words: {
    New: canvasWords.NewCanvas,
    Patch: canvasWords.CanvasPatch,
    View: canvasWords.Canvas,
    Query: PageQuery,
    Page: canvasWords.CanvasPage,
  },
  summaries: {
    create: 'Create a canvas',
    list: 'List your canvases, last updated first',
    get: 'Read one canvas',
    update: 'Change a canvas; a changed graph sets it back to draft',
    remove: 'Delete a canvas; the skill published from it stays',
  },
  listed: { by: 'updated_at', size: 'graph_bytes', maxRows: 50 },
  owned: 'account',
  reach: 'active org',
  permission: 'manageSkills',
  wrap: 'canvas',
  holds: ['description', 'graphJson', 'compiledManifest', 'compiledWorkflowSteps'],
  max: canvasSettings.maxCanvases,
  empty: {
    description: null,
    status: 'draft',
    ...storable(EMPTY_GRAPH),
    manifest: null,
    steps: null,
    is_public: false,
    published_skill_id: null,
  },
  present: (row: CanvasRow): canvasWords.Canvas => ({
    id: row.id,
    name: row.name,
    description: row.description,
    status: row.status,
    graphJson: row.graph,
    compiledManifest: row.manifest,
    compiledWorkflowSteps: row.steps,
    isPublic: row.is_public,
    publishedSkillId: row.published_skill_id,
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  }),
})

/** Hooks: an event pattern, and the skill that runs on matching events (docs/api.md 11.1). */
export const hook = defineResource({
  name: 'hook',
  title: { one: 'hook', many: 'hooks' },
  path: '/hooks',
  plural: 'hooks',
  table: hooks,
  id: hookWords.HookId,
  words: {
    New: hookWords.NewHook,
    Patch: hookWords.HookPatch,
    View: hookWords.Hook,
    Query: hookWords.HookQuery,
    Page: hookWords.HookPage,
    Changed: hookWords.HookChanged,
  },
  summaries: {
    create: 'Install a hook: a skill that runs when an event happens',
    list: 'List hooks, newest first, and the presets',
    get: 'Read one hook and its runs, newest first',
    update: 'Change, disable or enable a hook',
    remove: 'Delete a hook; runs that already started will finish',
  },
  owned: 'team',
  permission: 'manageWebhooks',
  holds: ['config', 'output', 'error'],
  max: hookSettings.maxHooks,
  empty: {
    name: '',
    api_key_id: null,
    preset: null,
    enabled: true,
    disabled_reason: null,
    cooldown_minutes: 15,
    consecutive_failures: 0,
    last_fired_at: null,
    config: {},
  },
  present: (row: HookRow): hookWords.Hook => ({
    id: row.id,
    object: 'hook',
    name: row.name,
    hook_preset_id: row.preset,
    event_pattern: row.pattern,
    skill_slug: row.slug,
    enabled: row.enabled,
    disabled_reason: row.disabled_reason,
    cooldown_minutes: row.cooldown_minutes,
    consecutive_failures: row.consecutive_failures,
    last_fired_at: isoOrNull(row.last_fired_at),
    config: row.config,
    org_id: row.org_id,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  }),
})

/**
 * Workflows (docs/api.md 10). An organization's key has those of its organization. A person also has those of the
 * active one.
 */
export const workflow = defineResource({
  name: 'workflow',
  title: { one: 'workflow', many: 'workflows' },
  path: '/workflows',
  plural: 'workflows',
  table: workflows,
  id: workflowWords.WorkflowId,
  words: {
    New: workflowWords.NewWorkflow,
    Patch: workflowWords.WorkflowPatch,
    View: workflowWords.Workflow,
    Query: workflowWords.WorkflowQuery,
    Page: workflowWords.WorkflowPage,
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
  present: (row: WorkflowRow): workflowWords.Workflow => ({
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
