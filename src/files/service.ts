import type { AuditLog } from '../audit'
import { type Call, type OwnerScope, ownerOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { notFound } from '../kernel/errors'
import { newRequestId } from '../kernel/ids'
import { mapPage, pageFields } from '../kernel/page'
import { readRange } from '../kernel/range'
import type { Reader, Store, Tx } from '../kernel/store'
import { createDrafts, type Draft, type Source } from './drafts'
import { bytesAway, noSuchLink, notHere, tooManyBytes, tooManyFiles } from './errors'
import { safeFilename } from './filename'
import { createLinks, LINK_MS } from './links'
import type { Place, Span } from './places/place'
import { presentArtifact, presentListed } from './present'
import { type Listing, fileRepository as rows } from './repository'
import { type About, type Artifact, ArtifactId, type ArtifactPage, type ArtifactQuery } from './schema'
import type { ArtifactRow } from './table'

type FileRules = { ownerMb: number; ownerCount: number; retentionDays: number }

export type FilesDeps = {
  store: Store
  clock: Clock
  audit: AuditLog
  place: Place
  /** Folder of files that are being written; on the file system of the folder of files. */
  incoming: string
  masterKey: Uint8Array
  origin(): string
  rules: FileRules
  onError(name: string, error: unknown): void
}

export type Files = ReturnType<typeof createFiles>

const MB = 1024 ** 2
const DAY_MS = 86_400_000
const PAGE = 500

/**
 * Files that svc makes: bytes once for each content, artifacts of an owner that have them, links that read them. Bytes
 * are kept before the transaction that gives them to an owner, so that no file is promised that is not there.
 */
export function createFiles({ store, clock, audit, place, incoming, masterKey, origin, rules, onError }: FilesDeps) {
  const most = { files: rules.ownerCount, bytes: rules.ownerMb * MB }
  const links = createLinks({ masterKey, origin })
  const receive = createDrafts({ place, incoming, mostBytes: most.bytes })
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
    contents,
    byLink,
    verify,
    take,
  }

  /** Removes the bytes of a draft that no artifact was made of. */
  function discard(draft: Draft): Promise<void> {
    return place.remove(draft.place)
  }

  /**
   * Gives the bytes of a draft to an owner, in the transaction of what made them. Throws 409 `conflict` when the owner
   * keeps as much as it may.
   */
  async function add(tx: Tx, owner: OwnerScope, draft: Draft, about: About, id = ArtifactId.create()) {
    const { sha256, size, mimeType, extension } = draft
    if (!(await rows.grow(tx, owner, size, most))) throw await fullOf(tx, owner)
    const kept = await rows.refer(tx, { sha256, place: draft.place, size_bytes: size })
    if (kept !== draft.place) tx.afterCommit(() => removeSoon(draft.place))
    const now = about.createdAt ?? clock.now()
    const { type, engine, model, filename, durationSeconds = null, title = null, content = null } = about
    const { language = null, format = null, width = null, height = null, prompt = null, costMicro = null } = about
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
      created_at: now,
      expires_at: rules.retentionDays === 0 ? null : now + rules.retentionDays * DAY_MS,
    }
    await rows.insert(tx, row)
    return present(row)
  }

  async function fullOf(reader: Reader, owner: OwnerScope) {
    return (await rows.kept(reader, owner)).files >= most.files ? tooManyFiles(most.files) : tooManyBytes(rules.ownerMb)
  }

  /** Keeps bytes as a file of an owner, where nothing else has to commit with it. */
  async function save(owner: OwnerScope, source: Source, about: About & { mimeType: string }): Promise<Artifact> {
    const draft = await receive(source, about.mimeType)
    try {
      return await store.write((tx) => add(tx, owner, draft, about))
    } catch (error) {
      await discard(draft)
      throw error
    }
  }

  /** With a link that works for an hour. */
  function present(row: ArtifactRow): Artifact {
    const until = clock.now() + LINK_MS
    return presentArtifact(row, { url: links.to(row.id, until), until })
  }

  /** An owner's artifact, freshly signed; null when it is not there. */
  async function find(reader: Reader, owner: OwnerScope, id: ArtifactId): Promise<Artifact | null> {
    const row = await findRow(reader, owner, id)
    return row ? present(row) : null
  }

  /** Rows of an owner's artifacts, newest first, for rooms that read them. */
  function ofOwner(reader: Reader, owner: OwnerScope, wanted: Listing): Promise<ArtifactRow[]> {
    return rows.ofOwner(reader, owner, { ...wanted, now: clock.now() })
  }

  /** An owner's artifact as it is kept, for rooms that read its bytes. */
  function findRow(reader: Reader, owner: OwnerScope, id: ArtifactId): Promise<ArtifactRow | undefined> {
    return rows.find(reader, id, { now: clock.now(), owner })
  }

  async function get({ caller }: Call, id: string): Promise<Artifact> {
    const artifact = ArtifactId.is(id) ? await find(store.read, ownerOf(caller), id) : null
    if (!artifact) throw notFound('artifact')
    return artifact
  }

  /** The caller's files that have not expired, newest first. Throws 400 for a range or cursor that is none. */
  async function list({ caller }: Call, query: ArtifactQuery): Promise<ArtifactPage> {
    const now = clock.now()
    const wanted = { ...query, ...readRange(query), now }
    const until = now + LINK_MS
    const page = mapPage(await rows.list(store.read, ownerOf(caller), wanted), (row) =>
      presentListed(row, { url: links.to(row.id, until), until }),
    )
    return { artifacts: page.items, ...pageFields(page) }
  }

  async function remove(call: Call, id: string): Promise<void> {
    if (!ArtifactId.is(id)) throw notFound('artifact')
    await store.write(async (tx) => {
      if (!(await take(tx, id, ownerOf(call.caller)))) throw notFound('artifact')
      await audit.record(tx, call, { action: 'artifact.deleted', entityType: 'artifact', entityId: id })
    })
  }

  /** Removes up to `limit` artifacts whose time has passed. Returns how many. */
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

  /** What is not removed now, as when the process ends, the sweep removes. */
  function removeSoon(name: string): void {
    place.remove(name).catch((error) => onError('files', error))
  }

  /** The file behind a signed link. Throws 404 for a link that is not whole, not valid any more, or of a deleted file. */
  async function byLink(id: string, link: { expires: string; signature: string }): Promise<ArtifactRow> {
    const now = clock.now()
    const row = links.holds(id, link, now) && ArtifactId.is(id) ? await rows.find(store.read, id, { now }) : undefined
    if (!row) throw noSuchLink()
    return row
  }

  /** Bytes of an artifact. Throws 503 `storage_unavailable` when they cannot be read. */
  async function read(
    { id, sha256, size_bytes }: ArtifactRow,
    span?: Span,
  ): Promise<Blob | ReadableStream<Uint8Array>> {
    const name = await rows.placeOf(store.read, sha256)
    const found = name === null ? null : await place.open(name, span ?? { from: 0, to: size_bytes })
    if (found === null) {
      onError('files', notHere(id))
      throw bytesAway()
    }
    return found
  }

  /** What is kept, once for each content: for a copy of all of it. `open` gives null for bytes that were removed since. */
  async function* contents() {
    for (let after = ''; ; ) {
      const some = await rows.contents(store.read, after, PAGE)
      for (const one of some) yield { ...one, open: () => place.open(one.place, { from: 0, to: one.size }) }
      if (some.length < PAGE) return
      after = some.at(-1)!.sha256
    }
  }

  /** Sentences about contents and owners that are counted wrong, and artifacts without bytes; empty when all is sound. */
  async function verify(reader: Reader): Promise<string[]> {
    const { contents, owners, lost } = await rows.miscounted(reader)
    return [
      ...contents.map(({ sha256, counted, found }) => `content ${sha256} counts ${counted} artifacts and has ${found}`),
      ...owners.map(({ owner, counted, found }) => `${owner} counts ${counted} bytes of files and has ${found}`),
      ...lost.map(({ id }) => `artifact ${id} has no content`),
    ]
  }
}
