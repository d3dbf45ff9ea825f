import type { ArtifactId } from '../../files/schema'
import { defineId, type Id } from '../../kernel/ids'
import { nullable, oneOf, type Static, Timestamp, t } from '../../kernel/schema'

export const DocumentId = defineId('document', 'doc')
export type DocumentId = Id<'document'>
/** A document and its file share one id except for the prefix. Deleting the file therefore deletes the document. */
export const artifactOf = (id: DocumentId): ArtifactId => id.replace(/^doc_/, 'art_') as ArtifactId

export const FORMATS = ['pdf', 'docx', 'pptx', 'xlsx', 'csv'] as const
export type Format = (typeof FORMATS)[number]

/** An unknown format has its own error code (docs/api.md 1.5), so any text passes here. */
export const DocumentInput = t.Object(
  {
    prompt: t.Optional(
      t.String({ maxLength: 1_000_000, description: 'The text of the document, or a description of it' }),
    ),
    format: t.Optional(t.String({ description: 'pdf, docx, pptx, xlsx or csv. Default: pdf' })),
  },
  { $id: 'DocumentOrder' },
)
export type DocumentInput = Static<typeof DocumentInput>

/** A finished document (docs/api.md 6). */
export const MadeDocument = t.Object(
  {
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
  },
  { $id: 'Document' },
)
export type MadeDocument = Static<typeof MadeDocument>

/** The file name of a document. Replaces slashes in the title, because they would be read as folders. */
export const filenameOf = (title: string, format: Format): string => `${title.replace(/[\\/]+/g, '-')}.${format}`
