import type { ImageRequest } from './engine'

/** The whole description of a picture: the caller's words, what is to change, then style and aspect ratio (contract 6). */
export function imagePrompt({ prompt, changes, style, aspectRatio }: Omit<ImageRequest, 'model'>): string {
  const messages = [prompt, ...changes.map((change) => `Change: ${change}`)]
  if (style) messages.push(`Style: ${style}`)
  if (aspectRatio) messages.push(`Aspect ratio: ${aspectRatio}`)
  return messages.length === 1 ? prompt : messages.map(asSentence).join(' ')
}

/** Whether a model changes a picture that is sent to it, where no setting says so. */
export const changesPictures = (model: string): boolean => /^(?:gpt-image|chatgpt-image)/.test(model)

/** What an upstream that gets the picture itself is told: the last change alone. */
export function editPrompt({ prompt, changes, ...request }: ImageRequest): string {
  return imagePrompt({ ...request, prompt: changes.at(-1) ?? prompt, changes: [] })
}

const asSentence = (text: string): string => {
  const trimmed = text.trim()
  return /[.!?…。！？]["'”’»)]?$/.test(trimmed) ? trimmed : `${trimmed}.`
}

/** Sizes that servers of this format know, by model: one square, one wide, one tall (contract 28.1). */
const SIZES = { square: '1024x1024', wide: '1536x1024', tall: '1024x1536' }
const DALL_E_3 = { square: '1024x1024', wide: '1792x1024', tall: '1024x1792' }

/** The size nearest to an aspect ratio; undefined leaves it to the upstream. */
export function sizeFor(model: string, aspectRatio: string | null): string | undefined {
  if (!aspectRatio) return undefined
  const [width, height] = aspectRatio.split(':').map(Number) as [number, number]
  const sizes = model.startsWith('dall-e-3') ? DALL_E_3 : SIZES
  return width === height ? sizes.square : width > height ? sizes.wide : sizes.tall
}

/** The upstream's word for a quality other than its usual one. */
export function qualityFor(model: string, quality: ImageRequest['quality']): string | undefined {
  if (quality === 'standard') return undefined
  if (model.startsWith('dall-e')) return quality === 'hd' ? 'hd' : undefined
  return quality === 'hd' ? 'high' : 'low'
}
