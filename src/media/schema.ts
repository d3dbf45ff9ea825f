import { Artifact, type ArtifactId } from '../files/schema'
import { JobId } from '../jobs/schema'
import { form } from '../kernel/form'
import { defineId, type Id } from '../kernel/ids'
import { namedObject, nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'

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
export const ImageInput = namedObject('ImageOrder', {
  prompt: t.Optional(t.String({ maxLength: MAX_PROMPT_CHARS, description: 'Required: what to show' })),
  style: t.Optional(t.String({ maxLength: 200, description: 'Such as `flat`, `retro`, `neon`, `line art`' })),
  aspect_ratio: t.Optional(oneOf(ASPECT_RATIOS)),
  count: t.Optional(t.Integer({ minimum: 1, maximum: 4, description: 'Number of pictures; default 1' })),
  image_model: t.Optional(ImageModel),
  image_quality: t.Optional(ImageQuality),
})
export type ImageInput = Static<typeof ImageInput>

export const Images = namedObject('Images', {
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
})
export type Images = Static<typeof Images>

/** Sizes of the compatible route, and their aspect ratios (docs/api.md 28.1). */
export const SIZES = { '1024x1024': '1:1', '1536x1024': '3:2', '1024x1536': '2:3', auto: null } as const

const PICTURE_FORMATS = ['png', 'jpeg', 'webp'] as const

/** Fields that these clients send and this server ignores. */
export const IGNORED_OF_IMAGES = [
  'background',
  'moderation',
  'output_compression',
  'partial_images',
  'input_fidelity',
] as const

/** Body of `POST /images/generations` from image clients (docs/api.md 28.1, 32.4). Unknown members are ignored. */
export const GenerationInput = namedObject('ImageGenerationOrder', {
  prompt: t.Optional(t.String({ maxLength: 4_000, description: 'Required: what to show' })),
  n: t.Optional(nullable(t.Integer({ minimum: 1, maximum: 4 }))),
  size: t.Optional(nullable(oneOf(Object.keys(SIZES) as (keyof typeof SIZES)[]))),
  quality: t.Optional(nullable(t.String({ maxLength: 64 }))),
  response_format: t.Optional(
    nullable(oneOf(['url', 'b64_json'] as const, { description: 'Default: url, of models named gpt-image b64_json' })),
  ),
  output_format: t.Optional(nullable(oneOf(PICTURE_FORMATS, { description: 'Default: as the engine makes them' }))),
  model: t.Optional(nullable(t.String({ maxLength: 256 }))),
  style: t.Optional(nullable(t.String({ maxLength: 200 }))),
  user: t.Optional(nullable(t.String({ maxLength: 256 }))),
  stream: t.Optional(nullable(t.Boolean({ description: 'One event with the bytes of each picture' }))),
})
export type GenerationInput = Static<typeof GenerationInput>

export const Generations = namedObject('ImageGenerations', {
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
})
export type Generations = Static<typeof Generations>

export const CodeId = defineId('code', 'code')
export type CodeId = Id<'code'>

export const CodeInput = namedObject('CodeOrder', {
  prompt: t.Optional(t.String({ maxLength: 1_000_000, description: 'What the code should do' })),
  language: t.Optional(t.String({ maxLength: 64, description: 'Such as `python`; the engine chooses if left out' })),
  framework: t.Optional(t.String({ maxLength: 64, description: 'Such as `django`' })),
})
export type CodeInput = Static<typeof CodeInput>

/** The result of parsing one file. `unchecked` if there is no parser for its language. */
export const CodeCheck = namedObject('CodeCheck', {
  filename: t.String(),
  language: nullable(t.String()),
  status: oneOf(['ok', 'error', 'unchecked'] as const),
  message: nullable(t.String()),
  line: nullable(t.Integer()),
})
export type CodeCheck = Static<typeof CodeCheck>

/** Generated code (docs/api.md 6). */
export const MadeCode = namedObject('Code', {
  id: CodeId.schema,
  object: t.Literal('code'),
  created: Timestamp,
  content: t.String({ description: 'The whole answer as Markdown' }),
  artifacts: t.Array(Artifact, { description: 'Each file; if there are several, an archive of all comes last' }),
  tools_used: t.Array(t.Object({ name: t.String(), status: oneOf(['success', 'error'] as const) })),
  checks: t.Array(CodeCheck),
  usage: t.Object({
    cost_cents: t.Number(),
    prompt_tokens: t.Integer(),
    completion_tokens: t.Integer(),
    total_tokens: t.Integer(),
  }),
})
export type MadeCode = Static<typeof MadeCode>

export const VideoId = defineId('video', 'vid')
export type VideoId = Id<'video'>

/** Size in pixels of a clip, by aspect ratio. */
export const FRAMES = {
  '16:9': [1280, 720],
  '9:16': [720, 1280],
  '1:1': [720, 720],
  '4:3': [960, 720],
  '3:4': [720, 960],
} as const
export type AspectRatio = keyof typeof FRAMES

export const VideoInput = namedObject('VideoOrder', {
  prompt: t.Optional(t.String({ maxLength: 32_000, description: 'Required: what to show' })),
  duration: t.Optional(
    t.String({
      pattern: form('^([1-9]|[1-5][0-9]|60)s$', 'whole seconds from 1s to 60s, such as 5s'),
      default: '5s',
      description: 'Seconds as `<n>s`, 1 to 60',
    }),
  ),
  style: t.Optional(t.String({ maxLength: 200, description: 'Such as `flat`, `retro`, `neon`' })),
  aspect_ratio: t.Optional(oneOf(Object.keys(FRAMES) as AspectRatio[])),
})
export type VideoInput = Static<typeof VideoInput>

/** A job handle, because the work continues after the response. */
export const VideoAccepted = namedObject('VideoAccepted', {
  id: VideoId.schema,
  object: t.Literal('video'),
  job_id: JobId.schema,
  status: t.Literal('queued'),
  created: Timestamp,
  poll_url: t.String(),
})
export type VideoAccepted = Static<typeof VideoAccepted>

export const DocumentId = defineId('document', 'doc')
export type DocumentId = Id<'document'>
/** A document and its file share one id except for the prefix. Deleting the file therefore deletes the document. */
export const artifactOf = (id: DocumentId): ArtifactId => id.replace(/^doc_/, 'art_') as ArtifactId

export const FORMATS = ['pdf', 'docx', 'pptx', 'xlsx', 'csv'] as const
export type Format = (typeof FORMATS)[number]

/** An unknown format has its own error code (docs/api.md 1.5), so any text passes here. */
export const DocumentInput = namedObject('DocumentOrder', {
  prompt: t.Optional(
    t.String({ maxLength: 1_000_000, description: 'The text of the document, or a description of it' }),
  ),
  format: t.Optional(t.String({ description: 'pdf, docx, pptx, xlsx or csv. Default: pdf' })),
})
export type DocumentInput = Static<typeof DocumentInput>

/** A finished document (docs/api.md 6). */
export const MadeDocument = namedObject('Document', {
  id: DocumentId.schema,
  object: t.Literal('document'),
  created: Timestamp,
  format: oneOf(FORMATS),
  title: t.String(),
  download_url: nullable(
    t.String({ description: 'Signed; valid for one hour. Null while the file is built: read the document again' }),
  ),
  size_bytes: nullable(t.Integer()),
  content: t.String({ description: 'The text of the document as Markdown' }),
  usage: t.Object({ cost_cents: t.Number() }),
  warnings: t.Optional(
    t.Array(t.String(), {
      description: 'What the file cannot show, or why there is no file; absent if there is nothing to report',
    }),
  ),
})
export type MadeDocument = Static<typeof MadeDocument>

/** The file name of a document. Replaces slashes in the title, because they would be read as folders. */
export const filenameOf = (title: string, format: Format): string => `${title.replace(/[\\/]+/g, '-')}.${format}`
