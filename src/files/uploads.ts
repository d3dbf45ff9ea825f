import { and, desc, eq, gt, lte, sql } from 'drizzle-orm'
import type { AuditLog } from '../audit'
import { recurring } from '../jobs'
import { type Call, type Caller, keyIdOf, type OwnerScope, ownerOf } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { AppError, atField, defineErrors, invalidInput, messageOf, notFound } from '../kernel/errors'
import type { KeyId } from '../kernel/ids'
import { newRequestId } from '../kernel/ids'
import { listAfter, pagesAfter, pagesBy } from '../kernel/keyset'
import { inBatches } from '../kernel/loop'
import { mapPage, pageFields } from '../kernel/page'
import type { Reader, Store, Tx } from '../kernel/store'
import type { Draft } from './drafts'
import { fileRepository as contents } from './repository'
import { KEPT_AS, type OverseenUploadsQuery, type Purpose, type Upload, UploadId, type UploadQuery } from './schema'
import { type Files, safeFilename, typeByName } from './service'
import { type UploadRow, uploadOwners, uploads } from './table'

export type UploadDeps = {
  store: Store
  clock: Clock
  audit: AuditLog
  files: Pick<Files, 'receive' | 'discard' | 'read'>
}
type OperatorDeps = UploadDeps & {
  /** The owner that an operator's input names. Throws 404. */
  ownerNamed(reader: Reader, word: string): Promise<OwnerScope>
}

/** The uploaded form. The file is at `path` meanwhile. */
type Form = {
  readonly fields: ReadonlyMap<string, string>
  readonly file: { field: string; path: string; filename: string } | null
}

const MIB = 1024 ** 2
export const MAX_UPLOAD_BYTES = 64 * MIB
const MAX_MB = { batch: 64, other: 25 }
const MAX_OWNER_BYTES = 1024 * MIB
const LIFE_S = 30 * 86_400
const MIN_LIFE_S = 3_600
const EXPIRY_MS = 60_000

const uploadErrors = {
  ...defineErrors('payload_too_large', {
    tooLarge: (purpose: string, mb: number) => `A file for "${purpose}" can have at most ${mb} MiB.`,
    tooManyBytes: 'With this file the account would store more than 1 GiB. Delete some files with DELETE /files/{id}.',
  }),
  ...defineErrors('conflict', {
    isRead: 'A batch reads this file. Delete it when the batch has ended, or cancel the batch.',
  }),
}

const after = pagesAfter(uploads, 'created_at')
const newestFirst = pagesBy(uploads, 'created_at')

export const presentUpload = (row: UploadRow): Upload => ({
  id: row.id,
  object: 'file',
  bytes: row.size_bytes,
  created_at: Math.floor(row.created_at / 1_000),
  expires_at: Math.floor(row.expires_at / 1_000),
  filename: row.filename,
  purpose: row.purpose,
  status: 'processed',
})

/**
 * Stores a file from a form, with `usual` as its purpose if the form names none. Throws 400 `validation_error`, 413
 * `payload_too_large`, 503.
 */
export async function createUpload(
  deps: UploadDeps,
  call: Call,
  { file, fields }: Form,
  usual?: Purpose,
): Promise<Upload> {
  if (file?.field !== 'file') throw invalidInput('file', '"file" is missing. Send the file as the form field "file".')
  const word = fields.get('purpose') ?? usual ?? ''
  if (!Object.hasOwn(KEPT_AS, word)) {
    const known = Object.keys(KEPT_AS).join(', ')
    throw invalidInput('purpose', `"purpose" is ${word ? messageOf(word) : 'missing'}. Use one of ${known}.`)
  }
  const purpose = KEPT_AS[word as keyof typeof KEPT_AS]
  const life = lifeIn(fields.get('expires_after[anchor]'), fields.get('expires_after[seconds]'))
  const source = Bun.file(file.path)
  if (!source.size) throw invalidInput('file', '"file" has no bytes. Send a file that holds something.')
  const mb = purpose === 'batch' ? MAX_MB.batch : MAX_MB.other
  if (source.size > mb * MIB) throw uploadErrors.tooLarge(purpose, mb)
  const draft = await deps.files.receive(source.stream(), typeByName(file.filename))
  const about = { filename: file.filename, purpose, keyId: keyIdOf(call.caller), lifeS: life }
  try {
    return await deps.store.write(async (tx) => {
      const row = await addUpload(deps, tx, ownerOf(call.caller), draft, about, MAX_OWNER_BYTES)
      const input = { metadata: { purpose, bytes: row.size_bytes, sha256: row.sha256 } }
      await deps.audit.record(tx, call, { action: 'file.created', entityType: 'file', entityId: row.id, input })
      return presentUpload(row)
    })
  } catch (error) {
    // If the outcome of the commit is unknown, the bytes may be in use. The sweep removes them otherwise.
    if (!(error instanceof AppError && error.code === 'storage_unavailable')) await deps.files.discard(draft)
    throw error
  }
}

