import { and, asc, desc, eq, lt, sql } from 'drizzle-orm'
import type { AuditLog } from '../audit'
import type { Call, OperatorCaller, OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { notFound } from '../kernel/errors'
import { pagesBy } from '../kernel/keyset'
import { mapPage, type Page, pageFields } from '../kernel/page'
import type { Reader, Store, Tx } from '../kernel/store'
import { madeBy } from './repository'
import type {
  ArtifactPrune,
  ArtifactSizes,
  ArtifactsPruned,
  OverseenArtifact,
  OverseenArtifacts,
  OverseenArtifactsQuery,
} from './schema'
import { ArtifactId } from './schema'
import { type ArtifactRow, artifacts } from './table'

const newestFirst = pagesBy(artifacts, 'created_at')

const filesAll = sql<number>`count(*)`.mapWith(Number)

const ofOwner = (t: typeof artifacts.sqlite, owner: OwnerScope | null) =>
  owner === null ? undefined : eq(t.owner, owner)

const bytesOf = (t: typeof artifacts.sqlite) => sql<number>`coalesce(sum(${t.size_bytes}), 0)`.mapWith(Number)

/** Artifacts of one owner or, for operators only, of all (null). */
const artifactRows = {
  list(
    db: Reader,
    owner: OwnerScope | null,
    { type, request_id, job_id, ...wanted }: OverseenArtifactsQuery,
  ): Promise<Page<ArtifactRow>> {
    const t = db.of(artifacts)
    return newestFirst(db, wanted, ofOwner(t, owner), type && eq(t.type, type), madeBy(t, { request_id, job_id }))
  },

  async byId(db: Reader, id: ArtifactId): Promise<ArtifactRow | undefined> {
    const t = db.of(artifacts)
    return (await db.select().from(t).where(eq(t.id, id)).limit(1))[0] as ArtifactRow | undefined
  },

  byOwner(db: Reader, owner: OwnerScope | null, limit: number) {
    const t = db.of(artifacts)
    const bytes = bytesOf(t)
    const found = db.select({ owner: t.owner, files: filesAll, bytes }).from(t).where(ofOwner(t, owner))
    return found.groupBy(t.owner).orderBy(desc(bytes), asc(t.owner)).limit(limit)
  },

  /** `age` is how many of the bounds, newest first, a file is older than. */
  byAge(db: Reader, owner: OwnerScope | null, bounds: readonly number[]) {
    const t = db.of(artifacts)
    const older = bounds.map((bound) => sql`case when ${t.created_at} < ${bound} then 1 else 0 end`)
    const age = sql<number>`${sql.join(older, sql` + `)}`.mapWith(Number)
    const each = db
      .select({ age: age.as('age'), size: t.size_bytes })
      .from(t)
      .where(ofOwner(t, owner))
      .as('each')
    const bytes = sql<number>`coalesce(sum(${each.size}), 0)`.mapWith(Number)
    return db
      .select({ age: sql<number>`${each.age}`.mapWith(Number), files: filesAll, bytes })
      .from(each)
      .groupBy(sql`${each.age}`)
  },

  async totalBefore(db: Reader, owner: OwnerScope | null, before: number) {
    const t = db.of(artifacts)
    const found = db.select({ files: filesAll, bytes: bytesOf(t) }).from(t)
    return (await found.where(and(ofOwner(t, owner), lt(t.created_at, before))))[0]!
  },

  someBefore(db: Reader, owner: OwnerScope | null, before: number, limit: number) {
    const t = db.of(artifacts)
    const found = db.select({ id: t.id, owner: t.owner, size_bytes: t.size_bytes }).from(t)
    return found
      .where(and(ofOwner(t, owner), lt(t.created_at, before)))
      .orderBy(asc(t.created_at))
      .limit(limit)
  },
}

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  /** Whose files a word of an operator names. Throws 404. */
  ownerNamed(reader: Reader, word: string): Promise<OwnerScope>
  /** Removes one artifact, and its bytes once the commit stands, unless another artifact has the same. */
  take(tx: Tx, id: ArtifactId, owner: OwnerScope): Promise<boolean>
}

const BATCH = 100
const DAY_MS = 86_400_000
/** Upper bounds of the ages that sizes are told by, in days. */
const AGES = [1, 7, 30, 90, 365]

/** What operators see and do with the files of everyone: never a link to one, nor what it was made from (dx 2.18). */
export function createFileOperatorAccess({ store, clock, audit, ownerNamed, take }: Deps) {
  return { list, get, sizes, prune }

  /** Newest first. Throws 404 for an owner that is none. */
  async function list(query: OverseenArtifactsQuery, ownerFilter?: string): Promise<OverseenArtifacts> {
    const page = mapPage(await artifactRows.list(store.read, await scopeOf(ownerFilter), query), outline)
    return { artifacts: page.items, ...pageFields(page) }
  }

  async function get(id: string): Promise<OverseenArtifact> {
    const row = ArtifactId.is(id) ? await artifactRows.byId(store.read, id) : undefined
    if (!row) throw notFound('artifact')
    return outline(row)
  }

  /** What is kept, by owner (the largest hundred) and by age. */
  async function sizes(ownerFilter?: string): Promise<ArtifactSizes> {
    const owner = await scopeOf(ownerFilter)
    const now = clock.now()
    const bounds = AGES.map((days) => now - days * DAY_MS)
    const found = await artifactRows.byAge(store.read, owner, bounds)
    const by_age = [...AGES, null].map((days, place) => {
      const one = found.find(({ age }) => age === place)
      return { up_to_days: days, files: one?.files ?? 0, bytes: one?.bytes ?? 0 }
    })
    return { object: 'artifact_sizes', by_owner: await artifactRows.byOwner(store.read, owner, BATCH), by_age }
  }

  /** Deletes artifacts that were made before a moment, of one owner or of everyone. Throws 404 for an unknown owner. */
  async function prune(
    call: Call<OperatorCaller>,
    { before, owner: ownerFilter, count_only }: ArtifactPrune,
  ): Promise<ArtifactsPruned> {
    const owner = await scopeOf(ownerFilter)
    const until = Date.parse(before)
    if (count_only) return { object: 'artifact_prune', ...(await artifactRows.totalBefore(store.read, owner, until)) }
    for (let [files, bytes] = [0, 0]; ; ) {
      const gone = await store.write(async (tx) => {
        const some = await artifactRows.someBefore(tx, owner, until, BATCH)
        for (const one of some) if (await take(tx, one.id, one.owner)) await audit.record(tx, call, entryOf(one))
        return some
      })
      if (!gone.length) return { object: 'artifact_prune', files, bytes }
      files += gone.length
      bytes += gone.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
    }
  }

  async function scopeOf(ownerFilter?: string): Promise<OwnerScope | null> {
    return ownerFilter === undefined ? null : ownerNamed(store.read, ownerFilter)
  }
}

const outline = (row: ArtifactRow): OverseenArtifact => ({
  id: row.id,
  owner: row.owner,
  type: row.type,
  filename: row.filename,
  mime_type: row.mime_type,
  size_bytes: row.size_bytes,
  model: row.model,
  created: iso(row.created_at),
  expires_at: row.expires_at === null ? null : iso(row.expires_at),
  request_id: row.request_id,
  job_id: row.job_id,
})

const entryOf = ({ id, owner }: Pick<ArtifactRow, 'id' | 'owner'>) => ({
  action: 'artifact.deleted',
  entityType: 'artifact' as const,
  entityId: id,
  scope: owner,
  input: { metadata: { reason: 'pruned' } },
})
