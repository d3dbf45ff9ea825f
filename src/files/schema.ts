import { defineId, type Id } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { RangeQuery } from '../kernel/range'
import {
  deletionMembers,
  listOf,
  namedObject,
  nullable,
  oneOf,
  pageOf,
  type Static,
  Timestamp,
  t,
} from '../kernel/schema'

export const ArtifactId = defineId('artifact', 'art')
export type ArtifactId = Id<'artifact'>

const ARTIFACT_TYPES = ['image', 'video', 'audio', 'code', 'document', 'file'] as const
export type ArtifactType = (typeof ARTIFACT_TYPES)[number]

/** A file or code block from an answer (docs/api.md 2.3). Code has its text in `content`, other files have a `url`. */
export const Artifact = namedObject('Artifact', {
  id: ArtifactId.schema,
  type: oneOf(ARTIFACT_TYPES),
  title: nullable(t.String()),
  filename: t.String(),
  mime_type: t.String(),
  url: nullable(t.String()),
  url_expires_at: nullable(Timestamp),
  size_bytes: nullable(t.Integer()),
  content: nullable(t.String()),
  language: nullable(t.String()),
  format: nullable(t.String()),
  width: nullable(t.Integer()),
  height: nullable(t.Integer()),
  duration_seconds: nullable(t.Number()),
  engine: t.String(),
  model: t.String(),
  prompt: nullable(t.String()),
  created: Timestamp,
})
export type Artifact = Static<typeof Artifact>

/** The call or job that made a file, as row members and as list filters. */
const MADE_BY = {
  request_id: nullable(t.String({ description: 'Of the call that made it' })),
  job_id: nullable(t.String({ description: 'Of the job that made it' })),
}
const MADE_BY_QUERY = {
  request_id: t.Optional(t.String({ minLength: 1, maxLength: 64, description: 'Only files that this call made' })),
  job_id: t.Optional(t.String({ minLength: 1, maxLength: 64, description: 'Only files that this job made' })),
}

/** An artifact in a list, without its text, which `GET /artifacts/{id}` returns. */
const ListedArtifact = namedObject('ListedArtifact', {
  ...t.Omit(Artifact, ['content']).properties,
  expires_at: nullable(Timestamp),
  ...MADE_BY,
  thumbnail_url: nullable(
    t.String({ description: 'A link to a picture of it of at most 40 KB; null where there is none' }),
  ),
})
export const ArtifactPage = pageOf('artifacts', ListedArtifact)
export type ArtifactPage = Static<typeof ArtifactPage>

export const ArtifactQuery = t.Object({
  kind: t.Optional(oneOf(ARTIFACT_TYPES)),
  mime: t.Optional(t.String({ minLength: 1, maxLength: 128, description: 'A type, or a family such as `image/*`' })),
  q: t.Optional(t.String({ minLength: 1, maxLength: 200, description: 'Text in the title or the file name' })),
  ...MADE_BY_QUERY,
  ...RangeQuery.properties,
  ...PageQuery.properties,
})
export type ArtifactQuery = Static<typeof ArtifactQuery>

export const ArtifactDeleted = t.Object({ deleted: t.Literal(true) })

/** Metadata of a file. Absent members are null in the artifact. */
export type About = {
  type: ArtifactType
  /** The wanted name. Characters that file systems reject are removed. */
  filename: string
  engine: string
  model: string
  title?: string | null
  content?: string | null
  language?: string | null
  format?: string | null
  /** In pixels. */
  width?: number | null
  height?: number | null
  durationSeconds?: number | null
  prompt?: string | null
  /** The call and the job that made it. */
  requestId?: string | null
  jobId?: string | null
  /** Cost of making it, in micro-cents. */
  costMicro?: number | null
  /** Creation time in epoch milliseconds, if it differs from the time of storing. */
  createdAt?: number
}

/** An artifact for operators, without link, title and prompt. */
export const OverseenArtifact = namedObject('OverseenArtifact', {
  id: ArtifactId.schema,
  owner: t.String({ description: 'org:ID or user:ID' }),
  type: oneOf(ARTIFACT_TYPES),
  filename: t.String(),
  mime_type: t.String(),
  size_bytes: t.Integer(),
  model: t.String(),
  created: Timestamp,
  expires_at: nullable(Timestamp),
  ...MADE_BY,
})
export type OverseenArtifact = Static<typeof OverseenArtifact>