function lifeIn(anchor: string | undefined, seconds: string | undefined): number {
  if (anchor === undefined && seconds === undefined) return LIFE_S
  if (anchor !== 'created_at')
    throw invalidInput('expires_after[anchor]', '"expires_after[anchor]" must be "created_at".')
  const life = /^\d{1,9}$/.test(seconds ?? '') ? Number(seconds) : 0
  if (life >= MIN_LIFE_S && life <= LIFE_S) return life
  const path = 'expires_after[seconds]'
  throw invalidInput(path, `"${path}" must be a whole number from ${MIN_LIFE_S} to ${LIFE_S}.`)
}

type About = { filename: string; purpose: Purpose; keyId: KeyId | null; lifeS?: number | null }

/**
 * Gives a draft to an owner, in the transaction of the work that made it. Throws 413 if the owner would exceed
 * `maxBytes`. Output of batches has no limit.
 */
export async function addUpload(
  { clock, files }: UploadDeps,
  tx: Tx,
  owner: OwnerScope,
  draft: Draft,
  { filename, purpose, keyId, lifeS }: About,
  maxBytes: number | null = null,
): Promise<UploadRow> {
  const t = tx.of(uploadOwners)
  const fits = maxBytes === null ? undefined : sql`${t.bytes} + ${draft.size} <= ${maxBytes}`
  const grown = tx
    .insert(t)
    .values({ owner, bytes: draft.size })
    .onConflictDoUpdate({
      target: t.owner,
      set: { bytes: sql`${t.bytes} + ${draft.size}` },
      ...(fits ? { setWhere: fits } : {}),
    })
  if (!(await grown.returning({ owner: t.owner })).length) throw uploadErrors.tooManyBytes()
  const { sha256, size, mimeType } = draft
  const stored = await contents.refer(tx, { sha256, place: draft.place, size_bytes: size })
  if (stored !== draft.place) tx.afterCommit(() => void files.discard(draft).catch(() => undefined))
  const now = clock.now()
  const row: UploadRow = {
    id: UploadId.create(),
    owner,
    key_id: keyId,
    filename: safeFilename(filename, null),
    purpose,
    mime_type: mimeType,
    size_bytes: size,
    sha256,
    readers: 0,
    created_at: now,
    expires_at: now + (lifeS ?? LIFE_S) * 1_000,
  }
  await tx.insert(tx.of(uploads)).values(row)
  return row
}

/** The caller's files, newest first by default. Throws 400 for an unknown `after`. */
export async function listUploads({ store, clock }: UploadDeps, { caller }: Call, { purpose, ...wanted }: UploadQuery) {
  const t = store.read.of(uploads)
  const own = [eq(t.owner, ownerOf(caller)), gt(t.expires_at, clock.now())]
  const only = purpose === undefined ? undefined : eq(t.purpose, purpose as Purpose)
  const { rows, has_more } = await after(store.read, wanted, ...own, only)
  return listAfter(rows.map(presentUpload), has_more)
}

/**
 * A file of an owner, or of anyone (null) for operators. Throws 404, also for an owner's expired file. `path` is the
 * body field that contains the id.
 */
export async function findUpload(
  { clock }: Pick<UploadDeps, 'clock'>,
  reader: Reader,
  owner: OwnerScope | null,
  id: string,
  path?: string,
) {
  const t = reader.of(uploads)
  const own = owner === null ? undefined : and(eq(t.owner, owner), gt(t.expires_at, clock.now()))
  const wanted = and(eq(t.id, id as UploadId), own)
  const row = UploadId.is(id) ? ((await reader.select().from(t).where(wanted).limit(1))[0] as UploadRow) : undefined
  if (!row) throw path === undefined ? notFound('file') : atField(notFound('file'), path)
  return row
}

/** Deletes a file of the caller, or of anyone for operators. Throws 404, and 409 while a batch reads it. */
export function deleteUpload(deps: UploadDeps, call: Call<Caller>, id: string) {
  const owner = call.caller.type === 'operator' ? null : ownerOf(call.caller)
  return deps.store.write(async (tx) => {
    const t = tx.of(uploads)
    const isOwn = and(eq(t.id, id as UploadId), owner === null ? undefined : eq(t.owner, owner))
    const [row] = UploadId.is(id) ? await tx.select().from(t).where(isOwn).limit(1) : []
    if (!row) throw notFound('file')
    if (!(await take(deps, tx, row as UploadRow))) throw uploadErrors.isRead()
    await deps.audit.record(tx, call, {
      ...{ action: 'file.deleted', entityType: 'file', entityId: id },
      ...(owner === null ? { scope: row.owner } : {}),
    })
    return { id: row.id, object: 'file' as const, deleted: true as const }
  })
}

