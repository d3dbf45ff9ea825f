import { type ChargingService, promptIn, type Work, type WorkResult } from '../charging'
import {
  type Driver,
  type EngineService,
  type ImageQuality,
  imagePrompt,
  type MadeImage,
  type Origin,
  originOf,
} from '../engines'
import { type Draft, imageSize } from '../files'
import type { About, Artifact } from '../files/schema'
import type { Call } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { reencodeImage } from '../kernel/pictures'
import { createWorkerPool, WorkerFailure } from '../kernel/worker-pool'
import { labelled } from './drawing-label'
import { mediaErrors } from './errors'
import { missingIn } from './missing-letters'
import type { SceneInput } from './scenes/compose'
import { readPrompt } from './scenes/read'
import { type GenerationInput, type Generations, ImageId, type ImageInput, type Images, SIZES } from './schema'

/** A requested picture, before an engine is chosen. */
type PictureInput = {
  prompt: string
  /** The changes requested since, oldest first. */
  changes?: readonly string[]
  /** The picture that the last of these changes applies to. */
  base?: MadeImage | null
  style?: string | null
  aspectRatio?: string | null
  quality?: ImageQuality
  count: number
  /** The requested image engine. */
  engineId: string
  /** File format. If absent, as the engine made them. */
  format?: 'png' | 'jpeg' | 'webp' | null
  /** For an edit of `base`: further pictures and the mask. Only an engine that edits pictures may answer. */
  edit?: Pick<Edit, 'others' | 'mask'>
}

/** Pictures to edit: the main one, further pictures to use, and the mask of the area to change. */
export type Edit = { base: MadeImage; others: readonly MadeImage[]; mask: MadeImage | null }

/** Options of an image client besides its request body. */
type Wanted = { edit: Edit | null; warnings: readonly string[] }

/** `bytes` are those of the draft. */
export type Picture = { draft: Draft; about: About; bytes: Uint8Array }

/** Pictures in the order of their variants. Null for a failed one if another succeeded. */
export type MadePictures = {
  pictures: readonly (Picture | null)[]
  /** The whole description, as stored (docs/api.md 6). */
  prompt: string
  /** The engine that answered. */
  engineId: string
  free: boolean
  /** Things in the description that the built-in engine cannot draw. Empty for other engines. */
  unknown: readonly string[]
}

type Context = Pick<Work, 'keep' | 'signal'> & { origin: Origin }

export type Pictures = ReturnType<typeof createPictures>

/** The engine name on artifacts of the built-in engine, so that nobody takes them for a model's. */
const LOCAL = 'svc-local-vector'

type Deps = {
  charging: ChargingService
  engines: Pick<EngineService, 'image' | 'drawsItself'>
  pictures: Pictures
}

type Stored = Omit<WorkResult, 'files'> & MadePictures & { files: readonly Picture[] }
type Outcome = { id: ImageId; made: Stored; artifacts: Artifact[]; costCents: number; at: number }

export type ImageService = ReturnType<typeof createImages>

/** Creates pictures, one charge per request (docs/api.md 6). */
export function createImages({ charging, engines, pictures }: Deps) {
  return { create, generate, generateEvents }

  /** `POST /images`. Throws 400 `missing_prompt` and what {@link ChargingService} throws. */
  function create(call: Call, input: ImageInput): Promise<Images> {
    const { style, aspect_ratio, count = 1, image_model = 'auto', image_quality = 'standard' } = input
    const wanted = {
      aspectRatio: aspect_ratio ?? null,
      quality: image_quality as ImageQuality,
      count,
      engineId: engineFor(image_model),
    }
    return made(call, textsOf(input, style), wanted, toImages)
  }

  /**
   * Like `create`, for image clients (docs/api.md 28.1, 32.4). Omits failed pictures, because these clients cannot
   * represent them. Throws 503 `engine_unavailable` if the request is an edit and no engine edits pictures.
   */
  function generate(call: Call, input: GenerationInput, wanted: Wanted): Promise<Generations> {
    const { response_format: format, model } = input
    const asBytes = format ? format === 'b64_json' : /^gpt-image/.test(model ?? '')
    return generated(call, input, wanted, toGenerations(asBytes, wanted.warnings))
  }

  /** Like `generate`, as stream events, one per picture. */
  function generateEvents(call: Call, input: GenerationInput, wanted: Wanted): Promise<GenerationEvent[]> {
    return generated(call, input, wanted, toEvents(input, wanted.edit !== null))
  }

  function generated<Answer>(
    call: Call,
    input: GenerationInput,
    { edit }: Wanted,
    answer: (outcome: Outcome) => Answer,
  ): Promise<Answer> {
    const { n, size, quality, style, model, output_format } = input
    const wanted = {
      aspectRatio: SIZES[size ?? 'auto'],
      quality: QUALITIES[quality ?? ''] ?? 'standard',
      count: n ?? 1,
      engineId: engineFor(model ?? 'auto'),
      format: output_format ?? null,
      ...(edit ? { base: edit.base, edit } : {}),
    }
    return made(call, textsOf(input, style), wanted, answer)
  }

  function made<Answer>(
    call: Call,
    texts: Record<string, string>,
    input: Omit<PictureInput, 'prompt' | 'style'>,
    answer: (outcome: Outcome) => Answer,
  ): Promise<Answer> {
    const id = ImageId.create()
    const { engineId, count } = input
    return charging.run<Stored, Answer>(call, {
      kind: 'image',
      id,
      mode: 'image',
      engineId,
      free: !input.edit && engines.drawsItself(engineId),
      texts,
      max: { images: count },
      async make({ texts: left, keep, signal }) {
        const request = { ...input, prompt: left.prompt!, style: left.style ?? null }
        const all = await pictures(request, { keep, signal, origin: originOf(call) })
        const files = all.pictures.flatMap((one) => (one ? [one] : []))
        return { ...all, used: { images: files.length }, files }
      },
      answer: (finished) => answer({ id, ...finished }),
    })
  }
}