export const OverseenArtifacts = pageOf('artifacts', OverseenArtifact)
export type OverseenArtifacts = Static<typeof OverseenArtifacts>

export const OverseenArtifactsQuery = t.Object({
  ...PageQuery.properties,
  type: t.Optional(oneOf(ARTIFACT_TYPES)),
  ...MADE_BY_QUERY,
})
export type OverseenArtifactsQuery = Static<typeof OverseenArtifactsQuery>

const stored = { files: t.Integer(), bytes: t.Integer() }

export const ArtifactSizes = namedObject('ArtifactSizes', {
  object: t.Literal('artifact_sizes'),
  by_owner: t.Array(t.Object({ owner: t.String(), ...stored }), { description: 'The hundred with the most bytes' }),
  by_age: t.Array(t.Object({ up_to_days: nullable(t.Integer({ description: 'null: all older files' })), ...stored })),
})
export type ArtifactSizes = Static<typeof ArtifactSizes>

export const ArtifactPrune = t.Object({
  ...deletionMembers('Only files created before this time'),
  owner: t.Optional(t.String({ description: 'Only of this organization or user' })),
})
export type ArtifactPrune = Static<typeof ArtifactPrune>

export const ArtifactsPruned = t.Object({ object: t.Literal('artifact_prune'), ...stored })
export type ArtifactsPruned = Static<typeof ArtifactsPruned>

export const UploadId = defineId('file', 'file-')
export type UploadId = Id<'file'>

/** Upload purposes that a client may send, and the stored purpose (docs/api.md 32.6). */
export const KEPT_AS = {
  batch: 'batch',
  user_data: 'user_data',
  vision: 'vision',
  assistants: 'user_data',
  evals: 'user_data',
  'fine-tune': 'user_data',
} as const
const PURPOSES = ['batch', 'user_data', 'vision', 'batch_output'] as const
export type Purpose = (typeof PURPOSES)[number]

/** An uploaded file, or one that a batch wrote (docs/api.md 32.6). Times are whole seconds. */
export const Upload = namedObject('File', {
  id: UploadId.schema,
  object: t.Literal('file'),
  bytes: t.Integer(),
  created_at: t.Integer({ description: 'Unix time in seconds' }),
  expires_at: nullable(t.Integer({ description: 'Unix time in seconds' })),
  filename: t.String(),
  purpose: oneOf(PURPOSES),
  status: t.Literal('processed'),
})
export type Upload = Static<typeof Upload>

export const UploadList = listOf(Upload)
export type UploadList = Static<typeof UploadList>

export const UploadQuery = t.Object({
  purpose: t.Optional(t.String({ maxLength: 64, description: 'Only files with this purpose' })),
  limit: t.Integer({ minimum: 1, maximum: 1_000, default: 100 }),
  order: t.Optional(oneOf(['asc', 'desc'], { description: 'By creation; default desc' })),
  after: t.Optional(t.String({ maxLength: 64, description: 'The id of the last file that you have' })),
})
export type UploadQuery = Static<typeof UploadQuery>

export const UploadDeleted = t.Object({
  id: UploadId.schema,
  object: t.Literal('file'),
  deleted: t.Literal(true),
})

/** An upload for operators. */
export const OverseenUpload = namedObject('OverseenFile', {
  id: UploadId.schema,
  owner: t.String({ description: 'org:ID or user:ID' }),
  filename: t.String(),
  purpose: oneOf(PURPOSES),
  mime_type: t.String(),
  size_bytes: t.Integer(),
  readers: t.Integer({ description: 'Batches that read it now' }),
  created: Timestamp,
  expires_at: Timestamp,
})
export const OverseenUploads = pageOf('files', OverseenUpload)
export const OverseenUploadsQuery = t.Object({
  ...PageQuery.properties,
  purpose: t.Optional(oneOf(PURPOSES)),
})
export type OverseenUploadsQuery = Static<typeof OverseenUploadsQuery>
