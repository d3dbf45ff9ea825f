import { type EngineService, type ImageQuality, imagePrompt, type MadeImage, type Origin } from '../engines'
import { type Draft, imageSize } from '../files'
import type { About } from '../files/schema'
import type { Work } from '../making'
import { notAnImage } from './errors'
import { readPrompt } from './scenes'

/** What a picture is to show, before it is known who makes it. */
export type PictureOrder = {
  prompt: string
  /** What was asked to change since, oldest first. */
  changes?: readonly string[]
  /** The picture that the last of these changes is about. */
  base?: MadeImage | null
  style?: string | null
  aspectRatio?: string | null
  quality?: ImageQuality
  count: number
  /** The image engine asked. */
  engineId: string
}

/** `bytes` are those of the draft. */
export type Picture = { draft: Draft; about: About; bytes: Uint8Array }

/** Pictures in the order of their variants; null for one that failed where another did not. */
export type MadePictures = {
  pictures: readonly (Picture | null)[]
  /** The whole description, as stored (contract 6). */
  prompt: string
  /** The engine that answered. */
  engineId: string
  free: boolean
  /** What the description names that the built-in engine has no picture of; none of other engines. */
  unknown: readonly string[]
}

type Context = Pick<Work, 'keep' | 'signal'> & { origin: Origin }

export type Pictures = ReturnType<typeof createPictures>

/** Asks an image engine for pictures, all at the same time, and keeps them. Throws what the first one threw when all failed. */
export function createPictures(engines: Pick<EngineService, 'image'>) {
  return async function make(order: PictureOrder, context: Context): Promise<MadePictures> {
    const { count, engineId } = order
    const wanted = {
      prompt: order.prompt,
      changes: order.changes ?? [],
      base: order.base ?? null,
      style: order.style ?? null,
      aspectRatio: order.aspectRatio ?? null,
      quality: order.quality ?? 'standard',
    }
    const { signal, origin } = context
    const whole = imagePrompt({ ...wanted, variant: 0, signal })
    const asked = Array.from({ length: count }, (_, variant) => one(variant))
    const ended = await Promise.allSettled(asked)
    const [answered] = ended.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
    if (!answered) throw (ended[0] as PromiseRejectedResult).reason
    return {
      pictures: ended.map((end) => (end.status === 'fulfilled' ? end.value : null)),
      prompt: whole,
      engineId: answered.engineId,
      free: answered.free,
      unknown: answered.free ? readPrompt(order.prompt, order.changes ?? [], null).unknown : [],
    }

    async function one(variant: number) {
      const image = await engines.image(engineId, { ...wanted, variant, signal, origin })
      const draft = await context.keep(image.bytes, image.mimeType)
      const size = imageSize(image.bytes)
      if (!size || !draft.mimeType.startsWith('image/')) throw notAnImage()
      const { free, engineId: by } = image
      const about: About = {
        type: 'image',
        title: free ? 'Local illustration' : null,
        filename: `image-${variant + 1}.${draft.extension ?? 'png'}`,
        engine: free ? LOCAL : 'svc-vision',
        model: engineId,
        prompt: whole,
        width: size.width,
        height: size.height,
      }
      return { draft, about, bytes: image.bytes, engineId: by, free }
    }
  }
}

/** What the artifacts of the built-in engine name, so that nobody takes them for a model's. */
const LOCAL = 'svc-local-vector'
