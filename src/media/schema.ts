import { defineId, type Id } from '../kernel/ids'
import { nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'

export const ImageId = defineId('image', 'img')
export type ImageId = Id<'image'>

const ASPECT_RATIOS = ['1:1', '16:9', '9:16', '4:3', '3:4'] as const

export const ImageModel = oneOf([
  'auto',
  'svc-1-create',
  'svc-1-photo',
  'svc-1-rapid',
  'svc-1-design',
  'svc-1-studio',
  'svc-1-type',
] as const)

export const ImageQuality = oneOf(['draft', 'standard', 'hd'] as const)

const MAX_PROMPT_CHARS = 32_000

/** Body of `POST /images` (docs/api.md 6). Unknown members are ignored. */
export const ImageInput = t.Object(
  {
    prompt: t.Optional(t.String({ maxLength: MAX_PROMPT_CHARS, description: 'Required: what to show' })),
    style: t.Optional(t.String({ maxLength: 200, description: 'Such as `flat`, `retro`, `neon`, `line art`' })),
    aspect_ratio: t.Optional(oneOf(ASPECT_RATIOS)),
    count: t.Optional(t.Integer({ minimum: 1, maximum: 4, description: 'Number of pictures; default 1' })),
    image_model: t.Optional(ImageModel),
    image_quality: t.Optional(ImageQuality),
  },
  { $id: 'ImageOrder' },
)
export type ImageInput = Static<typeof ImageInput>

export const Images = t.Object(
  {
    id: ImageId.schema,
    object: t.Literal('image'),
    created: Timestamp,
    images: t.Array(
      t.Object({
        url: nullable(t.String({ description: 'Works for an hour; null for a picture that failed' })),
        engine: t.String({ description: '`svc-local-vector` for illustrations drawn by this server' }),
        model: t.String(),
        prompt: t.String({ description: 'The prompt, with style and aspect ratio' }),
        artifact_id: nullable(t.String({ description: 'For GET /artifacts/{id}' })),
      }),
    ),
    usage: t.Object({ cost_cents: t.Number() }),
    warnings: t.Optional(t.Array(t.String())),
  },
  { $id: 'Images' },
)
export type Images = Static<typeof Images>

/** Sizes of the compatible route, and their aspect ratios (docs/api.md 28.1). */
export const SIZES = { '1024x1024': '1:1', '1536x1024': '3:2', '1024x1536': '2:3', auto: null } as const

const FORMATS = ['png', 'jpeg', 'webp'] as const

/** Fields that these clients send and this server ignores. */
export const IGNORED_OF_IMAGES = [
  'background',
  'moderation',
  'output_compression',
  'partial_images',
  'input_fidelity',
] as const

/** Body of `POST /images/generations` from image clients (docs/api.md 28.1, 32.4). Unknown members are ignored. */
export const GenerationInput = t.Object(
  {
    prompt: t.Optional(t.String({ maxLength: 4_000, description: 'Required: what to show' })),
    n: t.Optional(nullable(t.Integer({ minimum: 1, maximum: 4 }))),
    size: t.Optional(nullable(oneOf(Object.keys(SIZES) as (keyof typeof SIZES)[]))),
    quality: t.Optional(nullable(t.String({ maxLength: 64 }))),
    response_format: t.Optional(
      nullable(
        oneOf(['url', 'b64_json'] as const, { description: 'Default: url, of models named gpt-image b64_json' }),
      ),
    ),
    output_format: t.Optional(nullable(oneOf(FORMATS, { description: 'Default: as the engine makes them' }))),
    model: t.Optional(nullable(t.String({ maxLength: 256 }))),
    style: t.Optional(nullable(t.String({ maxLength: 200 }))),
    user: t.Optional(nullable(t.String({ maxLength: 256 }))),
    stream: t.Optional(nullable(t.Boolean({ description: 'One event with the bytes of each picture' }))),
  },
  { $id: 'ImageGenerationOrder' },
)
export type GenerationInput = Static<typeof GenerationInput>

export const Generations = t.Object(
  {
    created: t.Integer({ description: 'Unix time in seconds' }),
    data: t.Array(
      t.Object({
        url: t.Optional(t.String()),
        b64_json: t.Optional(t.String()),
        revised_prompt: t.String(),
      }),
    ),
    usage: t.Object({
      cost_cents: t.Number(),
      input_tokens: t.Integer({ description: '0: pictures are charged by number' }),
      output_tokens: t.Integer(),
      total_tokens: t.Integer(),
    }),
    svc_metadata: t.Object({
      engine: t.String(),
      cost_cents: t.Number(),
      warnings: t.Optional(t.Array(t.String())),
    }),
  },
  { $id: 'ImageGenerations' },
)
export type Generations = Static<typeof Generations>
