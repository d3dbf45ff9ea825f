import { createResource } from '../../resource'
import { versionRepository } from './repository'
import { canvas } from './resource'
import { EMPTY_GRAPH, storable } from './rules'
import type { NewCanvas } from './schema'
import { createBuild } from './service-build'
import { type CanvasDeps, compileRow } from './service-deps'
import { publish } from './service-publish'
import { updateCanvas } from './service-update'
import { createVersions } from './service-versions'
import type { CanvasRow } from './table'

export type CanvasService = ReturnType<typeof createCanvases>

/** All verbs of canvases. A deleted one takes its versions with it; the skill published from it stays. */
export function createCanvases(deps: CanvasDeps) {
  const canvases = createResource(deps.resources, canvas, {
    max: deps.settings.maxCanvases,
    async read(sent) {
      const { name, description, graph_json } = sent as NewCanvas
      return { name, description, ...storable(graph_json ?? EMPTY_GRAPH) }
    },
    async changed(tx, { verb, row }) {
      if (verb === 'deleted') await versionRepository.removeAll(tx, row.id)
    },
  })
  const parts = { ...deps, canvases }
  return {
    canvases: { ...canvases, update: updateCanvas(parts) },
    /** What a canvas compiles to as it is drawn now. */
    compiled: (row: CanvasRow) => compileRow(row),
    ...createBuild(parts),
    publish: publish(parts),
    versions: createVersions(parts),
  }
}
