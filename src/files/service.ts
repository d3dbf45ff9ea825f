import sanitize from 'sanitize-filename'
import type { AuditLog } from '../audit'
import { type Call, type OwnerScope, ownerOf } from '../kernel/caller'
import { type Clock, iso, isoOrNull } from '../kernel/clock'
import { hmacHex, timingSafeEqual } from '../kernel/crypto'
import { notFound } from '../kernel/errors'
import { newRequestId } from '../kernel/ids'
import { mapPage, pageFields } from '../kernel/page'
import { reencodeImage } from '../kernel/pictures'
import { readRange } from '../kernel/range'
import { createSemaphore } from '../kernel/semaphore'
import type { Reader, Store, Tx } from '../kernel/store'
import { shorten } from '../kernel/text'
import { createDrafts, type Draft, type Source } from './drafts'
import { fileErrors, notHere } from './errors'
import type { Place, Span } from './places'
import { type Listing, fileRepository as rows } from './repository'
import { type About, type Artifact, ArtifactId, type ArtifactPage, type ArtifactQuery } from './schema'
import type { ArtifactRow } from './table'

/** An artifact for its owner, with a link that works until `until`. */
const presentArtifact = (row: ArtifactRow, { url, until }: { url: string; until: number }): Artifact => ({
  id: row.id,
  type: row.type,
  title: row.title,
  filename: row.filename,
  mime_type: row.mime_type,
  url,
  url_expires_at: iso(until),
  size_bytes: row.size_bytes,
  content: row.content,
  language: row.language,
  format: row.format,
  width: row.width,
  height: row.height,
  duration_seconds: row.duration_seconds,
  engine: row.engine,
  model: row.model,
  prompt: row.prompt,
  created: iso(row.created_at),
})

/** Lifetime of a link in milliseconds (docs/api.md 2.3). */
const LINK_MS = 3_600_000

/** Picture types that every browser shows. */
const PICTURE = /^image\/(png|jpeg|gif|webp|avif)$/

const MAX_CHARS = 120
/** File systems accept names of up to 255 bytes, including the extension. */
const MAX_STEM_BYTES = 230

const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)\s*(?:\.|$)/i

export type FilesDeps = {
  store: Store
  clock: Clock
  audit: AuditLog
  place: Place
  /** Folder for unfinished files, on the same file system as the folder of files. */
  incoming: string
  masterKey: Uint8Array
  origin(): string
  rules: { ownerMb: number; ownerCount: number; retentionDays: number }
  onError(name: string, error: unknown): void
}

export type Files = ReturnType<typeof createFiles>

const MB = 1024 ** 2
const DAY_MS = 86_400_000
const PAGE = 500
const THUMBNAIL_SIDE = 400
const THUMBNAIL_BYTES = 40_000

/**
 * Generated files: contents stored once, artifacts of owners that refer to them, and links. Bytes are stored before the
 * transaction that gives them to an owner, so that no artifact lacks its file.
 */
