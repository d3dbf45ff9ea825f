import { isDeepStrictEqual } from 'node:util'
import { storeAnswer } from '../../idempotency'
import { type Call, ownerOf } from '../../kernel/caller'
import { mapPage, type Page } from '../../kernel/page'
import { nothingToChange, tooManyCanvases } from '../errors'
import { readPage } from '../pages'
import { presentCanvas } from '../present'
import { canvasRepository as rows } from '../repository'
import { EMPTY_GRAPH, storable } from '../rules'
import { type Canvas, CanvasId, type CanvasPatch, type CanvasQuery, type NewCanvas } from '../schema'
import type { CanvasRow } from '../table'
import { type CanvasDeps, owned, ownedLocked, recordOn, touched } from './deps'

type Reply = { canvas: Canvas }

/** Most canvases of one owner: each may hold 2 MiB that nobody pays for. The same limit as for skill drafts. */
const MOST_CANVASES = 200

/** Creates, reads, changes and deletes canvases. They belong to the user, or to the org of an org's key. */
export function createManage(deps: CanvasDeps) {
  const { store, clock } = deps
  return { create, list, get, update, remove }

  /** `POST /evi/canvases`. Throws 400 for a graph of more than 2 MiB, 409 when the owner has too many canvases. */
  async function create(call: Call, { name, description, graph_json }: NewCanvas): Promise<Reply> {
    const now = clock.now()
    const row: CanvasRow = {
      id: CanvasId.create(),
      owner: ownerOf(call.caller),
      user_id: call.caller.userId,
      name,
      description: description ?? null,
      status: 'draft',
      is_public: false,
      ...storable(graph_json ?? EMPTY_GRAPH),
      manifest: null,
      steps: null,
      published_skill_id: null,
      created_at: now,
      updated_at: now,
    }
    return store.write(async (tx) => {
      await deps.skills.assertMayManage(tx, call.caller)
      if ((await rows.countOf(tx, row.owner, MOST_CANVASES)) >= MOST_CANVASES) throw tooManyCanvases(MOST_CANVASES)
      await rows.insert(tx, row)
      await recordOn(deps, tx, call, row, { action: 'canvas.created' })
      return storeAnswer(tx, call, { canvas: presentCanvas(row) })
    })
  }

  /** `GET /evi/canvases`: last updated first; at most 50, and fewer when graphs are large. */
  async function list({ caller }: Call, query: CanvasQuery): Promise<Page<Canvas>> {
    const owner = ownerOf(caller)
    const outlines = await rows.outlines(store.read, owner, query)
    return mapPage(await readPage(outlines, query.limit, (ids) => rows.all(store.read, owner, ids)), presentCanvas)
  }

  async function get({ caller }: Call, id: string): Promise<Reply> {
    return { canvas: presentCanvas(await owned(store.read, caller, id)) }
  }

  /** `PATCH /evi/canvases/{id}`: a different graph discards the compilation and makes it a draft. */
  async function update(call: Call, id: string, patch: CanvasPatch): Promise<Reply> {
    const { name, description, graph_json, is_public } = patch
    const fields = Object.entries({ name, description, graph_json, is_public }).flatMap(([field, value]) =>
      value === undefined ? [] : [field],
    )
    const drawn = graph_json && storable(graph_json)
    return store.write(async (tx) => {
      const row = await ownedLocked(deps, tx, call.caller, id)
      if (!fields.length) throw nothingToChange()
      const canvas = await rows.update(tx, row, {
        ...(name === undefined ? {} : { name }),
        ...(description === undefined ? {} : { description }),
        ...(is_public === undefined ? {} : { is_public }),
        ...(drawn && !isDeepStrictEqual(drawn.graph, row.graph) ? { ...drawn, ...UNCOMPILED } : {}),
        updated_at: touched(clock, row),
      })
      await recordOn(deps, tx, call, row, { action: 'canvas.updated', fields })
      return { canvas: presentCanvas(canvas) }
    })
  }

  /** `DELETE /evi/canvases/{id}`: deletes the canvas and its versions; the published skill stays. */
  async function remove(call: Call, id: string): Promise<{ deleted: true }> {
    await store.write(async (tx) => {
      const row = await ownedLocked(deps, tx, call.caller, id)
      await rows.remove(tx, row.owner, row.id)
      await recordOn(deps, tx, call, row, { action: 'canvas.deleted' })
    })
    return { deleted: true }
  }
}

/** State after the graph changed: a draft without a compilation. */
export const UNCOMPILED = { status: 'draft', manifest: null, steps: null } as const