/** Deletes an upload. Returns false if a batch reads it. */
async function take({ files }: UploadDeps, tx: Tx, { id, owner }: Pick<UploadRow, 'id' | 'owner'>): Promise<boolean> {
  const [t, o] = [tx.of(uploads), tx.of(uploadOwners)]
  const gone = tx.delete(t).where(and(eq(t.id, id), eq(t.readers, 0)))
  const [row] = (await gone.returning()) as UploadRow[]
  if (!row) return false
  await tx
    .update(o)
    .set({ bytes: sql`${o.bytes} - ${row.size_bytes}` })
    .where(eq(o.owner, owner))
  const unused = await contents.release(tx, row.sha256)
  // The sweep removes bytes that remain, for example after a crash.
  if (unused !== null) tx.afterCommit(() => void files.discard({ place: unused }).catch(() => undefined))
  return true
}

/** Locks the owner's uploads until the transaction commits. */
export async function lockUploads(tx: Tx, owner: OwnerScope): Promise<void> {
  const t = tx.of(uploadOwners)
  await tx
    .update(t)
    .set({ bytes: sql`${t.bytes}` })
    .where(eq(t.owner, owner))
}

/** Counts a batch that starts (1) or stops (-1) reading a file, which is not removed meanwhile. */
export async function countReader(tx: Tx, id: UploadId, by: 1 | -1): Promise<void> {
  const t = tx.of(uploads)
  await tx
    .update(t)
    .set({ readers: sql`${t.readers} + ${by}` })
    .where(eq(t.id, id))
}

/** Job that removes expired files that no batch reads. */
export const expiredUploads = (deps: UploadDeps) =>
  recurring('uploads.expiry', EXPIRY_MS, (signal) => {
    const removeSome = (limit: number) =>
      deps.store.write(async (tx) => {
        const t = tx.of(uploads)
        const over = and(lte(t.expires_at, deps.clock.now()), eq(t.readers, 0))
        const due = await tx.select({ id: t.id, owner: t.owner }).from(t).where(over).orderBy(t.expires_at).limit(limit)
        for (const row of due) {
          if (!(await take(deps, tx, row))) continue
          const about = { scope: row.owner, requestId: newRequestId() }
          const input = { metadata: { reason: 'expired' } }
          await deps.audit.recordUnattended(tx, about, {
            ...{ action: 'file.deleted', entityType: 'file' as const, entityId: row.id },
            input,
          })
        }
        return due.length
      })
    return inBatches(removeSome, signal)
  })

/** An upload for operators. */
export const outline = (row: UploadRow) => ({
  id: row.id,
  owner: row.owner,
  filename: row.filename,
  purpose: row.purpose,
  mime_type: row.mime_type,
  size_bytes: row.size_bytes,
  readers: row.readers,
  created: iso(row.created_at),
  expires_at: iso(row.expires_at),
})

/** Uploads of all owners or one, for operators, newest first. Throws 404 for an unknown owner. */
export async function overseeUploads(
  { store, ownerNamed }: OperatorDeps,
  { purpose, ...query }: OverseenUploadsQuery,
  named?: string,
) {
  const t = store.read.of(uploads)
  const owner = named === undefined ? undefined : eq(t.owner, await ownerNamed(store.read, named))
  const page = await newestFirst(store.read, query, owner, purpose && eq(t.purpose, purpose))
  const { items } = mapPage(page, (row) => outline(row as UploadRow))
  return { files: items, ...pageFields(page) }
}

/** One sentence per owner whose uploads are counted wrong. Empty if everything is consistent. */
export async function verifyUploads(reader: Reader): Promise<string[]> {
  const [t, o] = [reader.of(uploads), reader.of(uploadOwners)]
  const found = sql<number>`(select coalesce(sum(${t.size_bytes}), 0) from ${t} where ${t.owner} = ${o.owner})`
  const wrong = reader.select({ owner: o.owner, counted: o.bytes, found: found.mapWith(Number) }).from(o)
  const rows = await wrong.where(sql`${found} <> ${o.bytes}`).orderBy(desc(o.bytes)).limit(100)
  return rows.map((row) => `${row.owner} counts ${row.counted} bytes of uploads and has ${row.found}`)
}
