import { orgDeleted } from '../../orgs'
import { canvasRepository as rows } from '../repository'
import { createBuild } from './build'
import type { CanvasDeps } from './deps'
import { createManage } from './manage'
import { publish } from './publish'
import { createVersions } from './versions'

export type CanvasService = ReturnType<typeof createCanvases>

/** All verbs of canvases. Deleting an org deletes its canvases. */
export function createCanvases(deps: CanvasDeps) {
  deps.events.inTransaction(orgDeleted, async (tx, { scope }) => void (await rows.removeAll(tx, scope)))
  return { ...createManage(deps), ...createBuild(deps), publish: publish(deps), versions: createVersions(deps) }
}
