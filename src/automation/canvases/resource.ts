import { iso } from '../../kernel/clock'
import { defineResource } from '../../resource'
import { canvasSettings } from './config'
import { EMPTY_GRAPH, storable } from './rules'
import * as words from './schema'
import { type CanvasRow, canvases } from './table'

/** Canvases (contract 9): an organization's key has its organization's, a person also their active one's. */
export const canvas = defineResource({
  name: 'canvas',
  title: { one: 'canvas', many: 'canvases' },
  path: '/evi/canvases',
  plural: 'canvases',
  table: canvases,
  id: words.CanvasId,
  words: {
    New: words.NewCanvas,
    Patch: words.CanvasPatch,
    View: words.Canvas,
    Query: words.CanvasQuery,
    Page: words.CanvasPage,
  },
  summaries: {
    create: 'Create a canvas',
    list: 'List your canvases, last updated first',
    get: 'Read one canvas',
    update: 'Change a canvas; a changed graph sets it back to draft',
    remove: 'Delete a canvas; the skill published from it stays',
  },
  listed: { by: 'updated_at', size: 'graph_bytes' },
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
  present: (row: CanvasRow): words.Canvas => ({
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