/** Image clients name models of other servers, so an unknown name selects the default engine. */
const engineFor = (word: string): string =>
  /^svc-1-(photo|rapid|design|studio|type)$/.test(word) ? word : 'svc-1-create'

const textsOf = (input: { prompt?: string }, style: string | null | undefined): Record<string, string> => ({
  prompt: promptIn(input),
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

function warningsOf({ prompt, unknown }: Stored): string[] {
  const missing = missingIn(prompt)
  return [
    ...(missing.length
      ? [`The fonts of local illustrations have no ${missing.join(', ')} letters, so these are left out.`]
      : []),
    ...(unknown.length ? [`Local illustrations have no picture of: ${unknown.join(', ')}.`] : []),
  ]
}

const NO_TOKENS = { input_tokens: 0, output_tokens: 0, total_tokens: 0 }

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

const toGenerations =
  (asBytes: boolean, warnings: readonly string[]) =>
  ({ made, artifacts, costCents, at }: Outcome): Generations => {
    const all = [...warnings, ...(made.free ? warningsOf(made) : [])]
    return {
      created: Math.floor(at / 1_000),
      data: made.files.map(({ bytes }, place) => ({
        ...(asBytes ? { b64_json: base64(bytes) } : { url: artifacts[place]!.url! }),
        revised_prompt: made.prompt,
      })),
      usage: { cost_cents: costCents, ...NO_TOKENS },
      svc_metadata: { engine: made.engineId, cost_cents: costCents, ...(all.length ? { warnings: all } : {}) },
    }
  }

/** A picture in a stream, in the format that clients of such streams expect. */
type GenerationEvent = { type: string; b64_json: string } & Record<string, unknown>

const toEvents =
  ({ quality }: GenerationInput, isEdit: boolean) =>
  ({ made, costCents, at }: Outcome): GenerationEvent[] =>
    made.files.map(({ bytes, draft, about }) => ({
      type: isEdit ? 'image_edit.completed' : 'image_generation.completed',
      b64_json: base64(bytes),
      created_at: Math.floor(at / 1_000),
      size: `${about.width}x${about.height}`,
      quality: quality ?? 'auto',
      background: 'auto',
      output_format: draft.mimeType.replace('image/', ''),
      usage: { ...NO_TOKENS, cost_cents: costCents },
    }))

/** Requests pictures from an image engine in parallel and stores them. If all fail, throws the first error. */
export function createPictures(engines: Pick<EngineService, 'image'>) {
  return async function make(input: PictureInput, context: Context): Promise<MadePictures> {
    const { count, engineId } = input
    const wanted = {
      prompt: input.prompt,
      changes: input.changes ?? [],
      base: input.base ?? null,
      style: input.style ?? null,
      aspectRatio: input.aspectRatio ?? null,
      quality: input.quality ?? 'standard',
      ...(input.edit ? { editsOnly: true, others: input.edit.others, mask: input.edit.mask } : {}),
    }
    const { signal, origin } = context
    const whole = imagePrompt({ ...wanted, variant: 0, signal })
    const requests = Array.from({ length: count }, (_, variant) => one(variant))
    const ended = await Promise.allSettled(requests)
    const [answered] = ended.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
    if (!answered) throw (ended[0] as PromiseRejectedResult).reason
    return {
      pictures: ended.map((end) => (end.status === 'fulfilled' ? end.value : null)),
      prompt: whole,
      engineId: answered.engineId,
      free: answered.free,
      unknown: answered.free ? readPrompt(input.prompt, input.changes ?? [], null).unknown : [],
    }

    async function one(variant: number) {
      const image = await engines.image(engineId, { ...wanted, variant, signal, origin })
      const { bytes, mimeType } = await written(image, input.format ?? null)
      const draft = await context.keep(bytes, mimeType)
      const size = imageSize(bytes)
      if (!size || !draft.mimeType.startsWith('image/')) throw mediaErrors.notAnImage()
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
      return { draft, about, bytes, engineId: by, free }
    }
  }
}

/** Converts a picture to the requested format. Throws 503 if it cannot be read. */
async function written(image: MadeImage & { free: boolean }, format: PictureInput['format']): Promise<MadeImage> {
  if (!format || imageSize(image.bytes)?.format.toLowerCase() === format) return image
  const drawn = await reencodeImage(image.bytes, { as: () => format })
  if (!drawn) throw mediaErrors.notAnImage()
  // Redrawing removes the metadata that says how the picture was made.
  return { bytes: image.free ? labelled[format](drawn.bytes, drawn) : drawn.bytes, mimeType: `image/${format}` }
}

/** Words that change a picture, and words that request a new one. */
const CHANGE =
  /^(?:(?:now|and|ok|okay|please|then|great|nice|but|can you|could you)[,\s]+)*(?:make (?:it|this|that|them|him|her|the|everything)|turn (?:it|this|that|the)|change|add|remove|delete|replace|put|colou?r|paint (?:it|the)|give (?:it|the)|use|try|with(?:out)?|in (?:a |an )?\p{L}+(?: style| colou?rs?)?$|at (?:night|dusk|dawn|sunset)|bigger|smaller|brighter|darker|more|less|no |another|again|same|instead|but)/iu
const NEW_PICTURE =
  /\b(?:picture|image|drawing|illustration|photo|poster|logo|icon|chart)\s+(?:of|for|with|showing)\b|^(?:please )?(?:draw|create|generate|make|paint|show)(?: me)? (?:a|an|two|three|some)\b/i
const MAX_CHANGE_CHARS = 300

/** Whether a prompt asks to change the previous picture: "make it blue", "add a boat". */
export const changesPicture = (prompt: string): boolean => {
  const text = prompt.trim()
  return text.length <= MAX_CHANGE_CHARS && CHANGE.test(text) && !NEW_PICTURE.test(text)
}

/** The prompt with its context: the description of the picture and the changes so far, oldest first. */
export function pictureDescribed(prompt: string, earlier: readonly string[]): { prompt: string; changes: string[] } {
  if (!changesPicture(prompt)) return { prompt, changes: [] }
  const from = earlier.findLastIndex((one) => !changesPicture(one))
  return from < 0 ? { prompt, changes: [] } : { prompt: earlier[from]!, changes: [...earlier.slice(from + 1), prompt] }
}

/** Pixel size of a picture of standard quality, by aspect ratio. */
const PIXELS: Record<string, readonly [number, number]> = {
  '1:1': [1024, 1024],
  '16:9': [1344, 756],
  '9:16': [756, 1344],
  '4:3': [1152, 864],
  '3:4': [864, 1152],
  '3:2': [1536, 1024],
  '2:3': [1024, 1536],
}

const SCALE: Record<ImageQuality, number> = { draft: 0.5, standard: 1, hd: 1.5 }

const DRAW_MS = 20_000
const DRAW_IDLE_MS = 120_000

/**
 * The built-in image engine: draws by rules from the words of the description, in worker processes. It knows hundreds
 * of things, charts and lettering, and is never presented as a model.
 */
export function createIllustrator({ timeoutMs = DRAW_MS } = {}): Required<Pick<Driver, 'image'>> {
  const pool = createWorkerPool<SceneInput, Uint8Array>({
    script: new URL('./drawing-draw.worker.ts', import.meta.url),
    max: 2,
    idleMs: DRAW_IDLE_MS,
  })
  return {
    async image({ prompt, changes, style, aspectRatio, quality, variant, signal }) {
      const size = PIXELS[aspectRatio ?? ''] ?? PIXELS[nativeRatio(prompt, changes)]!
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
