import { defineTable, type Row } from '../../kernel/store'
import { ownedColumns, ownedIndexes } from '../../resource'
import type { SkillManifest } from '../../skills'
import type { SkillId, SubmissionId, Visibility } from '../../skills/schema'
import type { CanvasGraph, CanvasId, CanvasStatus, CanvasStep, CanvasVersionId } from './schema'

export const canvases = defineTable((k) =>
  k.table(
    'canvases',
    {
      ...ownedColumns<CanvasId>(k),
      description: k.text('description'),
      status: k.text('status').$type<CanvasStatus>().notNull(),
      graph: k.json<CanvasGraph>('graph').notNull(),
      /** Size of the graph as JSON; list pages use it to stay within a total size. */
      graph_bytes: k.int('graph_bytes').notNull(),
      manifest: k.json<SkillManifest | null>('manifest'),
      steps: k.json<CanvasStep[] | null>('steps'),
      is_public: k.bool('is_public').notNull(),
      published_skill_id: k.text('published_skill_id').$type<SkillId>(),
    },
    (t) => ownedIndexes(k, 'canvases', t, 'updated_at'),
  ),
)
export type CanvasRow = Row<typeof canvases>

/** The graph and manifest of each publication of a canvas. */
export const canvasVersions = defineTable((k) =>
  k.table(
    'canvas_versions',
    {
      id: k.text('id').$type<CanvasVersionId>().primaryKey(),
      canvas_id: k.text('canvas_id').$type<CanvasId>().notNull(),
      version: k.text('version').notNull(),
      graph: k.json<CanvasGraph>('graph').notNull(),
      graph_bytes: k.int('graph_bytes').notNull(),
      manifest: k.json<SkillManifest>('manifest').notNull(),
      visibility: k.text('visibility').$type<Visibility>().notNull(),
      skill_id: k.text('skill_id').$type<SkillId>().notNull(),
      submission_id: k.text('submission_id').$type<SubmissionId>().notNull(),
      created_at: k.ms('created_at').notNull(),
    },
    (t) => [k.index('canvas_versions_by_canvas').on(t.canvas_id, t.created_at, t.id)],
  ),
)
export type CanvasVersionRow = Row<typeof canvasVersions>
