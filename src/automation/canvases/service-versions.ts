import { storeAnswer } from '../../idempotency'
import type { Call } from '../../kernel/caller'
import { iso } from '../../kernel/clock'
import { mapPage, type Page, type PageQuery } from '../../kernel/page'
import { versionNotFound } from './errors'
import { versionRepository as rows } from './repository'
import { type Canvas, type CanvasVersion, CanvasVersionId } from './schema'
import { type Canvases, UNCOMPILED } from './service-deps'
import type { CanvasVersionRow } from './table'

/** Lists and restores published versions of a canvas. */
export function createVersions({ resources: { store }, canvases }: Canvases) {
  return { list, restore }

  /** `GET /evi/canvases/{id}/versions`: newest first. */
  async function list({ caller }: Call, id: string, query: PageQuery): Promise<Page<CanvasVersion>> {
    const canvas = await canvases.find(store.read, caller, id)
    return mapPage(await rows.list(store.read, canvas.id, query), present)
  }

  /** `POST …/versions/{versionId}/restore`: makes the version's graph the current one, as a draft. */
  function restore(call: Call, id: string, versionId: string): Promise<{ canvas: Canvas }> {
    return store.write(async (tx) => {
      const row = await canvases.findToChange(tx, call.caller, id)
      const version = CanvasVersionId.is(versionId) ? await rows.find(tx, row.id, versionId) : undefined
      if (!version) throw versionNotFound()
      const { graph, graph_bytes } = version
      const input = { fields: ['graph_json'], metadata: { restored_version: version.version } }
      const about = { call, verb: 'updated', row }
      const restored = await canvases.change(tx, about, { graph, graph_bytes, ...UNCOMPILED }, input)
      return storeAnswer(tx, call, await canvases.present(tx, restored))
    })
  }
}

const present = (row: CanvasVersionRow): CanvasVersion => ({
  id: row.id,
  version: row.version,
  graphJson: row.graph,
  compiledManifest: row.manifest,
  visibility: row.visibility,
  skillId: row.skill_id,
  submissionId: row.submission_id,
  createdAt: iso(row.created_at),
})
