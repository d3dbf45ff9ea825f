import type { Driver } from '../../engines'
import { createWorkerPool, WorkerFailure } from '../../kernel/worker-pool'
import { tooMuchToDraw } from '../errors'
import type { SceneOrder } from '../scenes'
import { pixelsFor } from './size'

const TIMEOUT_MS = 20_000
const IDLE_MS = 120_000

/**
 * The pictures of the built-in engine: drawn by rules from the words of the description, in worker processes. It knows a
 * few dozen things, charts and lettering, and is never presented as a model.
 */
export function createIllustrator({ timeoutMs = TIMEOUT_MS } = {}): Required<Pick<Driver, 'image'>> {
  const pool = createWorkerPool<SceneOrder, Uint8Array>({
    script: new URL('./draw.worker.ts', import.meta.url),
    most: 2,
    idleMs: IDLE_MS,
  })
  return {
    async image({ prompt, changes, style, aspectRatio, quality, variant, signal }) {
      const order = {
        prompt,
        changes: [...changes],
        style,
        variant,
        ...pixelsFor(aspectRatio, quality, { prompt, changes }),
      }
      const bytes = await pool.run(order, { timeoutMs, signal }).catch((error: unknown) => {
        if (!(error instanceof WorkerFailure)) throw error
        if (error.kind !== 'failed') throw tooMuchToDraw()
        throw new Error(`the picture could not be drawn: ${error.message}`)
      })
      return { bytes, mimeType: 'image/png' }
    },
  }
}
