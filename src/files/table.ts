import { sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { KeyId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'
import type { ArtifactId, ArtifactType, Purpose, UploadId } from './schema'

/** Generated files, each of one owner (docs/api.md 2.3). */
export const artifacts = defineTable(
  'artifacts',
  (k) => ({
    id: k.text('id').$type<ArtifactId>().primaryKey(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    type: k.text('type').$type<ArtifactType>().notNull(),
    title: k.text('title'),
    filename: k.text('filename').notNull(),
    mime_type: k.text('mime_type').notNull(),
    size_bytes: k.int('size_bytes').notNull(),
    sha256: k.text('sha256').notNull(),
    content: k.text('content'),
    language: k.text('language'),
    format: k.text('format'),
    width: k.int('width'),
    height: k.int('height'),
    duration_seconds: k.real('duration_seconds'),
    engine: k.text('engine').notNull(),
    model: k.text('model').notNull(),
    prompt: k.text('prompt'),
    /** Cost in micro-cents. Of files made together, the first one has it. Null if unknown. */
    cost_micro: k.int('cost_micro'),
    /** The call and the job that made it. Null if there is none, and for files older than these columns. */
    request_id: k.text('request_id'),
    job_id: k.text('job_id'),
    created_at: k.ms('created_at').notNull(),
    /** Null for a file that does not expire. */
    expires_at: k.ms('expires_at'),
  }),
  (t, k) => [
    k.index('artifacts_by_owner').on(t.owner, t.created_at, t.id),
    k.index('artifacts_expiring').on(t.expires_at).where(sql`${t.expires_at} is not null`),
    k
      .index('artifacts_by_request')
      .on(t.owner, t.request_id, t.created_at, t.id)
      .where(sql`${t.request_id} is not null`),
    k.index('artifacts_by_job').on(t.owner, t.job_id, t.created_at, t.id).where(sql`${t.job_id} is not null`),
    k.index('artifacts_by_content').on(t.sha256),
  ],
)

/** Stored bytes, shared by all artifacts with the same content. */
export const fileContents = defineTable(
  'file_contents',
  (k) => ({
    sha256: k.text('sha256').primaryKey(),
    /** A new name whenever the same bytes are stored again, so that removing old bytes cannot delete new ones. */
    place: k.text('place').notNull(),
    size_bytes: k.int('size_bytes').notNull(),
    /** Number of artifacts and uploads that use the bytes. */
    refs: k.int('refs').notNull(),
  }),
  (t, k) => [k.uniqueIndex('file_contents_place').on(t.place), k.check('file_contents_refs', sql`${t.refs} >= 0`)],
)

/** Totals of the artifacts of an owner. */
export const fileOwners = defineTable('file_owners', (k) => ({
  owner: k.text('owner').$type<OwnerScope>().primaryKey(),
  files: k.int('files').notNull(),
  bytes: k.int('bytes').notNull(),
}))

/** Files that clients uploaded for later use, and the files that batches wrote for them (docs/api.md 32.6). */
export const uploads = defineTable(
  'uploads',
  (k) => ({
    id: k.text('id').$type<UploadId>().primaryKey(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    key_id: k.text('key_id').$type<KeyId>(),
    filename: k.text('filename').notNull(),
    purpose: k.text('purpose').$type<Purpose>().notNull(),
    mime_type: k.text('mime_type').notNull(),
    size_bytes: k.int('size_bytes').notNull(),
    sha256: k.text('sha256').notNull(),
    /** Number of batches that read the file now. It is not removed meanwhile. */
    readers: k.int('readers').notNull(),
    created_at: k.ms('created_at').notNull(),
    expires_at: k.ms('expires_at').notNull(),
  }),
  (t, k) => [
    k.index('uploads_by_owner').on(t.owner, t.created_at, t.id),
    k.index('uploads_by_age').on(t.created_at, t.id),
    k.index('uploads_expiring').on(t.expires_at),
    k.index('uploads_by_content').on(t.sha256),
  ],
)
export type UploadRow = Row<typeof uploads>

/** Total of the uploads of an owner. */
export const uploadOwners = defineTable('upload_owners', (k) => ({
  owner: k.text('owner').$type<OwnerScope>().primaryKey(),
  bytes: k.int('bytes').notNull(),
}))

export type ArtifactRow = Row<typeof artifacts>
