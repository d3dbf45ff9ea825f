import type { ImageQuality } from '../../engines'
import { readPrompt } from '../scenes'

/** Pixels of a picture of standard quality, by aspect ratio. */
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

/** The aspect ratio that suits what is drawn, where none was asked for. */
function nativeRatio(prompt: string, changes: readonly string[]): string {
  const { layout, setting } = readPrompt(prompt, changes, null)
  if (layout === 'poster') return /\b(banner|header|cover photo)\b/i.test(prompt) ? '16:9' : '3:4'
  return layout === 'chart' || layout === 'diagram' || (layout === 'picture' && setting) ? '4:3' : '1:1'
}

export function pixelsFor(
  aspectRatio: string | null,
  quality: ImageQuality,
  { prompt, changes }: { prompt: string; changes: readonly string[] },
): { width: number; height: number } {
  const [width, height] = SIZES[aspectRatio ?? ''] ?? SIZES[nativeRatio(prompt, changes)]!
  return { width: Math.round(width * SCALE[quality]), height: Math.round(height * SCALE[quality]) }
}
