import { and, desc, eq, gt, gte, inArray, isNotNull, isNull, like, lt, lte, ne, or, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { contains, type PageRequest, pagesBy } from '../kernel/keyset'
import type { Page } from '../kernel/page'
import type { Range } from '../kernel/range'
import { rowsOf } from '../kernel/rows'
import type { Reader, Tx } from '../kernel/store'
import type { ArtifactId, ArtifactQuery } from './schema'
import { type ArtifactRow, artifacts, fileContents, fileOwners, uploads } from './table'

const artifactRows = rowsOf(artifacts)

type Content = { sha256: string; place: string; size_bytes: number }
export type Listing = { ids?: readonly ArtifactId[]; limit: number }
type Filters = PageRequest & Partial<Range> & Pick<ArtifactQuery, 'kind' | 'mime' | 'q' | 'request_id' | 'job_id'>
type Bounds = { files: number; bytes: number }

const newestFirst = pagesBy(artifacts, 'created_at')

/** Artifacts that have not expired. Without `now`, also expired ones, for operators. */
const living = (t: typeof artifacts.sqlite, now?: number) =>
  now === undefined ? undefined : or(isNull(t.expires_at), gt(t.expires_at, now))

/** Rows of artifacts and of their contents. Reads for callers filter by owner. */
export const fileRepository = {
  /** Counts one more file of an owner. Returns false if a limit would be exceeded. */
  async grow(tx: Tx, owner: OwnerScope, bytes: number, max: Bounds): Promise<boolean> {
    const t = tx.of(fileOwners)
    const fits = sql`${t.files} + 1 <= ${max.files} and ${t.bytes} + ${bytes} <= ${max.bytes}`
    if (bytes > max.bytes || max.files < 1) return false
    const grown = tx
      .insert(t)
      .values({ owner, files: 1, bytes })
      .onConflictDoUpdate({
        target: t.owner,
        set: { files: sql`${t.files} + 1`, bytes: sql`${t.bytes} + ${bytes}` },
        setWhere: fits,
      })
    return (await grown.returning({ owner: t.owner })).length === 1
  },

  async shrink(tx: Tx, owner: OwnerScope, bytes: number): Promise<void> {
    const t = tx.of(fileOwners)
    const less = { files: sql`${t.files} - 1`, bytes: sql`${t.bytes} - ${bytes}` }
    await tx.update(t).set(less).where(eq(t.owner, owner))
  },

  async totals(db: Reader, owner: OwnerScope): Promise<Bounds> {
    const t = db.of(fileOwners)
    const found = db.select({ files: t.files, bytes: t.bytes }).from(t).where(eq(t.owner, owner)).limit(1)
    return (await found)[0] ?? { files: 0, bytes: 0 }
  },

  /** Counts one more reference to a content. Returns its place, which is the existing one for known bytes. */
  async refer(tx: Tx, content: Content): Promise<string> {
    const t = tx.of(fileContents)
    const added = tx.insert(t).values({ ...content, refs: 1 })
    const known = added.onConflictDoUpdate({ target: t.sha256, set: { refs: sql`${t.refs} + 1` } })
    return (await known.returning({ place: t.place }))[0]!.place
  },

  /** Counts one reference less. Returns the place if it was the last reference, and then deletes the row. */
  async release(tx: Tx, sha256: string): Promise<string | null> {
    const t = tx.of(fileContents)
    await tx
      .update(t)
      .set({ refs: sql`${t.refs} - 1` })
      .where(eq(t.sha256, sha256))
    const gone = tx.delete(t).where(and(eq(t.sha256, sha256), eq(t.refs, 0)))
    return (await gone.returning({ place: t.place }))[0]?.place ?? null
  },

  insert: artifactRows.insert,

  /** An artifact that has not expired. Without `owner`, it may be of any owner, for operators and signed links. */
  async find(db: Reader, id: ArtifactId, { now, owner }: { now?: number; owner?: OwnerScope }) {
    const t = db.of(artifacts)
    const wanted = and(eq(t.id, id), living(t, now), owner === undefined ? undefined : eq(t.owner, owner))
    return (await db.select().from(t).where(wanted).limit(1))[0] as ArtifactRow | undefined
  },

  /** A page of artifacts of an owner, or of all (null), newest first. `mime` may be a family such as image/*. */
  list(
    db: Reader,
    owner: OwnerScope | null,
    { now, kind, mime, q, from = null, to = null, request_id, job_id, ...wanted }: Filters & { now?: number },
  ) {
    const t = db.of(artifacts)
    const family = mime?.endsWith('/*') ? mime.slice(0, -1).replace(/[\\%_]/g, '') : null
    const conditions = [
      owner === null ? undefined : eq(t.owner, owner),
      living(t, now),
      request_id ? eq(t.request_id, request_id) : undefined,
      job_id ? eq(t.job_id, job_id) : undefined,
      kind && eq(t.type, kind),
      mime === undefined ? undefined : family === null ? eq(t.mime_type, mime) : like(t.mime_type, `${family}%`),
      from === null ? undefined : gte(t.created_at, from),
      to === null ? undefined : lt(t.created_at, to),
      q === undefined ? undefined : or(contains(t.title, q), contains(t.filename, q)),
    ]
    return newestFirst(db, wanted, ...conditions) as Promise<Page<ArtifactRow>>
  },

  /** An owner's unexpired artifacts, newest first. With `ids`, only these. */
  async ofOwner(db: Reader, owner: OwnerScope, { now, ids, limit }: Listing & { now: number }): Promise<ArtifactRow[]> {
    const t = db.of(artifacts)
    const wanted = and(eq(t.owner, owner), living(t, now), ids && inArray(t.id, [...ids]))
    return db.select().from(t).where(wanted).orderBy(desc(t.created_at), desc(t.id)).limit(limit)
  },

  remove: async (tx: Tx, id: ArtifactId, owner: OwnerScope): Promise<ArtifactRow | undefined> =>
    (await artifactRows.take(tx, { id, owner }))[0],

  async placeOf(db: Reader, sha256: string): Promise<string | null> {
    const t = db.of(fileContents)
    const found = db.select({ place: t.place }).from(t).where(eq(t.sha256, sha256)).limit(1)
    return (await found)[0]?.place ?? null
  },

  /** Contents ordered by hash, after the given one. */
  async contents(db: Reader, after: string, limit: number): Promise<{ sha256: string; place: string; size: number }[]> {
    const t = db.of(fileContents)
    const some = db.select({ sha256: t.sha256, place: t.place, size: t.size_bytes }).from(t)
    return some.where(gt(t.sha256, after)).orderBy(t.sha256).limit(limit)
  },

  /** The earliest expiry of an artifact in epoch milliseconds, or null. */
  async soonest(db: Reader): Promise<number | null> {
    const t = db.of(artifacts)
    const expiring = db.select({ at: t.expires_at }).from(t).where(isNotNull(t.expires_at))
    return (await expiring.orderBy(t.expires_at).limit(1))[0]?.at ?? null
  },

  async expired(db: Reader, now: number, limit: number): Promise<Pick<ArtifactRow, 'id' | 'owner'>[]> {
    const t = db.of(artifacts)
    const over = and(isNotNull(t.expires_at), lte(t.expires_at, now))
    return db.select({ id: t.id, owner: t.owner }).from(t).where(over).orderBy(t.expires_at).limit(limit)
  },

  /** Those of the places that belong to a content. */
  async known(db: Reader, places: readonly string[]): Promise<Set<string>> {
    const t = db.of(fileContents)
    const found = await db
      .select({ place: t.place })
      .from(t)
      .where(inArray(t.place, [...places]))
    return new Set(found.map(({ place }) => place))
  },

  /** Up to 100 contents with a wrong count, and as many owners. */
  async miscounted(db: Reader) {
    const [t, c, o, u] = [db.of(artifacts), db.of(fileContents), db.of(fileOwners), db.of(uploads)]
    const having = (files: typeof t | typeof u) =>
      sql`(select count(*) from ${files} where ${files.sha256} = ${c.sha256})`
    const all = sql<number>`(${having(t)} + ${having(u)})`.mapWith(Number)
    const bytes = sql<number>`coalesce(sum(${t.size_bytes}), 0)`.mapWith(Number)
    const contents = db.select({ sha256: c.sha256, counted: c.refs, found: all }).from(c).where(ne(all, c.refs))
    const owners = db
      .select({ owner: o.owner, counted: o.bytes, found: bytes })
      .from(o)
      .leftJoin(t, eq(t.owner, o.owner))
      .groupBy(o.owner, o.bytes, o.files)
      .having(sql`coalesce(sum(${t.size_bytes}), 0) <> ${o.bytes} or count(${t.id}) <> ${o.files}`)
    const lost = [t, u].map((files) =>
      db
        .select({ id: files.id })
        .from(files)
        .leftJoin(c, eq(c.sha256, files.sha256))
        .where(isNull(c.sha256))
        .limit(100),
    )
    return {
      contents: await contents.limit(100),
      owners: await owners.limit(100),
      lost: (await Promise.all(lost)).flat(),
    }
  },
}