export function createFiles({ store, clock, audit, place, incoming, masterKey, origin, rules, onError }: FilesDeps) {
  const max = { files: rules.ownerCount, bytes: rules.ownerMb * MB }
  const links = createLinks({ masterKey, origin })
  // Limited, because rendering a large picture needs much memory.
  const drawing = createSemaphore(2)
  const receive = createDrafts({ place, incoming, maxBytes: max.bytes })
  return {
    receive,
    discard,
    add,
    save,
    find,
    findRow,
    present,
    get,
    list,
    ofOwner,
    remove,
    removeExpired,
    dueAt: rows.soonest,
    read,
    thumbnail,
    contents,
    byLink,
    verify,
    take,
  }

  /** Removes the bytes of a draft that no artifact uses. */
  function discard(draft: Pick<Draft, 'place'>): Promise<void> {
    return place.remove(draft.place)
  }

  /**
   * Gives a draft to an owner, in the transaction of the work that made it. Throws 409 `conflict` when the owner's
   * limits are reached.
   */
  async function add(tx: Tx, owner: OwnerScope, draft: Draft, about: About, id = ArtifactId.create()) {
    const { sha256, size, mimeType, extension } = draft
    if (!(await rows.grow(tx, owner, size, max)))
      throw (await rows.totals(tx, owner)).files >= max.files
        ? fileErrors.tooManyFiles(max.files)
        : fileErrors.tooManyBytes(rules.ownerMb)
    const stored = await rows.refer(tx, { sha256, place: draft.place, size_bytes: size })
    if (stored !== draft.place) tx.afterCommit(() => removeSoon(draft.place))
    const now = about.createdAt ?? clock.now()
    const { type, engine, model, filename, durationSeconds = null, title = null, content = null } = about
    const { language = null, format = null, width = null, height = null, prompt = null, costMicro = null } = about
    const { requestId = null, jobId = null } = about
    const row: ArtifactRow = {
      id,
      owner,
      type,
      title,
      filename: safeFilename(filename, extension),
      mime_type: mimeType,
      size_bytes: size,
      sha256,
      content,
      language,
      format,
      width,
      height,
      duration_seconds: durationSeconds,
      engine,
      model,
      prompt,
      cost_micro: costMicro,
      request_id: requestId,
      job_id: jobId,
      created_at: now,
      expires_at: rules.retentionDays === 0 ? null : now + rules.retentionDays * DAY_MS,
    }
    await rows.insert(tx, row)
    return present(row)
  }

  /** Stores bytes as a file of an owner, if nothing else has to commit with it. */
  async function save(owner: OwnerScope, source: Source, about: About & { mimeType: string }): Promise<Artifact> {
    const draft = await receive(source, about.mimeType)
    try {
      return await store.write((tx) => add(tx, owner, draft, about))
    } catch (error) {
      await discard(draft)
      throw error
    }
  }

  /** An artifact with a link that works for an hour. */
  function present(row: ArtifactRow): Artifact {
    const until = clock.now() + LINK_MS
    return presentArtifact(row, { url: links.to(row.id, until), until })
  }

  /** An owner's artifact with a new link, or null if it does not exist. */
  async function find(reader: Reader, owner: OwnerScope, id: ArtifactId): Promise<Artifact | null> {
    const row = await findRow(reader, owner, id)
    return row ? present(row) : null
  }

  /** Rows of an owner's artifacts, newest first, for other modules. */
  function ofOwner(reader: Reader, owner: OwnerScope, wanted: Listing): Promise<ArtifactRow[]> {
    return rows.ofOwner(reader, owner, { ...wanted, now: clock.now() })
  }

  /** The row of an owner's artifact, for modules that read its bytes. */
  function findRow(reader: Reader, owner: OwnerScope, id: ArtifactId): Promise<ArtifactRow | undefined> {
    return rows.find(reader, id, { now: clock.now(), owner })
  }

  async function get({ caller }: Call, id: string): Promise<Artifact> {
    const artifact = ArtifactId.is(id) ? await find(store.read, ownerOf(caller), id) : null
    if (!artifact) throw notFound('artifact')
    return artifact
  }

  /** The caller's unexpired files, newest first. Throws 400 for an invalid range or cursor. */
  async function list({ caller }: Call, query: ArtifactQuery): Promise<ArtifactPage> {
    const now = clock.now()
    const wanted = { ...query, ...readRange(query), now }
    const until = now + LINK_MS
    const page = mapPage(await rows.list(store.read, ownerOf(caller), wanted), (row) => {
      const { content: _, ...rest } = presentArtifact(row, { url: links.to(row.id, until), until })
      return {
        ...rest,
        expires_at: isoOrNull(row.expires_at),
        request_id: row.request_id,
        job_id: row.job_id,
        thumbnail_url: PICTURE.test(row.mime_type) ? `${rest.url}&thumbnail=1` : null,
      }
    })
    return { artifacts: page.items, ...pageFields(page) }
  }

  async function remove(call: Call, id: string): Promise<{ deleted: true }> {
    return store.write(async (tx) => {
      if (!ArtifactId.is(id) || !(await take(tx, id, ownerOf(call.caller)))) throw notFound('artifact')
      await audit.record(tx, call, { action: 'artifact.deleted', entityType: 'artifact', entityId: id })
      return { deleted: true }
    })
  }

  /** Removes up to `limit` expired artifacts. Returns the number removed. */
  function removeExpired(limit: number): Promise<number> {
    return store.write(async (tx) => {
      const over = await rows.expired(tx, clock.now(), limit)
      for (const { id, owner } of over) {
        if (!(await take(tx, id, owner))) continue
        const about = { scope: owner, requestId: newRequestId() }
        const input = { metadata: { reason: 'expired' } }
        await audit.recordUnattended(tx, about, {
          action: 'artifact.deleted',
          entityType: 'artifact',
          entityId: id,
          input,
        })
      }
      return over.length
    })
  }

  async function take(tx: Tx, id: ArtifactId, owner: OwnerScope): Promise<boolean> {
    const row = await rows.remove(tx, id, owner)
    if (!row) return false
    await rows.shrink(tx, owner, row.size_bytes)
    const unused = await rows.release(tx, row.sha256)
    if (unused !== null) tx.afterCommit(() => removeSoon(unused))
    return true
  }

  /** Removes bytes in the background. The sweep removes those that remain, for example after a crash. */
  function removeSoon(name: string): void {
    place.remove(name).catch((error) => onError('files', error))
  }

  /** The file of a signed link. Throws 404 for an invalid or expired link, and for a deleted file. */
  async function byLink(id: string, link: { expires: string; signature: string }): Promise<ArtifactRow> {
    const now = clock.now()
    const row = links.holds(id, link, now) && ArtifactId.is(id) ? await rows.find(store.read, id, { now }) : undefined
    if (!row) throw fileErrors.noSuchLink()
    return row
  }

  /** Bytes of an artifact or an upload. Throws 503 `storage_unavailable` when they cannot be read. */
  async function read(
    { id, sha256, size_bytes }: { id: string; sha256: string; size_bytes: number },
    span?: Span,
  ): Promise<Blob | ReadableStream<Uint8Array>> {
    const name = await rows.placeOf(store.read, sha256)
    const found = name === null ? null : await place.open(name, span ?? { from: 0, to: size_bytes })
    if (found === null) {
      onError('files', notHere(id))
      throw fileErrors.bytesAway()
    }
    return found
  }

  /** A thumbnail of at most 40 KB. Null if the file is not a picture or cannot be rendered. Throws as `read`. */
  async function thumbnail(row: ArtifactRow): Promise<Uint8Array<ArrayBuffer> | null> {
    if (!PICTURE.test(row.mime_type)) return null
    return drawing.run(row.owner, async () => {
      const bytes = new Uint8Array(await new Response(await read(row)).arrayBuffer())
      for (const quality of [70, 30, 5]) {
        const small = await reencodeImage(bytes, { as: () => 'webp', maxSide: THUMBNAIL_SIDE, quality })
        if (small === null || small.bytes.length <= THUMBNAIL_BYTES) return small?.bytes ?? null
      }
      return null
    })
  }

  /** All contents, each once, for a full copy. `open` returns null for bytes that were removed since. */
  async function* contents() {
    for (let after = ''; ; ) {
      const some = await rows.contents(store.read, after, PAGE)
      for (const one of some) yield { ...one, open: () => place.open(one.place, { from: 0, to: one.size }) }
      if (some.length < PAGE) return
      after = some.at(-1)!.sha256
    }
  }

  /** One sentence per miscounted content or owner, and per artifact without bytes. Empty if all is consistent. */
  async function verify(reader: Reader): Promise<string[]> {
    const { contents, owners, lost } = await rows.miscounted(reader)
    return [
      ...contents.map(({ sha256, counted, found }) => `content ${sha256} counts ${counted} artifacts and has ${found}`),
      ...owners.map(({ owner, counted, found }) => `${owner} counts ${counted} bytes of files and has ${found}`),
      ...lost.map(({ id }) => `artifact ${id} has no content`),
    ]
  }
}

