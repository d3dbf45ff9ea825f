import { iso } from '../kernel/clock'
import type { Canvas, CanvasVersion } from './schema'
import type { CanvasRow, CanvasVersionRow } from './table'

export const presentCanvas = (row: CanvasRow): Canvas => ({
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
})

export const presentVersion = (row: CanvasVersionRow): CanvasVersion => ({
  id: row.id,
  version: row.version,
  graphJson: row.graph,
  compiledManifest: row.manifest,
  visibility: row.visibility,
  skillId: row.skill_id,
  submissionId: row.submission_id,
  createdAt: iso(row.created_at),
})
