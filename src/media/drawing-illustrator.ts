import type { Driver, ImageQuality } from '../engines'
import { createWorkerPool, WorkerFailure } from '../kernel/worker-pool'
import { mediaErrors } from './errors'
import type { SceneInput } from './scenes/compose'
import { readPrompt } from './scenes/read'

/** Pixel size of a picture of standard quality, by aspect ratio. */
const SIZES: Record<string, readonly [number, number]> = {
  '1:1': [1024, 1024],
  '16:9': [1344, 756],
  '9:16': [756, 1344],
  '4:3': [1152, 864],
  '3:4': [864, 1152],
  '3:2': [1536, 1024],
  '2:3': [1024, 1536],
}

const SCALE: Record<ImageQuality, number> = { draft: 0.5, standard: 1, hd: 1.5 }

const TIMEOUT_MS = 20_000
const IDLE_MS = 120_000

/**
 * The built-in image engine: draws by rules from the words of the description, in worker processes. It knows hundreds
 * of things, charts and lettering, and is never presented as a model.
 */
export function createIllustrator({ timeoutMs = TIMEOUT_MS } = {}): Required<Pick<Driver, 'image'>> {
  const pool = createWorkerPool<SceneInput, Uint8Array>({
    script: new URL('./drawing-draw.worker.ts', import.meta.url),
    max: 2,
    idleMs: IDLE_MS,
  })
  return {
    async image({ prompt, changes, style, aspectRatio, quality, variant, signal }) {
      const size = SIZES[aspectRatio ?? ''] ?? SIZES[nativeRatio(prompt, changes)]!
      const [width, height] = size.map((side) => Math.round(side * SCALE[quality])) as [number, number]
      const input = { prompt, changes: [...changes], style, variant, width, height }
      const bytes = await pool.run(input, { timeoutMs, signal }).catch((error: unknown) => {
        if (!(error instanceof WorkerFailure)) throw error
        if (error.kind !== 'failed') throw mediaErrors.tooMuchToDraw()
        throw new Error(`the picture could not be drawn: ${error.message}`)
      })
      return { bytes, mimeType: 'image/png' }
    },
  }
}

/** The aspect ratio that suits the content, used when the request has none. */
function nativeRatio(prompt: string, changes: readonly string[]): string {
  const { layout, setting } = readPrompt(prompt, changes, null)
  if (layout === 'poster') return /\b(banner|header|cover photo)\b/i.test(prompt) ? '16:9' : '3:4'
  return layout === 'chart' || layout === 'diagram' || (layout === 'picture' && setting) ? '4:3' : '1:1'
}