/**
 * A file name that every file system accepts: no folders, control or direction marks, or reserved words. Uses the
 * detected extension if there is one. For display only, never for storage.
 */
export function safeFilename(wanted: string, extension: string | null): string {
  const last = wanted.split(/[\\/]/).at(-1) ?? ''
  // Keeps join controls after letters and emoji, because some scripts and emoji need them.
  const bare = last
    .replace(/[\p{Cc}\p{Co}\p{Cs}]|(?!\p{Join_Control})\p{Cf}|(?<![\p{L}\p{M}\p{So}\p{Sk}])\p{Join_Control}/gu, '')
    .replace(/^[.\s]+/, '')
  // Prefixed, because `sanitize` would replace a reserved word together with its extension.
  const clean = sanitize(RESERVED.test(bare) ? `_${bare}` : bare, { replacement: '_' })
  const dot = clean.lastIndexOf('.')
  const stem = dot > 0 ? clean.slice(0, dot) : clean
  const ending = extension ?? (dot > 0 ? clean.slice(dot + 1, dot + 13) : 'txt')
  let shown = shorten(stem, MAX_CHARS)
  for (let max = MAX_CHARS; Buffer.byteLength(shown) > MAX_STEM_BYTES; max -= 5) shown = shorten(stem, max)
  return `${shown || 'file'}.${ending}`
}

/** The media type for the extension of a name, or `application/octet-stream`. Opens no file. */
export const typeByName = (name: string): string =>
  Bun.file(`/dev/null/file.${/\.([a-z0-9]{1,12})$/i.exec(name)?.[1] ?? 'bin'}`).type.split(';')[0]!

/** Signed links to one file that expire and need no credential. The signature covers the id and the expiry. */
function createLinks({ masterKey, origin }: { masterKey: Uint8Array; origin(): string }) {
  const signatureOf = (id: string, expires: string) => hmacHex(masterKey, `file-link ${id} ${expires}`)
  return {
    /** The link to a file until `until`, in epoch milliseconds. */
    to(id: ArtifactId, until: number): string {
      const expires = String(Math.floor(until / 1_000))
      return `${origin()}/files/${id}?expires=${expires}&signature=${signatureOf(id, expires)}`
    },

    /** Whether the link was signed here for this file, and has not expired. */
    holds: (id: string, { expires, signature }: { expires: string; signature: string }, now: number): boolean =>
      timingSafeEqual(signature, signatureOf(id, expires)) && Number(expires) * 1_000 > now,
  }
}
