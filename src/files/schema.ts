import { defineId, type Id } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { RangeQuery } from '../kernel/range'
import { nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'

export const ArtifactId = defineId('artifact', 'art')
export type ArtifactId = Id<'artifact'>

export const ARTIFACT_TYPES = ['image', 'video', 'audio', 'code', 'document', 'file'] as const
export type ArtifactType = (typeof ARTIFACT_TYPES)[number]

/** A file or block of code that an answer produced (contract 2.3). Code has its text in `content`, others a `url`. */
export const Artifact = t.Object(
  {
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
  },
  { $id: 'Artifact' },
)
export type Artifact = Static<typeof Artifact>

/** What made a file: members of a row, and filters of a list. */
export const MADE_BY = {
  request_id: nullable(t.String({ description: 'Of the call that made it' })),
  job_id: nullable(t.String({ description: 'Of the job that made it' })),
}
export const MADE_BY_QUERY = {
  request_id: t.Optional(t.String({ minLength: 1, maxLength: 64, description: 'Only files that this call made' })),
  job_id: t.Optional(t.String({ minLength: 1, maxLength: 64, description: 'Only files that this job made' })),
}

/** An artifact in a list: without its text, which `GET /artifacts/{id}` has. */
const ListedArtifact = t.Object(
  {
    ...t.Omit(Artifact, ['content']).properties,
    expires_at: nullable(Timestamp),
    ...MADE_BY,
    thumbnail_url: nullable(t.String({ description: 'A link to a picture of it; null where there is none' })),
  },
  { $id: 'ListedArtifact' },
)
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

/** What is known of a file besides its bytes. Absent members are null in the artifact. */
export type About = {
  type: ArtifactType
  /** As its maker wants it; what no file system takes is removed. */
  filename: string
  engine: string
  model: string
  title?: string | null
  content?: string | null
  language?: string | null
  format?: string | null
  /** Pixels. */
  width?: number | null
  height?: number | null
  durationSeconds?: number | null
  prompt?: string | null
  /** Of the call and of the job that made it. */
  requestId?: string | null
  jobId?: string | null
  /** Micro-cents that its making cost. */
  costMicro?: number | null
  /** When it was made, in epoch milliseconds, where that is not the moment in which it is kept. */
  createdAt?: number
}
