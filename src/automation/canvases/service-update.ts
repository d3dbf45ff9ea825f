import { isDeepStrictEqual } from 'node:util'
import type { Call, Caller } from '../../kernel/caller'
import { nothingToChange } from './errors'
import { storable } from './rules'
import type { Canvas, CanvasPatch } from './schema'
import { type Canvases, UNCOMPILED } from './service-deps'

/**
 * `PATCH /evi/canvases/{id}`: a different graph discards the compilation and makes it a draft. By hand, because that is
 * decided by the locked row.
 */
export const updateCanvas =
  ({ resources, canvases }: Canvases) =>
  async (call: Call<Caller>, id: string, patch: CanvasPatch): Promise<{ canvas: Canvas }> => {
    const { name, description, graph_json, is_public } = patch
    const fields = Object.entries({ name, description, graph_json, is_public }).flatMap(([field, value]) =>
      value === undefined ? [] : [field],
    )
    const drawn = graph_json && storable(graph_json)
    return resources.store.write(async (tx) => {
      const row = await canvases.findToChange(tx, call.caller, id)
      if (!fields.length) throw nothingToChange()
      const columns = {
        ...(name === undefined ? {} : { name }),
        ...(description === undefined ? {} : { description }),
        ...(is_public === undefined ? {} : { is_public }),
        ...(drawn && !isDeepStrictEqual(drawn.graph, row.graph) ? { ...drawn, ...UNCOMPILED } : {}),
      }
      return canvases.present(tx, await canvases.change(tx, { call, verb: 'updated', row }, columns, { fields }))
    })
  }
