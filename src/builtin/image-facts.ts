import type { ImagePart } from '../engines'
import { imageSize } from '../files'
import type { Skill } from './question'
import { plural } from './words'

export type ImageFacts = { format: string; width: number; height: number; bytes: number }

/** Describes images by format and size, which their bytes state; describing what they show needs a model. */
export const imageFacts: Skill = ({ images, forVisitors }) => {
  if (images.length === 0) return null
  const lines = images.map((image, at) => `- Image ${at + 1}: ${describe(readImage(image))}`)
  const facts = `You sent ${plural(images.length, 'image')}:\n${lines.join('\n')}`
  if (forVisitors)
    return `${facts}\n\nSorry, I cannot tell what ${images.length === 1 ? 'the picture shows' : 'the pictures show'}.`
  return `${facts}\n\nThese facts come from the bytes alone. What the ${images.length === 1 ? 'picture shows' : 'pictures show'} needs a vision model, and none is connected; the operator can connect one with SVC_ENGINE_BASE_URL or svc-admin engines add.`
}

function describe(facts: ImageFacts | null): string {
  if (!facts) return 'not a PNG, JPEG, GIF or WebP image that can be read.'
  const size = facts.bytes < 1_024 ? `${facts.bytes} bytes` : `${(facts.bytes / 1_024).toFixed(1)} KB`
  return `${facts.format}, ${facts.width} × ${facts.height} pixels, ${size}.`
}

/** Format, size and bytes of an image; null for an unknown format. */
export function readImage({ base64 }: Pick<ImagePart, 'base64'>): ImageFacts | null {
  const data = Buffer.from(base64, 'base64')
  const size = imageSize(data)
  return size && { ...size, bytes: data.length }
}
