import { type EngineService, type ImageQuality, originOf } from '../engines'
import type { Artifact } from '../files/schema'
import { missingIn } from '../fonts'
import type { Call } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { type Made, type MakingService, promptIn } from '../making'
import type { MadePictures, Picture, PictureOrder, Pictures } from './pictures'
import { type GenerationOrder, type Generations, ImageId, type ImageOrder, type Images, SIZES } from './schema'

type Deps = {
  making: MakingService
  engines: Pick<EngineService, 'image' | 'drawsItself'>
  pictures: Pictures
}

type Kept = Omit<Made, 'files'> & MadePictures & { files: readonly Picture[] }
type Outcome = { id: ImageId; made: Kept; artifacts: Artifact[]; costCents: number; at: number }

export type ImageService = ReturnType<typeof createImages>

/** Pictures as one charged request (contract 6). */
export function createImages({ making, engines, pictures }: Deps) {
  return { create, generate }

  /** `POST /images`. Throws 400 `missing_prompt` and what {@link MakingService} throws. */
  function create(call: Call, order: ImageOrder): Promise<Images> {
    const { style, aspect_ratio, count = 1, image_model = 'auto', image_quality = 'standard' } = order
    const wanted = {
      aspectRatio: aspect_ratio ?? null,
      quality: image_quality as ImageQuality,
      count,
      engineId: engineFor(image_model),
    }
    return made(call, textsOf(order, style), wanted, toImages)
  }

  /** The same for image clients (contract 28.1). Failed pictures are left out, as these clients know none. */
  function generate(call: Call, order: GenerationOrder): Promise<Generations> {
    const { n, size, quality, response_format, style, model } = order
    const wanted = {
      aspectRatio: SIZES[size ?? 'auto'],
      quality: QUALITIES[quality ?? ''] ?? 'standard',
      count: n ?? 1,
      engineId: engineFor(model ?? 'auto'),
    }
    return made(call, textsOf(order, style), wanted, toGenerations(response_format === 'b64_json'))
  }

  function made<Answer>(
    call: Call,
    texts: Record<string, string>,
    order: Omit<PictureOrder, 'prompt' | 'style'>,
    answer: (outcome: Outcome) => Answer,
  ): Promise<Answer> {
    const id = ImageId.create()
    const { engineId, count } = order
    return making.run<Kept, Answer>(call, {
      kind: 'image',
      id,
      mode: 'image',
      engineId,
      free: engines.drawsItself(engineId),
      texts,
      most: { images: count },
      async make({ texts: left, keep, signal }) {
        const asked = { ...order, prompt: left.prompt!, style: left.style ?? null }
        const all = await pictures(asked, { keep, signal, origin: originOf(call) })
        const files = all.pictures.flatMap((one) => (one ? [one] : []))
        return { ...all, used: { images: files.length }, files }
      },
      answer: (finished) => answer({ id, ...finished }),
    })
  }
}

/** A word that is no image engine of ours stands for the usual one: image clients name models of other servers. */
const engineFor = (word: string): string =>
  /^svc-1-(photo|rapid|design|studio|type)$/.test(word) ? word : 'svc-1-create'

const textsOf = (order: { prompt?: string }, style: string | null | undefined): Record<string, string> => ({
  prompt: promptIn(order),
  ...(style ? { style } : {}),
})

const QUALITIES: Record<string, ImageQuality> = { low: 'draft', draft: 'draft', high: 'hd', hd: 'hd' }

function toImages({ id, made, artifacts, costCents, at }: Outcome): Images {
  const stored = [...artifacts]
  const images = made.pictures.map((picture) => {
    const artifact = picture ? stored.shift()! : null
    const { engine = 'svc-vision', model = made.engineId } = picture?.about ?? {}
    return { url: artifact?.url ?? null, engine, model, prompt: made.prompt, artifact_id: artifact?.id ?? null }
  })
  const warnings = made.free ? warningsOf(made) : []
  const usage = { cost_cents: costCents }
  return { id, object: 'image', created: iso(at), images, usage, ...(warnings.length ? { warnings } : {}) }
}

function warningsOf({ prompt, unknown }: Kept): string[] {
  const missing = missingIn(prompt)
  return [
    ...(missing.length
      ? [`The fonts of local illustrations have no ${missing.join(', ')} letters, so these are left out.`]
      : []),
    ...(unknown.length ? [`Local illustrations have no picture of: ${unknown.join(', ')}.`] : []),
  ]
}

const toGenerations =
  (asBytes: boolean) =>
  ({ made, artifacts, costCents, at }: Outcome): Generations => ({
    created: Math.floor(at / 1_000),
    data: made.files.map(({ bytes }, place) => ({
      ...(asBytes ? { b64_json: Buffer.from(bytes).toString('base64') } : { url: artifacts[place]!.url! }),
      revised_prompt: made.prompt,
    })),
    usage: { cost_cents: costCents },
  })
