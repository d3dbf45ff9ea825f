import { createBuild } from './build'
import type { CanvasDeps } from './deps'
import { createManage } from './manage'
import { publish } from './publish'
import { createVersions } from './versions'

export type CanvasService = ReturnType<typeof createCanvases>

/** Canvases: drawn, compiled, tried out, published, and gone back to. */
export function createCanvases(deps: CanvasDeps) {
  return { ...createManage(deps), ...createBuild(deps), publish: publish(deps), versions: createVersions(deps) }
}
