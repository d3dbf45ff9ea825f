import { createWorkerPool, WorkerFailure } from '../kernel/worker-pool'
import { tooLarge } from './errors'
import type { Outlined, OutlineOrder, Rendered, RenderOrder } from './render/render.worker'

const RENDER_MS = 30_000

type By = { signal: AbortSignal; who: string }

export type Rendering = ReturnType<typeof createRendering>

/** Makes texts by rules and lays documents out, on threads, each within 30 s and 400 MiB (I28). */
export function createRendering() {
  const pool = createWorkerPool<RenderOrder | OutlineOrder, Rendered | Outlined>({
    open: () => new Worker(new URL('./render/render.worker.ts', import.meta.url).href),
    most: 2,
    idleMs: 120_000,
    growthBytes: 400 * 1024 * 1024,
  })
  return {
    /** Throws 400 `validation_error` for a document that takes more, and the signal's reason. */
    render: (order: RenderOrder, by: By) => ask(order, by) as Promise<Rendered>,
    /** Throws what `render` throws. */
    outline: (prompt: string, by: By) => ask({ outline: prompt }, by) as Promise<Outlined>,
  }

  async function ask(order: RenderOrder | OutlineOrder, by: By) {
    try {
      return await pool.run(order, { timeoutMs: RENDER_MS, ...by })
    } catch (error) {
      if (error instanceof WorkerFailure && error.kind !== 'failed') throw tooLarge()
      throw error
    }
  }
}
