import type { ImageModelV4CallOptions, ImageModelV4Result } from '@ai-sdk/provider'
import { EngineFailure, type ImageRequest, type MadeImage } from '../../engine'
import { changesPictures, editPrompt, imagePrompt, qualityFor, sizeFor } from '../../image-prompt'
import type { Vendor } from './vendors'

/** A request in the vendor packages' terms: openai takes sizes, google aspect ratios. */
export function toImageOptions(vendor: Vendor, request: ImageRequest, signal: AbortSignal): ImageModelV4CallOptions {
  const { model, aspectRatio, quality, base } = request
  const edits = base && (vendor === 'google' || changesPictures(model))
  const size = vendor === 'openai' ? sizeFor(model, aspectRatio) : undefined
  const wanted = vendor === 'openai' ? qualityFor(model, quality) : undefined
  return {
    prompt: edits ? editPrompt(request) : imagePrompt(request),
    n: 1,
    size: size as ImageModelV4CallOptions['size'],
    aspectRatio:
      vendor === 'openai' ? undefined : ((aspectRatio ?? undefined) as ImageModelV4CallOptions['aspectRatio']),
    seed: undefined,
    files: edits ? [{ type: 'file', data: base.bytes, mediaType: base.mimeType }] : undefined,
    mask: undefined,
    providerOptions: wanted ? { openai: { quality: wanted } } : {},
    abortSignal: signal,
  }
}

/** Throws `malformed` when there is no picture in it. */
export function readImage({ images: [first] }: ImageModelV4Result): MadeImage {
  const bytes = typeof first === 'string' ? Buffer.from(first, 'base64') : first
  if (!bytes?.length) throw new EngineFailure('malformed', 'the answer holds no image')
  return { bytes, mimeType: 'image/png' }
}
