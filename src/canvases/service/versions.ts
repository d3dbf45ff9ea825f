import { storeAnswer } from '../../idempotency'
import type { Call } from '../../kernel/caller'
import { mapPage, type Page, type PageQuery } from '../../kernel/page'
import { versionNotFound } from '../errors'
import { readPage } from '../pages'
import { presentCanvas, presentVersion } from '../present'
import { canvasRepository as rows } from '../repository'
import { type Canvas, type CanvasVersion, CanvasVersionId } from '../schema'
import { type CanvasDeps, owned, ownedLocked, recordOn, touched } from './deps'
import { UNCOMPILED } from './manage'

/** Lists and restores published versions of a canvas. */
export function createVersions(deps: CanvasDeps) {
  const { store, clock } = deps
  return { list, restore }

  /** `GET /evi/canvases/{id}/versions`: newest first. */
  async function list({ caller }: Call, id: string, query: PageQuery): Promise<Page<CanvasVersion>> {
    const canvas = await owned(store.read, caller, id)
    const outlines = await rows.versionOutlines(store.read, canvas.id, query)
    const page = await readPage(outlines, query.limit, (ids) => rows.versions(store.read, canvas.id, ids))
    return mapPage(page, presentVersion)
  }

  /** `POST …/versions/{versionId}/restore`: makes the version's graph the current one, as a draft. */
  function restore(call: Call, id: string, versionId: string): Promise<{ canvas: Canvas }> {
    return store.write(async (tx) => {
      const row = await ownedLocked(deps, tx, call.caller, id)
      const version = CanvasVersionId.is(versionId) ? await rows.findVersion(tx, row.id, versionId) : undefined
      if (!version) throw versionNotFound()
      const { graph, graph_bytes } = version
      const canvas = await rows.update(tx, row, { graph, graph_bytes, ...UNCOMPILED, updated_at: touched(clock, row) })
      const metadata = { restored_version: version.version }
      await recordOn(deps, tx, call, row, { action: 'canvas.updated', fields: ['graph_json'], metadata })
      return storeAnswer(tx, call, { canvas: presentCanvas(canvas) })
    })
  }
}
